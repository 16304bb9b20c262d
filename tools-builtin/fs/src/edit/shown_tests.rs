//! Random edits of random files: the diff shows each line that changed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::fixture::Fixture;

/// The line endings and the characters that look like some.
const ENDS: [&str; 8] = [
    "\n", "\r\n", "\r", "\n\n", "\x0C", "\u{2028}", "\u{85}", "\x0B",
];

/// Returns the lines as a diff counts them, which takes CR alone as an end. That of CR LF leaves an LF behind.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive(['\n', '\r']).collect()
}

/// Returns the lines that a diff shows with this sign, without line endings. It takes CR alone as one.
fn shown(diff: &str, sign: char) -> Vec<String> {
    let body = diff
        .split("@@")
        .nth(2)
        .map_or("", |_| &diff[diff.find("\n@@").unwrap() + 1..]);
    let signed = body
        .split(['\n', '\r'])
        .filter_map(|line| line.strip_prefix(sign));
    signed.map(str::to_owned).collect()
}

fn check(file: &str, old: &str, new: &str, all: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let fixture = Fixture::with_files(&[("a", file)]);
    let edit = json!({"path": "a", "old": old, "new": new, "all": all});
    let Ok(diff) = runtime.block_on(fixture.call("fs.edit", edit)) else {
        return assert_eq!(fixture.read("a"), file);
    };
    let diff = diff.to_text();
    let after = fixture.read("a");
    assert_ne!(after, file);
    // Lines that are equal at both ends need not be shown, nor those between two replaced places. The bytes of each other line must be.
    let before = lines(file);
    let after = lines(&after);
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(before, after)| before == after)
        .count();
    let rest = before.len().min(after.len()) - same;
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let [removed, added] = ['-', '+'].map(|sign| shown(&diff, sign));
    let context = shown(&diff, ' ');
    let count = |lines: &[&str], line: &str| lines.iter().filter(|other| **other == line).count();
    let is_between = |line: &str| all && count(&before, line) == count(&after, line);
    for (lines, sign) in [(&before, &removed), (&after, &added)] {
        let changed = lines[same..lines.len() - tail].iter();
        for line in changed.filter(|line| **line != "\u{FEFF}" && !is_between(line)) {
            let part = line
                .trim_end_matches(['\n', '\r'])
                .trim_start_matches('\u{FEFF}')
                .to_owned();
            let is_rest = part.is_empty() && (file.contains('\r') || new.contains('\r'));
            assert!(
                is_rest || sign.contains(&part) || context.contains(&part),
                "{part:?} of {line:?}\n{diff}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_line_changes_that_the_diff_does_not_show(
        mark in select(vec!["", "\u{FEFF}"]),
        parts in vec((select(vec!["a", "b", "cc", "", "é"]), select(ENDS.to_vec())), 1..12),
        last in select(vec!["", "a", "z"]),
        (start, length) in (0_usize..12, 1_usize..5),
        (kept, new) in (0_usize..3, select(vec!["", "x", "x\n", "x\ny\n", "\r\nx", "a\nb"])),
        (crlf, all) in any::<(bool, bool)>(),
    ) {
        let text: Vec<String> = parts.iter().map(|(text, end)| format!("{text}{end}")).collect();
        let file = format!("{mark}{}{last}", text.concat());
        let span = &text[start % text.len()..text.len().min(start % text.len() + length)];
        let old = span.concat();
        let new = span[..kept.min(span.len())].concat() + new;
        let [old, new] = [old, new].map(|text| if crlf { text } else { text.replace("\r\n", "\n") });
        prop_assume!(!old.is_empty());
        check(&file, &old, &new, all);
    }
}
