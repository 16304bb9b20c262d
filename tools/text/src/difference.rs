//! [`unified_diff`]: the difference of two texts.

use std::time::Duration;

use memchr::{memchr_iter, memrchr_iter};
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, TextDiff};

/// The maximum size of the part of a text that is compared line by line, in bytes.
const MAX_COMPARED: usize = 64 * 1024 * 1024;

/// The number of unchanged lines compared on both sides of the changes. They decide where a diff shows that a line was repeated.
const MARGIN: usize = 64;

/// The number of bytes that are compared at once.
const BLOCK: usize = 4096;

/// The time limit for finding the shortest difference. After that, a longer one is used.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Returns a unified diff of two texts, each with its name, with three lines of context. Returns an empty text if they are equal.
pub fn unified_diff(old: (&str, &str), new: (&str, &str)) -> String {
    within(MAX_TIME, old, new)
}

/// Compares only the lines between the first and the last change, and some around them.
fn within(
    time: Duration,
    (old_name, before): (&str, &str),
    (new_name, after): (&str, &str),
) -> String {
    let (start, rest) = unchanged(before.as_bytes(), after.as_bytes());
    let [old, new] = [before, after].map(|text| &text[start..text.len() - rest]);
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    let size = old.len().max(new.len());
    if size > MAX_COMPARED {
        text += &format!(
            "[… the changes are spread over {size} bytes, too many for a diff; read the file to see them …]\n"
        );
        return text;
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(time)
        .diff_lines(old, new);
    let lines = lines(&before.as_bytes()[..start]);
    let mut hunks = diff
        .unified_diff()
        .context_radius(3)
        .iter_hunks()
        .peekable();
    if hunks.peek().is_none() {
        return String::new();
    }
    for hunk in hunks {
        let (Some(first), Some(last)) = (hunk.ops().first(), hunk.ops().last()) else {
            continue;
        };
        let (old, new) = (first.old_range().start, first.new_range().start);
        let range = DiffOp::Replace {
            old_index: lines + old,
            old_len: last.old_range().end - old,
            new_index: lines + new,
            new_len: last.new_range().end - new,
        };
        // The header of the hunk counts from the first line that was compared.
        let hunk = hunk.to_string();
        let body = hunk.split_once('\n').map_or("", |(_, body)| body);
        text += &format!("{}\n{body}", UnifiedHunkHeader::new(&[range]));
    }
    text
}

/// Returns the sizes of the parts at the start and at the end of two texts that are the same, without [`MARGIN`] lines next to the changes.
fn unchanged(before: &[u8], after: &[u8]) -> (usize, usize) {
    let blocks = before.chunks(BLOCK).zip(after.chunks(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let same = same.min(before.len()).min(after.len());
    let bytes = before[same..].iter().zip(&after[same..]);
    let start = same + bytes.take_while(|(one, other)| one == other).count();
    let [old, new] = [&before[start..], &after[start..]];
    let blocks = old.rchunks(BLOCK).zip(new.rchunks(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let same = same.min(old.len()).min(new.len());
    let bytes = old[..old.len() - same].iter().rev();
    let bytes = bytes.zip(new[..new.len() - same].iter().rev());
    let rest = same + bytes.take_while(|(one, other)| one == other).count();
    let margin = memrchr_iter(b'\n', &before[..start]).nth(MARGIN);
    let start = margin.map_or(0, |end| end + 1);
    let end = before.len() - rest;
    let margin = memchr_iter(b'\n', &before[end..]).nth(MARGIN);
    (start, margin.map_or(0, |margin| rest - margin - 1))
}

/// Returns the number of lines of a text, as a diff counts them: CR alone ends a line too.
fn lines(text: &[u8]) -> usize {
    let returns = memchr_iter(b'\r', text);
    let alone = returns.filter(|at| text.get(at + 1) != Some(&b'\n'));
    memchr_iter(b'\n', text).count() + alone.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_a_long_text_has_its_line_number() {
        let text = |line: &str| {
            let lines = "x\n".repeat(99_999);
            format!("{lines}{line}y\n{lines}")
        };
        let diff = unified_diff((".", &text("a\r\nb\rc\n")), (".", &text("a\r\nb\rd\n")));
        let hunk = "@@ -99999,7 +99999,7 @@\n x\n a\r\n b\r-c\n+d\n y\n x\n x\n";
        assert_eq!(diff, format!("--- .\n+++ .\n{hunk}"));
        let diff = unified_diff((".", &text("")), (".", &text("a\n")));
        assert!(diff.contains("@@ -99997,6 +99997,7 @@"), "{diff}");
    }

    #[test]
    fn the_diff_of_a_part_is_that_of_the_whole() {
        let lines = |from: usize, to: usize| {
            (from..to)
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        for (before, after) in [
            (lines(0, 1000), lines(0, 999)),
            (lines(0, 1000), lines(1, 1000)),
            (lines(0, 1000), lines(0, 500) + "x\n" + &lines(500, 1000)),
            (lines(0, 500) + &lines(600, 1000), lines(0, 1000) + "x"),
            (lines(0, 1000), String::new()),
            (lines(0, 5), lines(0, 5)),
        ] {
            let whole = TextDiff::from_lines(&before, &after)
                .unified_diff()
                .header(".", ".")
                .to_string();
            assert_eq!(unified_diff((".", &before), (".", &after)), whole);
        }
    }

    #[test]
    fn a_missing_line_end_is_shown() {
        let diff = unified_diff(("a", "a\n"), ("b", "a"));
        assert!(
            diff.starts_with("--- a\n+++ b\n") && diff.contains("\\ No newline at end of file"),
            "{diff}"
        );
        assert_eq!(unified_diff(("a", "a\n"), ("b", "a\n")), "");
    }

    #[test]
    fn without_time_a_longer_diff_will_do() {
        let lines = |factor: u64| {
            (0..100)
                .map(|at| format!("{}\n", at * factor % 101))
                .collect::<String>()
        };
        let changed = |time| {
            let diff = within(time, ("a", &lines(7)), ("a", &lines(13)));
            diff.lines()
                .filter(|line| line.starts_with(['+', '-']))
                .count()
        };
        assert!(changed(Duration::ZERO) > changed(Duration::MAX));
    }
}
