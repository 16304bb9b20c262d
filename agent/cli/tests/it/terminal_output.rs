//! Output on a pseudo-terminal: no control sequence but those of the program.

use std::os::unix::fs::symlink;

use rexpect::session::spawn_command;

use crate::Crib;
use crate::terminal::{TIMEOUT_MS, on_terminal, rest};

#[test]
fn escape_sequences_of_a_file_do_not_reach_the_terminal() {
    let crib = Crib::new();
    std::fs::write(
        crib.root().join("evil"),
        "a\u{1b}]0;title\u{7}b\u{9b}2Jc\r\nd\n",
    )
    .unwrap();
    for arguments in [
        &["call", "fs.read", "path=evil"][..],
        &["run", "fs.read path=evil"],
    ] {
        let (shown, code) = rest(on_terminal(&crib, arguments));
        assert!(
            shown.contains(r"a\u{1b}]0;title\u{7}b\u{9b}2Jc"),
            "{shown:?}"
        );
        assert!(
            !shown.contains(['\u{7}', '\u{9b}']) && !shown.contains("\u{1b}]"),
            "{shown:?}"
        );
        assert_eq!(code, 0);
    }
}

#[test]
fn text_that_hides_or_turns_around_does_not_reach_the_terminal() {
    let crib = Crib::new();
    let text = "a\u{202e}b\u{200b}c\u{2066}d\u{e0041}e\u{feff}f\u{a0}g";
    std::fs::write(crib.root().join("evil"), text).unwrap();
    for arguments in [
        &["call", "fs.read", "path=evil"][..],
        &["call", "fs.read", "path=evil", "--json"],
        &["run", "fs.read path=evil"],
    ] {
        let (shown, code) = rest(on_terminal(&crib, arguments));
        // Each byte is read as a character.
        let shown =
            String::from_utf8_lossy(&shown.chars().map(|c| c as u32 as u8).collect::<Vec<_>>())
                .into_owned();
        assert!(
            !shown.contains([
                '\u{202e}',
                '\u{200b}',
                '\u{2066}',
                '\u{e0041}',
                '\u{feff}',
                '\u{a0}'
            ]),
            "{shown:?}"
        );
        assert!(
            shown.contains("202e") && shown.contains("200b"),
            "{shown:?}"
        );
        assert_eq!(code, 0);
    }
    // A program that reads the output gets the text as it is.
    assert!(
        crib.run(&["call", "fs.read", "path=evil"])
            .expect(0)
            .stdout
            .contains(text)
    );
}

#[test]
fn names_in_a_listing_do_not_reach_the_terminal_as_controls() {
    let crib = Crib::new();
    symlink("README.md", crib.root().join("\u{1b}[2Jx")).unwrap();
    for arguments in [
        &["call", "fs.list"][..],
        &["call", "fs.list", "--json"],
        &["call", "fs.read", "path=\u{9b}2J"],
    ] {
        let (shown, _) = rest(on_terminal(&crib, arguments));
        assert!(
            !shown.contains("\u{1b}[2J") && !shown.contains('\u{9b}'),
            "{shown:?}"
        );
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
