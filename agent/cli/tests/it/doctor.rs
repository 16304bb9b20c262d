use crate::Crib;

#[test]
fn the_program_as_it_is_built_has_no_problems() {
    let ended = Crib::new().run(&["doctor"]).expect(0);
    assert!(ended.stdout.starts_with("ok: ") && ended.stderr.is_empty(), "{ended:#?}");
    assert!(Crib::new().run(&["doctor", "--json"]).expect(0).documents().is_empty());
}

#[test]
fn a_finding_decides_the_exit() {
    let crib = Crib::new();
    let ended = crib.run(&["doctor", "--root", "missing"]).expect(8);
    assert!(ended.stdout.contains("missing") && ended.stdout.contains("--root"), "{ended:#?}");
    let findings = crib.run(&["doctor", "--root", "missing", "--json"]).expect(8).documents();
    assert_eq!(findings[0]["check"], "root");
}
