//! [`Scan`]: finds the matching lines of a file, with their context lines.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};
use tools::ToolContext;
use tools_text::MARK;

use crate::error::FsError;
use crate::line_pattern::{LineMatch, LinePattern, line_end, without_line_ending};

/// The maximum number of matching lines in a result.
pub(crate) const MAX_HITS: usize = 200;

/// The size of a result in bytes at which it ends. The last line may exceed it.
pub(crate) const MAX_TEXT: usize = 48 * 1024;

/// The number of bytes of a line that are searched: all lines of the files of a directory.
const MAX_SEARCHED: usize = 64 * 1024 * 1024;

/// The number of bytes of a line that are kept as context of a later match.
const MAX_CONTEXT: usize = 4 * 1024;

/// The number of bytes of a line that are shown, and how many of them may precede the match.
const MAX_SHOWN: usize = 400;
const BEFORE_MATCH: usize = 100;

/// The limit of the search for further matches after the result is full, in bytes.
pub(crate) const MAX_AHEAD: u64 = 32 * 1024 * 1024;

/// The number of bytes searched between two checks for cancellation, and the size of a read.
const BLOCK: usize = 128 * 1024;

/// Finds the matching lines of one file.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    cx: &'a ToolContext,
    pattern: &'a LinePattern,
    context: usize,
    /// The number of the line at `counted`, counted from 1.
    number: u64,
    /// The offset in the block up to which its lines were counted.
    counted: usize,
    /// The last lines of earlier blocks, as context of a match.
    before: VecDeque<Vec<u8>>,
    /// The number of the last line that was shown, and how many lines after it are its context.
    shown: u64,
    after: usize,
    found: Found,
}

/// The matching lines of one file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The lines with their context, as shown.
    pub(crate) text: String,
    /// The offset in the text of the part of each matching line, which begins with the context before it.
    pub(crate) parts: Vec<usize>,
    /// True if a further line matches, for which the result has no room.
    pub(crate) more: bool,
    /// The number of lines that were searched only in part.
    pub(crate) long: u64,
    /// The bytes that were searched, and those of them searched while the result was full.
    pub(crate) searched: u64,
    pub(crate) ahead: u64,
    /// The size of the result before this file: matching lines, and bytes.
    room_taken: (usize, usize),
}

impl Found {
    /// Returns the lines for a result that others have filled up to this size.
    pub(crate) fn after(hits: usize, text: usize) -> Self {
        Self {
            room_taken: (hits, text),
            ..Self::default()
        }
    }

    fn is_full(&self) -> bool {
        let (hits, text) = self.room_taken;
        is_full(hits + self.parts.len(), text + self.text.len())
    }

    fn is_over(&self) -> bool {
        self.more || self.ahead >= MAX_AHEAD
    }
}

/// Returns true if a result of this size has no room for another matching line.
pub(crate) fn is_full(hits: usize, text: usize) -> bool {
    hits >= MAX_HITS || text >= MAX_TEXT
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        cx: &'a ToolContext,
        pattern: &'a LinePattern,
        context: usize,
        found: Found,
    ) -> Self {
        Self {
            cx,
            pattern,
            context,
            number: 1,
            counted: 0,
            before: VecDeque::new(),
            shown: 0,
            after: 0,
            found,
        }
    }

    /// Searches the whole content of a file.
    pub(crate) fn whole(mut self, content: &[u8]) -> Result<Found, FsError> {
        // A byte order mark is no part of the first line.
        let content = content.strip_prefix(MARK.as_bytes()).unwrap_or(content);
        self.block(content)?;
        Ok(self.found)
    }

    /// Searches a file that begins with `buffer`. The memory needed does not grow with the file or its lines.
    pub(crate) fn stream(
        mut self,
        mut buffer: Vec<u8>,
        mut rest: impl Read,
        fault: impl FnOnce(io::Error) -> FsError,
    ) -> Result<Found, FsError> {
        if buffer.starts_with(MARK.as_bytes()) {
            buffer.drain(..MARK.len());
        }
        let mut is_cut = false;
        let mut seen = 0;
        loop {
            if is_cut {
                // The rest of the line is skipped.
                let end = memchr(b'\n', &buffer);
                is_cut = end.is_none();
                buffer.drain(..end.map_or(buffer.len(), |end| end + 1));
                self.number += u64::from(!is_cut);
                seen = 0;
            }
            let end = memrchr(b'\n', &buffer[seen..]).map(|end| seen + end + 1);
            let is_long = end.is_none() && buffer.len() > MAX_SEARCHED;
            if let Some(end) = end.or(is_long.then_some(MAX_SEARCHED)) {
                let unshown = self.block(&buffer[..end])?;
                self.leave_block(&buffer[..end], unshown);
                self.found.long += u64::from(is_long);
                is_cut = is_long;
                buffer.drain(..end);
                if self.found.is_over() {
                    return Ok(self.found);
                }
                if is_cut {
                    continue;
                }
            }
            self.cx.check_cancelled()?;
            seen = buffer.len();
            let read = rest.by_ref().take(BLOCK as u64).read_to_end(&mut buffer);
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(fault(error)),
            }
        }
        self.block(&buffer)?;
        Ok(self.found)
    }

    /// Searches whole lines. Only the last line of a file may lack its line ending. Returns the offset of the lines that were not shown.
    fn block(&mut self, block: &[u8]) -> Result<usize, FsError> {
        // The first line that is not shown, and the first that is not searched.
        let (mut unshown, mut at) = (0, 0);
        while at < block.len() && !self.found.is_over() {
            self.cx.check_cancelled()?;
            let end = line_end(block, block.len().min(at + BLOCK) - 1);
            while let Some(found) = self.pattern.find(&block[..end], at) {
                unshown = self.show_after(block, unshown..found.line.start);
                if self.found.is_full() {
                    self.found.more = true;
                    return Ok(unshown);
                }
                self.hit(block, unshown, &found);
                (unshown, at) = (found.next, found.next);
            }
            if self.found.is_full() {
                self.found.ahead += (end - at) as u64;
            }
            at = end;
        }
        self.found.searched += at as u64;
        Ok(self.show_after(block, unshown..at))
    }

    /// Shows the first lines of a range without matches, if they are context of the match before it. Returns the end of these lines.
    fn show_after(&mut self, block: &[u8], lines: Range<usize>) -> usize {
        let mut at = lines.start;
        while self.after > 0 && at < lines.end {
            let next = line_end(block, at);
            self.shown = self.number_at(block, at);
            self.show(self.shown, &block[at..next], '-', 0);
            self.after -= 1;
            at = next;
        }
        at
    }

    /// Shows a matching line, and the lines before it that are its context and were not shown.
    fn hit(&mut self, block: &[u8], unshown: usize, found: &LineMatch) {
        self.found.parts.push(self.found.text.len());
        let number = self.number_at(block, found.line.start);
        let start = self.context_start(block, unshown..found.line.start);
        let near = memchr_iter(b'\n', &block[start..found.line.start]).count();
        let far = if start == 0 {
            self.before.len().min(self.context - near)
        } else {
            0
        };
        let first = number - (near + far) as u64;
        if self.context > 0 && self.shown > 0 && self.shown + 1 < first {
            self.found.text.push_str("--\n");
        }
        let skipped = self.before.len() - far;
        let before = std::mem::take(&mut self.before);
        let before = before.iter().skip(skipped).map(Vec::as_slice);
        let near = block[start..found.line.start].split_inclusive(|byte| *byte == b'\n');
        for (line, number) in before.chain(near).zip(first..) {
            self.show(number, line, '-', 0);
        }
        self.show(number, &block[found.line.clone()], ':', found.at);
        (self.shown, self.after) = (number, self.context);
    }

    /// Returns the start of the last lines of a range, as many as are context of a match.
    fn context_start(&self, block: &[u8], lines: Range<usize>) -> usize {
        // The first line ending from the end is that of the last line.
        let mut ends = memrchr_iter(b'\n', &block[lines.clone()]);
        ends.nth(self.context)
            .map_or(lines.start, |end| lines.start + end + 1)
    }

    /// Keeps the last lines of a block that were not shown, as context of a match in the next one.
    fn leave_block(&mut self, block: &[u8], unshown: usize) {
        self.number_at(block, block.len());
        self.counted = 0;
        if unshown > 0 {
            self.before.clear();
        }
        let start = self.context_start(block, unshown..block.len());
        for line in block[start..].split_inclusive(|byte| *byte == b'\n') {
            self.before
                .push_back(line[..line.len().min(MAX_CONTEXT)].to_vec());
        }
        let more = self.before.len().saturating_sub(self.context);
        self.before.drain(..more);
    }

    /// Returns the number of the line at an offset, which must not be before that of the last call.
    fn number_at(&mut self, block: &[u8], at: usize) -> u64 {
        self.number += memchr_iter(b'\n', &block[self.counted..at]).count() as u64;
        self.counted = at;
        self.number
    }

    /// Appends a line with its number. Shows only the part around `at` of a long line.
    fn show(&mut self, number: u64, line: &[u8], mark: char, at: usize) {
        let line = without_line_ending(line);
        let start = if line.len() <= MAX_SHOWN {
            0
        } else {
            at.saturating_sub(BEFORE_MATCH)
        };
        let end = line.len().min(start + MAX_SHOWN);
        let start = boundary(line, start);
        let end = boundary(line, end);
        let head = if start > 0 {
            format!("[… {start} bytes]")
        } else {
            String::new()
        };
        let tail = if end < line.len() || line.len() == MAX_SEARCHED {
            "[…]"
        } else {
            ""
        };
        let shown = String::from_utf8_lossy(&line[start..end]).replace('\0', "\u{FFFD}");
        self.found
            .text
            .push_str(&format!("{number}{mark} {head}{shown}{tail}\n"));
    }
}

/// Returns the first character boundary at or after `at`, if the line is UTF-8.
fn boundary(line: &[u8], at: usize) -> usize {
    let next = line[at..].iter().take(3);
    let continuation = next.take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000);
    at + continuation.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelativePath;
    use tools::Host;

    /// Searches a text whole, and as a stream that begins with some of its bytes, which finds the same.
    fn scan(pattern: &str, context: usize, content: &str) -> Found {
        let pattern = LinePattern::new(pattern, false).unwrap();
        let (cx, path) = (Host::new(), RelativePath::default());
        let scan = || Scan::new(&cx, &pattern, context, Found::default());
        let whole = scan().whole(content.as_bytes()).unwrap();
        let content = content.as_bytes();
        // The beginning has the byte order mark.
        for length in [5, content.len() / 2 + 5, content.len()] {
            let (first, rest) = content.split_at(length.min(content.len()));
            let fault = FsError::io(&path);
            let streamed = scan().stream(first.to_vec(), rest, fault).unwrap();
            if content.len() <= MAX_SEARCHED {
                assert_eq!(
                    (&streamed.text, &streamed.parts),
                    (&whole.text, &whole.parts)
                );
                assert_eq!(streamed.more, whole.more);
            } else {
                return streamed;
            }
        }
        whole
    }

    #[test]
    fn lines_around_a_match_are_shown_once() {
        let content = "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n11\n";
        assert_eq!(scan("x", 0, content).text, "3: x3\n5: x5\n10: x10\n");
        let around = "2- 2\n3: x3\n4- 4\n5: x5\n6- 6\n--\n9- 9\n10: x10\n11- 11\n";
        assert_eq!(scan("x", 1, content).text, around);
        assert_eq!(scan("x10", 9, content).text.lines().count(), 11);
    }

    #[test]
    fn lines_on_both_sides_of_a_block_are_context() {
        let content = |before: usize| {
            format!(
                "{}a\nb\nx\nc\nd\n{}",
                "y\n".repeat(before),
                "y\n".repeat(BLOCK)
            )
        };
        for before in BLOCK / 2 - 6..BLOCK / 2 + 6 {
            let line = |number, mark, text| format!("{}{mark} {text}\n", before + number);
            let expected = [
                line(1, '-', "a"),
                line(2, '-', "b"),
                line(3, ':', "x"),
                line(4, '-', "c"),
                line(5, '-', "d"),
            ];
            assert_eq!(scan("x", 2, &content(before)).text, expected.concat());
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(scan("^use", 0, "\u{FEFF}use std;\n").text, "1: use std;\n");
    }

    #[test]
    fn ends_of_lines_are_where_a_pattern_says() {
        assert_eq!(scan("^a$", 0, "a\r\nba\na").text, "1: a\n3: a\n");
        assert_eq!(scan("^$", 0, "a\n\n").text, "2: \n");
        assert_eq!(scan("a", 0, "").parts.len(), 0);
    }

    #[test]
    fn of_a_long_line_the_match_is_shown() {
        let line = format!("{}needle{}", "é".repeat(5_000), "ü".repeat(5_000));
        let found = scan("needle", 0, &line);
        assert!(
            found.text.len() < 500 && found.text.contains("éneedleü"),
            "{}",
            found.text
        );
        assert!(
            found.text.starts_with("1: [… 9900 bytes]é") && found.text.ends_with("ü[…]\n"),
            "{}",
            found.text
        );
        let odd = scan("needle", 0, &line.replace("needle", "xneedle"));
        assert!(
            odd.text.contains("[… 9902 bytes]é") && !odd.text.contains('\u{FFFD}'),
            "{}",
            odd.text
        );
        let far = scan(
            "needle",
            1,
            &format!("{}\n{}needle", "y".repeat(100_000), "x".repeat(1_000_000)),
        );
        assert!(
            far.text.contains("2: [… 999900 bytes]xxx") && far.text.len() < 1_000,
            "{}",
            far.text
        );
        let beyond = scan("needle", 0, &format!("{}needle", "x".repeat(MAX_SEARCHED)));
        assert_eq!((beyond.parts.len(), beyond.long), (0, 1));
    }

    #[test]
    fn a_result_is_bounded() {
        for (lines, more) in [(199, false), (200, false), (201, true), (10_000, true)] {
            let found = scan("x", 10, &"x\n".repeat(lines));
            assert_eq!(
                (found.parts.len(), found.more),
                (MAX_HITS.min(lines), more),
                "{lines}"
            );
        }
        let found = scan("x", 10, &format!("{}\n", "x".repeat(1_000)).repeat(10_000));
        assert!(found.is_full() && found.text.len() < MAX_TEXT + 1_000);
        let found = scan("x", 10, &format!("x\n{}", "y\n".repeat(30).repeat(400)));
        assert_eq!(found.text.lines().count(), 11);
    }

    #[test]
    fn a_pattern_that_is_too_large_is_refused() {
        for pattern in [r"\w{1000}{1000}", "(", &"(".repeat(1000)] {
            assert!(matches!(
                LinePattern::new(pattern, false),
                Err(FsError::Pattern { .. })
            ));
        }
    }
}
