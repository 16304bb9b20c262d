use super::{folder, ids, listed};
use crate::Crib;

#[test]
fn an_erased_session_is_gone_and_the_others_verify() {
    let crib = Crib::new();
    for prompt in ["time.now", "fs.list", "fs.read path=README.md"] {
        crib.run(&["run", prompt]).expect(0);
    }
    let [newest, middle, oldest] = &ids(&crib)[..] else { panic!() };
    // One wrong ID, and nothing is erased.
    crib.run(&["sessions", "erase", middle, "uuu"]).expect(2);
    assert_eq!(listed(&crib).len(), 3);
    crib.run(&["sessions", "erase", middle, middle]).expect(0);
    assert_eq!(ids(&crib), [newest.clone(), oldest.clone()]);
    for id in [newest, oldest] {
        crib.run(&["audit", "verify", id]).expect(0);
    }
    let left = std::fs::read_dir(folder(&crib)).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(middle)));
    crib.run(&["run", "--resume", middle]).expect(2);
}

#[test]
fn a_session_erased_in_a_file_of_several_leaves_the_chain() {
    let crib = Crib::new();
    let file = crib.dir.path().join("all.journal").to_str().unwrap().to_owned();
    for name in ["one", "two-canary", "three"] {
        crib.run(&["run", "time.now", "--journal", &file, "--session", name]).expect(0);
    }
    let head = crib.run(&["audit", "verify", &file]).expect(0).stdout.trim_end().to_owned();
    crib.run(&["sessions", "erase", "two-canary", "--journal", &file]).expect(0);
    let document = crib.run(&["audit", "verify", &file, "--head", &head, "--json"]).expect(0).document();
    assert_eq!((&document["count"], &document["erased"], &document["head"]), (&6.into(), &2.into(), &head.into()));
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(10).any(|window| window == b"two-canary"));
    let shown = crib.run(&["audit", "show", &file]).expect(0).stdout;
    assert_eq!(shown.matches("erased").count(), 2, "{shown}");
    crib.run(&["run", "--resume", "--journal", &file, "--session", "two-canary"]).expect(2);
    assert!(crib.run(&["run", "--resume", "--journal", &file, "--session", "three"]).expect(0).stdout.contains('T'));
    crib.run(&["sessions", "erase", "two-canary", "--journal", &file]).expect(2);
    crib.run(&["sessions", "erase", "x", "--journal", "missing.journal"]).expect(2);
    assert!(!crib.root().join("missing.journal").exists());
}
