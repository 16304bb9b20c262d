//! Random edits of random files, compared with a naive search token by token.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tools::Host;

use super::*;

/// A character or line ending of a file: the text shown for it, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Token {
    shown: &'static str,
    bytes: &'static [u8],
}

const fn token(shown: &'static str, bytes: &'static [u8]) -> Token {
    Token { shown, bytes }
}

const INVALID: Token = token("\u{FFFD}", b"\xE9");
const LF: Token = token("\n", b"\n");
const CRLF: Token = token("\n", b"\r\n");
const CR: Token = token("\n", b"\r");

const CHARACTERS: &[Token] = &[
    token("a", b"a"),
    token("b", b"b"),
    token("\u{E9}", b"\xC3\xA9"),
    token("\u{FFFD}", b"\xEF\xBF\xBD"),
];

/// Generates a file with the given line endings.
fn file(ends: &'static [Token]) -> impl Strategy<Value = Vec<Token>> {
    vec(
        prop_oneof![6 => select(&CHARACTERS[..2]), 2 => select(CHARACTERS), 1 => Just(INVALID), 4 => select(ends)],
        1..30,
    )
}

fn new_text() -> impl Strategy<Value = String> {
    vec(
        select(vec!["a", "b", "ab\n", "\n", "\r\n", "x", "\u{E9}"]),
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

fn bytes(tokens: &[Token]) -> Vec<u8> {
    tokens
        .iter()
        .flat_map(|token| token.bytes)
        .copied()
        .collect()
}

/// Returns the positions of `old` in a file. Each search starts `step` tokens after the last match.
fn naive(file: &[Token], old: &[Token], step: usize) -> Vec<usize> {
    let is_here = |at: usize| {
        file[at..].len() >= old.len()
            && file[at..]
                .iter()
                .zip(old)
                .all(|(here, old)| here.shown == old.shown && *here != INVALID)
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < file.len() {
        if is_here(at) {
            found.push(at);
            at += step;
        } else {
            at += 1;
        }
    }
    found
}

/// Strips a prefix. Panics if it is missing.
fn pass<'a>(rest: &'a [u8], beginning: &[u8]) -> &'a [u8] {
    rest.strip_prefix(beginning)
        .unwrap_or_else(|| panic!("{} does not begin with {beginning:?}", rest.escape_ascii()))
}

fn check(file: &[Token], span: Range<usize>, crlf: bool, new: &str, all: bool, mark: &str) {
    let content = [mark.as_bytes(), &bytes(file)].concat();
    let tokens = &file[span];
    let shown: String = tokens.iter().map(|token| token.shown).collect();
    let old = if crlf {
        shown.replace('\n', "\r\n")
    } else {
        shown.clone()
    };
    let new_shown = new.replace("\r\n", "\n");
    let found = naive(file, tokens, if all { tokens.len() } else { 1 });
    let view = View::new(&content);
    let outcome = match replace(
        &Host::new(),
        &RelativePath::default(),
        &view,
        &old,
        new,
        all,
    ) {
        Ok(outcome) => outcome,
        Err(FsError::Kept { .. }) => return assert_eq!(shown, new_shown),
        Err(FsError::NoMatch { .. } | FsError::NotUtf8 { .. }) => {
            return assert!(found.is_empty(), "{found:?}");
        }
        Err(FsError::Ambiguous { count, .. }) => {
            assert!(!all && found.len() > 1);
            return assert_eq!(count, found.len().to_string());
        }
        Err(FsError::MixedEncodings { character, .. }) => {
            return assert!(
                file.contains(&INVALID) && new.contains(character) && !old.contains(character)
            );
        }
        Err(error) => panic!("{error}"),
    };
    assert!(
        shown != new_shown && (found.len() == 1 || all && !found.is_empty()),
        "{found:?}"
    );
    // The bytes around the matches are unchanged, with the lines of `new` between them in any line ending style.
    let mut rest = pass(&outcome, mark.as_bytes());
    let mut from = 0;
    for at in found {
        rest = pass(rest, &bytes(&file[from..at]));
        from = at + tokens.len();
        for line in new_shown.split_inclusive('\n') {
            rest = pass(rest, line.trim_end_matches('\n').as_bytes());
            if line.ends_with('\n') {
                let end = [CRLF, LF, CR]
                    .into_iter()
                    .find(|end| rest.starts_with(end.bytes));
                rest = pass(rest, end.expect("a line end").bytes);
            }
        }
    }
    assert_eq!(rest, bytes(&file[from..]));
    // A file with a single line ending style keeps it.
    let styles = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let rest = text.replace("\r\n", "");
        (
            text.len() > rest.len(),
            rest.contains('\n'),
            rest.contains('\r'),
        )
    };
    let before = styles(&bytes(file));
    let after = styles(&outcome);
    if matches!(
        before,
        (true, false, false) | (false, true, false) | (false, false, true)
    ) {
        assert!(
            after == before || after == (false, false, false),
            "{before:?} {after:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn an_edit_changes_its_span_alone_and_keeps_the_style_of_the_file(
        file in prop_oneof![file(&[LF]), file(&[CRLF]), file(&[CR]), file(&[LF, CRLF])],
        (start, length) in (0_usize..30, 1_usize..8),
        new in new_text(),
        (crlf, all) in any::<(bool, bool)>(),
        mark in select(vec!["", "\u{FEFF}"]),
    ) {
        let start = start % file.len();
        let span = start..file.len().min(start + length);
        check(&file, span, crlf, &new, all, mark);
    }
}
