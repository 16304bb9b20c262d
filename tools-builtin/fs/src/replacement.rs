//! Text replacement that preserves line endings and bytes that are not UTF-8.

use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use memchr::{memchr_iter, memmem};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use tools::ToolContext;

use crate::error::FsError;
use crate::nearest::nearest;
use crate::path::RelativePath;
use crate::text_style::LineEnding;
use crate::view::View;

/// The maximum size of a file of UTF-8 before and after an edit, in bytes.
pub(crate) const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// The maximum number of occurrences counted.
const MAX_COUNTED: usize = 1000;

/// The maximum number of line numbers in a message.
const MAX_LINES_NAMED: usize = 8;

/// The time limit for finding the lines that `old` and `new` share. The others are rewritten.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Returns the bytes of a file with one occurrence of `old`, or all, replaced by `new`.
///
/// Keeps the bytes around the occurrences and the lines that `old` and `new` share. Other lines get the line ending of the file.
pub(crate) fn replace(
    cx: &ToolContext,
    path: &RelativePath,
    view: &View<'_>,
    old: &str,
    new: &str,
    all: bool,
) -> Result<Vec<u8>, FsError> {
    let line_end = view
        .line_end
        .or_else(|| LineEnding::detect(new.as_bytes()))
        .unwrap_or(LineEnding::Lf);
    let old = view.argument(old);
    let new = view.argument(new);
    if old.is_empty() || old == new {
        return Err(FsError::Kept { path: path.clone() });
    }
    let mut found = occurrences(view, &old, old.len()).peekable();
    if found.peek().is_none() {
        return Err(missing(cx, path, view, &old)?);
    }
    if !all {
        // Overlapping occurrences count: `aa` occurs twice in `aaa`. One occurrence above the limit shows that there are more.
        let step = old.chars().next().map_or(1, char::len_utf8);
        let starts: Vec<_> = occurrences(view, &old, step)
            .take(MAX_COUNTED + 1)
            .collect();
        let count = match starts.len() {
            count if count > MAX_COUNTED => format!("more than {MAX_COUNTED}"),
            count => count.to_string(),
        };
        if starts.len() > 1 {
            return Err(FsError::Ambiguous {
                path: path.clone(),
                count,
                lines: lines(&view.text, starts),
            });
        }
    }
    // The other bytes may be text in another encoding, in which a new character of UTF-8 would be wrong.
    if !view.is_utf8() {
        let known: HashSet<_> = old.chars().collect();
        let mut characters = new.chars();
        if let Some(character) = characters.find(|new| !new.is_ascii() && !known.contains(new)) {
            return Err(FsError::MixedEncodings {
                path: path.clone(),
                character,
            });
        }
    }
    let pieces = pieces(&old, &new, line_end);
    let mut bytes = Vec::with_capacity(view.bytes.len());
    let mut at = 0;
    for (number, start) in found.enumerate() {
        if number % 1024 == 0 {
            cx.check_cancelled()?;
        }
        bytes.extend_from_slice(&view.bytes[at..view.offset(start)]);
        for piece in &pieces {
            match piece {
                Piece::Kept(range) => {
                    let from = view.offset(start + range.start);
                    let to = view.offset(start + range.end);
                    bytes.extend_from_slice(&view.bytes[from..to]);
                }
                Piece::New(text) => bytes.extend_from_slice(text.as_bytes()),
            }
        }
        at = view.offset(start + old.len());
        // Checked in the loop: the result could exceed the memory.
        check_size(path, bytes.len())?;
    }
    bytes.extend_from_slice(&view.bytes[at..]);
    check_size(path, bytes.len())?;
    Ok(bytes)
}

fn check_size(path: &RelativePath, size: usize) -> Result<(), FsError> {
    if size as u64 > MAX_FILE {
        Err(FsError::TooLarge {
            path: path.clone(),
            limit: MAX_FILE,
        })
    } else {
        Ok(())
    }
}

/// Returns the offsets at which a text occurs in a view. Each search starts `step` bytes after the last occurrence.
fn occurrences<'a>(
    view: &'a View<'_>,
    old: &'a str,
    step: usize,
) -> impl Iterator<Item = usize> + use<'a> {
    let mut from = 0;
    let mut replaced = view.replaced_bytes().peekable();
    let finder = memmem::Finder::new(old);
    std::iter::from_fn(move || {
        loop {
            let start = from + finder.find(&view.text.as_bytes()[from..])?;
            // Replacement characters of the view are not in the file, so a match with one of them does not count.
            while replaced.next_if(|end| *end <= start).is_some() {}
            let mut inside = replaced.clone();
            let mut last = None;
            while let Some(end) = inside.next_if(|end| *end <= start + old.len()) {
                last = Some(end);
            }
            // Continue after the last one inside the match.
            from = last.unwrap_or(start + step);
            if last.is_none() {
                return Some(start);
            }
        }
    })
}

/// Returns the error for a text that does not occur.
fn missing(
    cx: &ToolContext,
    path: &RelativePath,
    view: &View<'_>,
    old: &str,
) -> Result<FsError, FsError> {
    if !old.is_ascii() && !view.is_utf8() {
        return Ok(FsError::NotUtf8 {
            path: path.clone(),
            lines: lines(&view.text, view.replaced_bytes()),
        });
    }
    let mut near = nearest(cx, &view.text, old)?;
    let bare = old.trim_matches('\n');
    // The shown lines would look like `old`.
    if bare.len() < old.len() && !bare.is_empty() {
        let places = lines(&view.text, occurrences(view, bare, bare.len()));
        if !places.is_empty() {
            near = format!(
                "without the line breaks at its start and end it does, in lines {places}, so leave out those that the file does not \
                 have there; {near}"
            );
        }
    }
    Ok(FsError::NoMatch {
        path: path.clone(),
        near,
    })
}

/// A part of the replacement.
enum Piece {
    /// Lines copied from the file, as a range of `old`.
    Kept(Range<usize>),
    /// New text.
    New(String),
}

/// Splits `new` into lines that `old` has too, which keep their line endings in the file, and new text.
fn pieces(old: &str, new: &str, line_end: LineEnding) -> Vec<Piece> {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let deadline = Instant::now().checked_add(MAX_TIME);
    let mut at = 0;
    let mut pieces = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline) {
        let passed: usize = old[op.old_range()].iter().map(|line| line.len()).sum();
        match op {
            DiffOp::Equal { .. } => pieces.push(Piece::Kept(at..at + passed)),
            _ => pieces.push(Piece::New(
                line_end.apply(&new[op.new_range()].concat()).into_owned(),
            )),
        }
        at += passed;
    }
    pieces
}

/// Returns the numbers of the lines that contain the given offsets, which must be sorted.
fn lines(text: &str, places: impl IntoIterator<Item = usize>) -> String {
    let mut lines = Vec::new();
    let mut line = 1;
    let mut seen = 0;
    for place in places {
        line += memchr_iter(b'\n', &text.as_bytes()[seen..place]).count();
        seen = place;
        let number = line.to_string();
        if lines.last() == Some(&number) {
            continue;
        }
        if lines.len() == MAX_LINES_NAMED {
            lines.push("…".to_owned());
            break;
        }
        lines.push(number);
    }
    lines.join(", ")
}

#[cfg(test)]
mod property_tests;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fixture::Fixture;

    /// Returns the arguments of an edit that takes the bytes as UTF-8, where others would be read in their encoding or a guess.
    fn edit(old: &str, new: &str) -> Value {
        json!({"path": "a", "old": old, "new": new, "encoding": "utf-8"})
    }

    /// Asserts the bytes of a file after an edit, and returns the diff.
    async fn edited(before: impl AsRef<[u8]>, arguments: Value, after: impl AsRef<[u8]>) -> String {
        let fixture = Fixture::new();
        fixture.write("a", &before);
        let diff = fixture.text("fs.edit", arguments.clone()).await;
        let (is, should) = (fixture.bytes("a"), after.as_ref());
        assert_eq!(
            is.escape_ascii().to_string(),
            should.escape_ascii().to_string(),
            "{arguments}"
        );
        diff
    }

    /// Asserts that an edit fails with each of the given parts in its message, and leaves the file as it is.
    async fn refused(before: impl AsRef<[u8]>, arguments: Value, parts: &[&str]) {
        let fixture = Fixture::new();
        fixture.write("a", &before);
        let error = fixture
            .call("fs.edit", arguments)
            .await
            .unwrap_err()
            .to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        assert_eq!(fixture.bytes("a"), before.as_ref());
    }

    #[tokio::test]
    async fn an_edit_keeps_bytes_that_are_not_utf8() {
        let before = b"caf\xE9 = 1\nport = 80\nna\xEFve\xFF\xFE\n";
        let diff = edited(
            before,
            edit("port = 80", "port = 8080"),
            b"caf\xE9 = 1\nport = 8080\nna\xEFve\xFF\xFE\n",
        )
        .await;
        assert!(
            diff.contains(" caf\u{FFFD} = 1\n-port = 80\n+port = 8080\n"),
            "{diff}"
        );
        assert!(diff.contains("not UTF-8"), "{diff}");
        edited(
            before,
            json!({"path": "a", "old": "a", "new": "A", "all": true, "encoding": "utf-8"}),
            b"cAf\xE9 = 1\nport = 80\nnA\xEFve\xFF\xFE\n",
        )
        .await;
        // In the middle of a line, right beside such bytes.
        edited(
            before,
            edit("ve", "f"),
            b"caf\xE9 = 1\nport = 80\nna\xEFf\xFF\xFE\n",
        )
        .await;
    }

    #[tokio::test]
    async fn a_replacement_character_of_fs_read_matches_no_bytes() {
        let latin = b"one\ncaf\xE9 = 1\ntwo\nna\xEFve\n";
        for old in ["caf\u{FFFD} = 1", "café = 1", "\u{FFFD}"] {
            refused(
                latin,
                edit(old, "x"),
                &[
                    "lines 2, 4",
                    "are read as \u{FFFD}",
                    "choose an `old` without",
                ],
            )
            .await;
        }
        refused(latin, edit("caf = 1", "x"), &["the nearest place"]).await;
        // U+FFFD that is in the file itself is ordinary text.
        edited("a \u{FFFD} b", edit("\u{FFFD}", "x"), "a x b").await;
        edited(
            b"a \xEF\xBF\xBD b \xE9",
            edit("\u{FFFD}", "x"),
            b"a x b \xE9",
        )
        .await;
    }

    #[tokio::test]
    async fn characters_of_another_encoding_are_not_mixed_into_a_file() {
        let latin = b"caf\xE9 = 1\n";
        refused(latin, edit("= 1", "= é"), &["not UTF-8", "`é`", "ASCII"]).await;
        // UTF-8 characters of `old` may be kept.
        edited(
            "à la \u{1F600}".as_bytes(),
            edit("à la", "à"),
            "à \u{1F600}",
        )
        .await;
        edited(
            b"\xC3\xA0 la caf\xE9",
            edit("à la", "la à"),
            b"la \xC3\xA0 caf\xE9",
        )
        .await;
    }

    #[tokio::test]
    async fn text_in_another_encoding_is_edited_in_it() {
        let edit = |old: &str, new: &str| json!({"path": "a", "old": old, "new": new});
        edited(b"\xFF\xFEa\0\n\0", edit("a", "é"), b"\xFF\xFE\xE9\0\n\0").await;
        edited(b"\xFE\xFF\0a\0\n", edit("a", "字"), b"\xFE\xFF\x5B\x57\0\n").await;
        let latin = b"caf\xE9 au lait\r\nfor\xEAt\r\n";
        let diff = edited(
            latin,
            edit("forêt", "été\nx"),
            b"caf\xE9 au lait\r\n\xE9t\xE9\r\nx\r\n",
        )
        .await;
        assert!(
            diff.contains("-forêt\n+été\n+x\n") && diff.contains("windows-1252"),
            "{diff}"
        );
        refused(
            latin,
            edit("forêt", "字"),
            &["windows-1252 has no character '字'"],
        )
        .await;
    }

    #[tokio::test]
    async fn text_with_escapes_is_edited_in_its_encoding_or_refused() {
        let edit = |old: &str, new: &str| json!({"path": "a", "old": old, "new": new});
        let japanese = b"a\x1B$B$\"\x1B(B\n";
        let diff = edited(japanese, edit("aあ", "いb"), b"\x1B$B$$\x1B(Bb\n").await;
        assert!(diff.contains("ISO-2022-JP"), "{diff}");
        refused(japanese, edit("あ", "\u{1F600}"), &["has no character"]).await;
        for (name, before) in [
            ("ISO-2022-KR", "\x1B$)C\na \x0E0!\x0F\n"),
            ("HZ", "a ~{<:Ky~}\n"),
            ("UTF-7", "a +ZeVnLIqe-\n"),
        ] {
            refused(before, edit("a", "b"), &[name]).await;
            let named = json!({"path": "a", "old": "a ", "new": "b ", "encoding": "utf-8"});
            edited(before, named, &before.replace("a ", "b ")).await;
        }
    }

    #[tokio::test]
    async fn line_breaks_of_old_that_the_file_does_not_have_are_named() {
        for (before, old, lines) in [
            ("a\nb", "b\n", "lines 2,"),
            ("a\r\nb", "a\r\nb\r\n", "lines 1,"),
            ("a\nb\n", "\na", "lines 1,"),
            ("a\nb\nb\n", "b\n\n", "lines 2, 3,"),
        ] {
            refused(before, edit(old, "x"), &["line breaks", lines]).await;
        }
    }

    #[tokio::test]
    async fn a_character_that_a_guess_cannot_take_is_written_once_the_encoding_is_named() {
        let gbk = b"\xd5\xe2\xca\xc7\x80\xff\nx\n";
        let edit =
            |encoding| json!({"path": "a", "old": "x", "new": "\u{8fd9}", "encoding": encoding});
        refused(gbk, edit("utf-8"), &["name the `encoding`"]).await;
        let named = b"\xd5\xe2\xca\xc7\nx\n";
        edited(named, edit("gbk"), b"\xd5\xe2\xca\xc7\n\xd5\xe2\n").await;
    }

    #[tokio::test]
    async fn binary_files_are_refused() {
        refused(b"a\0b", edit("a", "b"), &["NUL bytes"]).await;
    }

    #[tokio::test]
    async fn a_byte_order_mark_stays() {
        edited("\u{FEFF}one\ntwo\n", edit("one\n", ""), "\u{FEFF}two\n").await;
        edited(
            "\u{FEFF}one\ntwo\n",
            edit("\u{FEFF}one", "1"),
            "\u{FEFF}1\ntwo\n",
        )
        .await;
        edited("\u{FEFF}one", edit("\u{FEFF}one", "\u{FEFF}1"), "\u{FEFF}1").await;
        edited(
            b"\xEF\xBB\xBFone\xE9",
            edit("one", "1"),
            b"\xEF\xBB\xBF1\xE9",
        )
        .await;
    }

    #[tokio::test]
    async fn line_ends_match_in_any_style_and_are_written_in_that_of_the_file() {
        let all = |old: &str, new: &str| json!({"path": "a", "old": old, "new": new, "all": true});
        for (before, arguments, after) in [
            (
                "one\r\ntwo\r\nthree\r\n",
                edit("one\ntwo", "1\n1.5\n2"),
                "1\r\n1.5\r\n2\r\nthree\r\n",
            ),
            ("one\r\ntwo\r\n", edit("two", "2\n3"), "one\r\n2\r\n3\r\n"),
            (
                "one\r\ntwo\r\n",
                edit("one\r\ntwo\r\n", "1\r\n2\n"),
                "1\r\n2\r\n",
            ),
            ("one\ntwo\n", edit("one\r\ntwo", "1\r\n2"), "1\n2\n"),
            ("one\ntwo\n", edit("two", "2\r\n3"), "one\n2\n3\n"),
            ("one\r\ntwo\r\n", edit("\ntwo", ""), "one\r\n"),
            ("one\r\ntwo\r\n", edit("one\n", ""), "two\r\n"),
            ("a\r\nb\r\na\r\nb\r\n", all("a\nb\n", "c\n"), "c\r\nc\r\n"),
            // A trailing CR, as in lines that were split at LF.
            ("one\r\ntwo\r\n", edit("one\r", "1\r"), "1\r\ntwo\r\n"),
            ("one\ntwo\n", edit("one", "1\r"), "1\ntwo\n"),
            // A file without a line end has no style.
            ("one", edit("one", "1\r\n2"), "1\r\n2"),
            ("one", edit("one", "1\n2"), "1\n2"),
            // CR alone ends lines where no LF does.
            (
                "one\rtwo\rthree",
                edit("one\ntwo", "1\n2\r\n2.5"),
                "1\r2\r2.5\rthree",
            ),
            (
                "one\rtwo\nthree\n",
                edit("one\rtwo", "1\r2\n3"),
                "1\r2\n3\nthree\n",
            ),
        ] {
            edited(before, arguments, after).await;
        }
    }

    #[tokio::test]
    async fn in_a_file_of_several_styles_lines_keep_their_ends_and_new_ones_have_the_most_common() {
        for (before, old, new, after) in [
            ("a\nb\r\nc\r\n", "b", "x\ny", "a\nx\r\ny\r\nc\r\n"),
            (
                "a\nb\nc\r\nd\n",
                "b\nc\nd",
                "b\nx\nc\nd",
                "a\nb\nx\nc\r\nd\n",
            ),
            (
                "a\r\nb\nc\r\nd\n\n",
                "a\nb\nc",
                "A\nb\nC",
                "A\nb\nC\r\nd\n\n",
            ),
            (
                "a\r\nb\r\nc\r\nd\n\n",
                "a\nb\nc\n",
                "a\nc\nb\n",
                "a\r\nc\r\nb\r\nd\n\n",
            ),
        ] {
            edited(before, edit(old, new), after).await;
        }
    }

    #[tokio::test]
    async fn counts_places_and_diffs_agree_with_what_matches() {
        let crlf = "x\r\ny\r\nx\r\ny\r\n";
        refused(crlf, edit("x\ny", "z"), &["2 times", "in lines 1, 3;"]).await;
        refused(
            "x = 1;\r\n  y = 2;\r\n",
            edit("x = 1;\ny = 2;", ""),
            &["lines 1 to 2:\n1: x = 1;\n2:   y = 2;"],
        )
        .await;
        let diff = edited(crlf, edit("y\nx", "y\nz"), "x\r\ny\r\nz\r\ny\r\n").await;
        assert_eq!(diff, "--- a\n+++ a\n@@ -1,4 +1,4 @@\n x\n y\n-x\n+z\n y\n");
        refused(crlf, edit("y\nx", "y\r\nx"), &["line endings"]).await;
        refused(crlf, edit("\r", ""), &["line endings"]).await;
    }
}
