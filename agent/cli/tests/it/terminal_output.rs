//! Output on a pseudo-terminal: no control sequence but those of the program.

use std::os::unix::fs::symlink;

use rexpect::session::spawn_command;

use crate::Crib;
use crate::terminal::{TIMEOUT_MS, on_terminal, rest};

#[test]
fn escape_sequences_of_a_file_do_not_reach_the_terminal() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("evil"), "a\u{1b}]0;title\u{7}b\u{9b}2Jc\r\nd\n").unwrap();
    for arguments in [&["call", "fs.read", "path=evil"][..], &["run", "fs.read path=evil"]] {
        let (shown, code) = rest(on_terminal(&crib, arguments));
        assert!(shown.contains(r"a\u{1b}]0;title\u{7}b\u{9b}2Jc"), "{shown:?}");
        assert!(!shown.contains(['\u{7}', '\u{9b}']) && !shown.contains("\u{1b}]"), "{shown:?}");
        assert_eq!(code, 0);
    }
}

#[test]
fn names_in_a_listing_do_not_reach_the_terminal_as_controls() {
    let crib = Crib::new();
    symlink("README.md", crib.root().join("\u{1b}[2Jx")).unwrap();
    for arguments in [&["call", "fs.list"][..], &["call", "fs.list", "--json"], &["call", "fs.read", "path=\u{9b}2J"]] {
        let (shown, _) = rest(on_terminal(&crib, arguments));
        assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{9b}'), "{shown:?}");
    }
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let crib = Crib::new();
    let (shown, _) = rest(on_terminal(&crib, &["list"]));
    assert!(shown.contains("\u{1b}[1m"), "{shown:?}");

    let mut command = crib.command(&["list"]);
    command.env("NO_COLOR", "1");
    let (shown, _) = rest(spawn_command(command, Some(TIMEOUT_MS)).unwrap());
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}
