use crate::Crib;

#[test]
fn a_program_without_journals_says_how_to_get_one() {
    let crib = Crib::new();
    for arguments in [
        &["run", "time.now", "--journal", "calls.journal"][..],
        &["run", "--resume"],
    ] {
        let ended = crib.run(arguments).expect(2);
        assert!(ended.stderr.contains("default features"), "{ended:#?}");
    }
    assert!(!crib.root().join("calls.journal").exists());
    crib.run(&["sessions"]).expect(2);
    crib.run(&["audit", "verify", "x"]).expect(2);
    crib.run(&["audit", "ceiling"]).expect(0);
    let ended = crib
        .run(&["run", "time.now", "--provider", "direct"])
        .expect(0);
    // The time of the first session around a project is no record of calls.
    let state = crib.dir.path().join("state/toolcrib");
    assert!(
        !ended.stderr.contains("warning") && !state.join("sessions").exists(),
        "{ended:#?}"
    );
}
