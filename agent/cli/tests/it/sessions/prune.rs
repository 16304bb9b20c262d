use std::time::{Duration, SystemTime};

use super::{folder, ids};
use crate::Crib;
use crate::config::write_user;

/// Sets the last change of all files of sessions to 40 days ago.
pub(super) fn make_old(crib: &Crib) {
    for file in std::fs::read_dir(folder(crib)).unwrap() {
        let file = std::fs::File::options()
            .write(true)
            .open(file.unwrap().path())
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60))
            .unwrap();
    }
}

#[test]
fn a_new_session_removes_old_ones_but_not_the_newest_ten() {
    let crib = Crib::new();
    for _ in 0..12 {
        crib.run(&["run", "time.now"]).expect(0);
    }
    let before = ids(&crib);
    assert_eq!(before.len(), 12, "young sessions are kept");
    make_old(&crib);
    crib.run(&["run", "fs.list"]).expect(0);
    let after = ids(&crib);
    assert_eq!(after[1..], before[..10]);

    make_old(&crib);
    let ended = crib.run(&["sessions", "prune"]).expect(0);
    assert!(ended.stderr.contains("removed 1 session"), "{ended:#?}");
    assert_eq!(ids(&crib), after[..10]);
}

#[test]
fn the_oldest_sessions_are_removed_when_all_are_too_large() {
    let crib = Crib::new();
    for _ in 0..11 {
        crib.run(&["run", "time.now"]).expect(0);
    }
    let before = ids(&crib);
    // The file is sparse and takes no space.
    let largest = folder(&crib).join(format!("{}.journal", before[0]));
    std::fs::File::options()
        .write(true)
        .open(largest)
        .unwrap()
        .set_len(1_100_000_000)
        .unwrap();
    crib.run(&["sessions", "prune"]).expect(0);
    assert_eq!(ids(&crib), before[..10]);
}

#[test]
fn the_settings_say_which_sessions_are_kept() {
    let crib = Crib::new();
    for _ in 0..12 {
        crib.run(&["run", "time.now"]).expect(0);
    }
    let before = ids(&crib);
    make_old(&crib);
    write_user(&crib, "[sessions]\nmax_age = '50d'");
    crib.run(&["sessions", "prune"]).expect(0);
    assert_eq!(ids(&crib), before, "40 days are not too old");

    write_user(&crib, "[sessions]\nmax_age = '20d'");
    crib.run(&["run", "time.now"]).expect(0);
    let after = ids(&crib);
    assert_eq!(
        after[1..],
        before[..10],
        "a new session prunes too, and stays"
    );
}
