use super::{folder, ids, listed};
use crate::Crib;

#[test]
fn an_erased_session_is_gone_and_the_others_verify() {
    let crib = Crib::new();
    for prompt in ["time.now", "fs.list", "fs.read path=README.md"] {
        crib.run(&["run", prompt]).expect(0);
    }
    let [newest, middle, oldest] = &ids(&crib)[..] else {
        panic!()
    };
    // One wrong ID, and nothing is erased.
    crib.run(&["sessions", "erase", middle, "uuu"]).expect(2);
    assert_eq!(listed(&crib).len(), 3);
    crib.run(&["sessions", "erase", middle, middle]).expect(0);
    assert_eq!(ids(&crib), [newest.clone(), oldest.clone()]);
    for id in [newest, oldest] {
        crib.run(&["audit", "verify", id]).expect(0);
    }
    let left = std::fs::read_dir(folder(&crib))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(middle)));
    crib.run(&["run", "--resume", middle]).expect(2);
}

#[test]
fn an_erased_session_names_the_prompts_that_are_left() {
    let crib = Crib::new();
    crib.run(&["run", "time.now"]).expect(0);
    let ended = crib.run(&["sessions", "erase", &ids(&crib)[0]]).expect(0);
    assert!(!ended.stderr.contains("history"), "{ended:#?}");
    let history = folder(&crib).with_file_name("history");
    std::fs::write(&history, "time.now\n").unwrap();
    let file = ["--journal", "../one.journal"];
    crib.run(&["run", "time.now"]).expect(0);
    crib.run(&[&["run", "time.now", "--session", "s"][..], &file].concat())
        .expect(0);
    for arguments in [&[&*ids(&crib)[0]][..], &[&["s"][..], &file].concat()] {
        let ended = crib
            .run(&[&["sessions", "erase"], arguments].concat())
            .expect(0);
        assert!(
            ended.stderr.contains(history.to_str().unwrap()),
            "{ended:#?}"
        );
    }
}

#[test]
fn an_erasure_is_repeated_and_goes_on_after_a_name_that_is_unknown() {
    let crib = Crib::new();
    let file = crib
        .dir
        .path()
        .join("all.journal")
        .to_str()
        .unwrap()
        .to_owned();
    for name in ["one", "two"] {
        crib.run(&["run", "time.now", "--journal", &file, "--session", name])
            .expect(0);
    }
    let erase =
        |names: &[&str]| crib.run(&[&["sessions", "erase", "--journal", &file], names].concat());
    let ended = erase(&["typo", "two"]).expect(2);
    assert!(
        ended.stderr.contains("typo") && ended.stderr.contains("erased the session two"),
        "{ended:#?}"
    );
    let ended = erase(&["two", "one"]).expect(0);
    assert!(
        ended.stderr.contains("was erased before")
            && ended.stderr.contains("erased the session one"),
        "{ended:#?}"
    );
}

#[test]
fn an_unknown_name_is_reported_with_the_known_ones_and_erases_nothing() {
    let crib = Crib::new();
    let file = crib
        .dir
        .path()
        .join("all.journal")
        .to_str()
        .unwrap()
        .to_owned();
    for name in ["monday", "omega"] {
        crib.run(&["run", "time.now", "--journal", &file, "--session", name])
            .expect(0);
    }
    crib.run(&["run", "time.now"]).expect(0);
    std::fs::write(folder(&crib).with_file_name("history"), "time.now\n").unwrap();
    let ended = crib
        .run(&["sessions", "erase", "monx", "--journal", &file])
        .expect(2);
    assert!(
        ended.stderr.contains("\"monx\"") && ended.stderr.contains("\"monday\", \"omega\""),
        "{ended:#?}"
    );
    assert!(
        !ended.stderr.contains("history") && !ended.stderr.contains("--resume"),
        "{ended:#?}"
    );
}

#[test]
fn a_session_erased_in_a_file_of_several_leaves_the_chain() {
    let crib = Crib::new();
    let file = crib
        .dir
        .path()
        .join("all.journal")
        .to_str()
        .unwrap()
        .to_owned();
    for name in ["one", "two-canary", "three"] {
        crib.run(&["run", "time.now", "--journal", &file, "--session", name])
            .expect(0);
    }
    let head = crib
        .run(&["audit", "verify", &file])
        .expect(0)
        .stdout
        .trim_end()
        .to_owned();
    crib.run(&["sessions", "erase", "two-canary", "--journal", &file])
        .expect(0);
    let document = crib
        .run(&["audit", "verify", &file, "--head", &head, "--json"])
        .expect(0)
        .document();
    assert_eq!(
        (&document["count"], &document["erased"], &document["head"]),
        (&6.into(), &2.into(), &head.into())
    );
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(10).any(|window| window == b"two-canary"));
    let shown = crib.run(&["audit", "show", &file]).expect(0).stdout;
    assert_eq!(shown.matches("erased").count(), 2, "{shown}");
    crib.run(&[
        "run",
        "--resume",
        "--journal",
        &file,
        "--session",
        "two-canary",
    ])
    .expect(2);
    assert!(
        crib.run(&["run", "--resume", "--journal", &file, "--session", "three"])
            .expect(0)
            .stdout
            .contains('T')
    );
    crib.run(&["sessions", "erase", "x", "--journal", "missing.journal"])
        .expect(2);
    assert!(!crib.root().join("missing.journal").exists());
}
