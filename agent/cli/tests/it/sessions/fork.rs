use super::{folder, ids, interrupted, is_unchanged, listed, whole};
use crate::Crib;

#[test]
fn a_fork_goes_on_from_there_and_leaves_its_original() {
    let crib = Crib::new();
    interrupted(&crib);
    let original = ids(&crib).remove(0);
    let journal = folder(&crib).join(format!("{original}.journal"));
    let before = std::fs::read(&journal).unwrap();
    let fork = crib
        .run(&["sessions", "fork"])
        .expect(0)
        .stdout
        .trim_end()
        .to_owned();
    assert_eq!(ids(&crib), [fork.clone(), original.clone()]);
    let files = std::fs::read_dir(folder(&crib)).unwrap().count();
    assert_eq!(files, 4, "a journal and a lock of each");

    let ended = crib
        .run(&["run", "--resume", "--script", &whole(&crib)])
        .expect(0);
    assert!(
        ended.stdout == "Written.\n" && ended.stderr.contains(&fork),
        "{ended:#?}"
    );
    is_unchanged(&crib);
    assert_eq!(std::fs::read(&journal).unwrap(), before);
    let states: Vec<_> = listed(&crib)
        .iter()
        .map(|session| session["state"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["finished", "interrupted"]);
    crib.run(&["audit", "verify", &fork]).expect(0);
    crib.run(&["run", "--resume", &original, "--script", &whole(&crib)])
        .expect(0);
    is_unchanged(&crib);
}

#[test]
fn a_fork_has_the_grant_and_the_workspace_of_its_original() {
    let crib = Crib::new();
    let call =
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "1"}}]}"#;
    let script = crib.script(&[
        r#"{"calls": [{"name": "time.now"}]}"#,
        call,
        r#"{"text": "Tried."}"#,
    ]);
    crib.run(&["run", "go", "--script", &script, "--max-steps", "1"])
        .expect(7);
    let fork = crib
        .run(&["sessions", "fork", &ids(&crib)[0]])
        .expect(0)
        .stdout;
    crib.run(&["run", "--resume", fork.trim_end(), "--root", "sub"])
        .expect(2);
    crib.run(&[
        "run",
        "--resume",
        fork.trim_end(),
        "--script",
        &script,
        "--grant",
        "fs:write:**",
    ])
    .expect(0);
    assert!(!crib.root().join("b.txt").exists());
    crib.run(&["sessions", "fork", "uuu"]).expect(2);
    assert_eq!(listed(&crib).len(), 2);
}
