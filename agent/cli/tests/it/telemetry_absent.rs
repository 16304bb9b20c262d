//! A program without the export of traces.

use crate::Crib;

#[test]
fn a_program_that_exports_no_traces_says_how_to_get_one_that_does() {
    let crib = Crib::new();
    let mut command = crib.command(&["call", "time.now"]);
    let ended: crate::Ended = command
        .env("TOOLCRIB_TELEMETRY_ENDPOINT", "http://127.0.0.1:1")
        .output()
        .unwrap()
        .into();
    let ended = ended.expect(0);
    assert!(ended.stderr.contains("default features"), "{ended:#?}");
    crib.run(&["call", "time.now"]).expect(0);
}
