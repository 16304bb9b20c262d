use rexpect::session::PtySession;

use super::prune::make_old;
use super::{ids, listed};
use crate::Crib;
use crate::chat_terminal::READS;
use crate::terminal::{on_terminal, rest, say};

/// Starts a chat on a terminal and waits until its first prompt is answered.
fn open_chat(crib: &Crib) -> PtySession {
    let mut chat = on_terminal(crib, &["chat", "--provider", "direct"]);
    chat.exp_string(READS).unwrap();
    say(&mut chat, "time.now", &["summary"]);
    chat.exp_string(READS).unwrap();
    chat
}

#[test]
fn an_open_session_is_neither_resumed_nor_erased_nor_forked() {
    let crib = Crib::new();
    let mut chat = open_chat(&crib);
    let id = ids(&crib).remove(0);
    assert_eq!(listed(&crib)[0]["state"], "open");
    for arguments in [
        &["run", "--resume"][..],
        &["chat", "--resume", &id],
        &["sessions", "erase", &id],
        &["sessions", "fork", &id],
    ] {
        let ended = crib.run(arguments).expect(2);
        assert!(
            ended.stderr.contains("in use by another process"),
            "{ended:#?}"
        );
    }
    // The chat does not notice.
    say(&mut chat, "fs.list", &["README.md", READS]);
    chat.send_control('d').unwrap();
    assert_eq!(rest(chat).1, 0);
    assert_eq!(listed(&crib)[0]["state"], "finished");
    crib.run(&["sessions", "erase", &id]).expect(0);
}

#[test]
fn an_open_session_is_not_pruned() {
    let crib = Crib::new();
    let chat = open_chat(&crib);
    let id = ids(&crib).remove(0);
    for _ in 0..11 {
        crib.run(&["run", "time.now"]).expect(0);
    }
    make_old(&crib);
    crib.run(&["sessions", "prune"]).expect(0);
    let left = ids(&crib);
    assert!(left.len() == 11 && left.contains(&id), "{left:?}");
    drop(chat);
}

#[test]
fn a_killed_session_is_resumed_and_does_nothing_twice() {
    let crib = Crib::new();
    let script = crate::journal::counting(&crib, 60);
    let session = [
        "--script",
        &script,
        "--grant",
        "fs:write:**",
        "--max-steps",
        "100",
    ];
    for (goal, first) in [(5, &["run", "go"][..]), (20, &["run", "--resume"])] {
        crate::journal::kill_at(&crib, &[first, &session].concat(), goal);
        assert_eq!(listed(&crib)[0]["state"], "interrupted");
        crib.run(&["audit", "verify", &ids(&crib)[0]]).expect(0);
    }
    crib.run(&[&["run", "--resume"][..], &session].concat())
        .expect(0);
    let counted = crate::journal::counted(&crib);
    assert!(
        counted.windows(2).all(|pair| pair[0] < pair[1]),
        "{counted:?}"
    );
    // The effect of a call interrupted by a kill is unknown, so it is not repeated.
    assert!(counted.len() >= 58, "{counted:?}");
    assert_eq!(
        (listed(&crib).len(), &listed(&crib)[0]["state"]),
        (1, &"finished".into())
    );
}
