//! [`Scan`]: collects matching lines with their context lines.

use std::collections::VecDeque;
use std::io::BufRead;

use regex::bytes::{Regex, RegexBuilder};
use tools::ToolContext;

use tools_text::MARK;

use crate::error::FsError;
use crate::lines::{LineReader, ReadLine};
use crate::path::RelativePath;

/// The maximum number of matching lines in a result.
const MAX_HITS: u64 = 200;

/// The size of a result in bytes at which it ends. The last line may exceed it.
const MAX_TEXT: usize = 48 * 1024;

/// The number of bytes of a line that are searched: all lines of the files of a directory.
const MAX_SEARCHED: usize = 64 * 1024 * 1024;

/// The number of bytes of a line that are kept as context of a later match.
const MAX_CONTEXT: usize = 4 * 1024;

/// The number of bytes of a line that are shown, and how many of them may precede the match.
const MAX_SHOWN: usize = 400;
const BEFORE_MATCH: usize = 100;

/// The maximum size of a compiled pattern, in bytes. Larger patterns take longer for each byte of a line.
const MAX_PATTERN: usize = 128 * 1024;

/// The limit of the search for further matches after the result is full, in bytes. A visited entry counts as [`ENTRY`] bytes plus the
/// content of its file.
const MAX_AHEAD: u64 = 32 * 1024 * 1024;
const ENTRY: u64 = 1024;

/// Collects the matching lines of one file after another.
#[derive(Debug)]
pub(crate) struct Scan {
    regex: Regex,
    context: usize,
    /// The matching lines with their context, as shown.
    pub(crate) text: String,
    /// The number of matching lines.
    pub(crate) hits: u64,
    /// The number of files with matching lines.
    pub(crate) files: u64,
    /// True if a further matching line was omitted because the result is full.
    pub(crate) more: bool,
    /// The number of lines that were searched only in part.
    pub(crate) long: u64,
    /// The bytes searched since the result became full; see [`MAX_AHEAD`].
    ahead: u64,
}

/// A line of a file.
#[derive(Debug, Default)]
struct Line {
    /// The number of the line, counted from 1.
    number: u64,
    /// The first [`MAX_SEARCHED`] bytes, without the line ending.
    bytes: Vec<u8>,
    /// True if the line is longer.
    is_cut: bool,
}

impl Scan {
    pub(crate) fn new(pattern: &str, ignore_case: bool, context: usize) -> Result<Self, FsError> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .size_limit(MAX_PATTERN)
            .dfa_size_limit(8 * MAX_PATTERN)
            .build()
            .map_err(|error| FsError::Pattern {
                reason: error.to_string(),
            })?;
        Ok(Self {
            regex,
            context,
            text: String::new(),
            hits: 0,
            files: 0,
            more: false,
            long: 0,
            ahead: 0,
        })
    }

    /// Returns true if the result has no room for another matching line.
    fn is_full(&self) -> bool {
        self.hits >= MAX_HITS || self.text.len() >= MAX_TEXT
    }

    /// Returns true if the search can stop.
    pub(crate) fn is_over(&self) -> bool {
        self.more || self.ahead >= MAX_AHEAD
    }

    /// Counts a visited entry towards the limit of the search for further matches.
    pub(crate) fn visit(&mut self) {
        if self.is_full() {
            self.ahead += ENTRY;
        }
    }

    /// Searches a file. The memory needed does not grow with the file or its lines.
    pub(crate) fn file(
        &mut self,
        cx: &ToolContext,
        path: &RelativePath,
        file: impl BufRead,
    ) -> Result<(), FsError> {
        let mut lines = LineReader::new(cx, path, file);
        let mut before: VecDeque<Line> = VecDeque::with_capacity(self.context);
        let mut line = Line::default();
        let mut shown = None;
        let mut after = 0;
        while line.read(&mut lines)? {
            if self.is_full() {
                self.ahead += line.bytes.len() as u64 + 1;
            }
            self.long += u64::from(line.is_cut);
            let Some(at) = self.regex.find(&line.bytes).map(|found| found.start()) else {
                if after > 0 {
                    after -= 1;
                    shown = Some(line.number);
                    self.show(&line, '-', 0);
                } else if self.is_over() {
                    break;
                } else if self.context > 0 {
                    let free = if before.len() == self.context {
                        before.pop_front()
                    } else {
                        None
                    };
                    let number = line.number;
                    line.shorten();
                    before.push_back(std::mem::replace(&mut line, free.unwrap_or_default()));
                    line.number = number;
                }
                continue;
            };
            if self.is_full() {
                self.more = true;
                break;
            }
            let first = before.front().map_or(line.number, |line| line.number);
            match shown {
                None => self.head(path),
                Some(last) if self.context > 0 && last + 1 < first => self.text.push_str("--\n"),
                Some(_) => {}
            }
            for line in before.drain(..) {
                self.show(&line, '-', 0);
            }
            self.show(&line, ':', at);
            self.hits += 1;
            (shown, after) = (Some(line.number), self.context);
        }
        Ok(())
    }

    fn head(&mut self, path: &RelativePath) {
        self.files += 1;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(path.as_str());
        self.text.push('\n');
    }

    /// Appends a line with its number. Shows only the part around `at` of a long line.
    fn show(&mut self, line: &Line, mark: char, at: usize) {
        let Line { number, is_cut, .. } = *line;
        let line = &line.bytes;
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
        let tail = if is_cut || end < line.len() {
            "[…]"
        } else {
            ""
        };
        let shown = String::from_utf8_lossy(&line[start..end]).replace('\0', "\u{FFFD}");
        self.text
            .push_str(&format!("{number}{mark} {head}{shown}{tail}\n"));
    }
}

impl Line {
    /// Reads the next line. Returns false if there is none.
    fn read(&mut self, lines: &mut LineReader<'_, impl BufRead>) -> Result<bool, FsError> {
        self.bytes.clear();
        self.number += 1;
        let read = lines.read(MAX_SEARCHED, &mut self.bytes)?;
        self.is_cut = matches!(read, ReadLine::Cut { .. });
        // A byte order mark is no part of the first line.
        if self.number == 1 && self.bytes.starts_with(MARK.as_bytes()) {
            self.bytes.drain(..MARK.len());
        }
        if !self.is_cut {
            for end in [b'\n', b'\r'] {
                if self.bytes.last() == Some(&end) {
                    self.bytes.pop();
                }
            }
        }
        Ok(read != ReadLine::End)
    }

    /// Drops the memory of a long line that is kept as context.
    fn shorten(&mut self) {
        if self.bytes.len() > MAX_CONTEXT {
            self.bytes.truncate(MAX_CONTEXT);
            self.bytes.shrink_to_fit();
            self.is_cut = true;
        }
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
    use tools::Host;

    fn scan(pattern: &str, context: usize, content: &str) -> Scan {
        let mut scan = Scan::new(pattern, false, context).unwrap();
        scan.file(
            &Host::new(),
            &"f".to_owned().try_into().unwrap(),
            content.as_bytes(),
        )
        .unwrap();
        scan
    }

    #[test]
    fn lines_around_a_match_are_shown_once() {
        let content = "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n11\n";
        assert_eq!(scan("x", 0, content).text, "f\n3: x3\n5: x5\n10: x10\n");
        let around = "f\n2- 2\n3: x3\n4- 4\n5: x5\n6- 6\n--\n9- 9\n10: x10\n11- 11\n";
        assert_eq!(scan("x", 1, content).text, around);
        assert_eq!(scan("x10", 9, content).text.lines().count(), 12);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(
            scan("^use", 0, "\u{FEFF}use std;\n").text,
            "f\n1: use std;\n"
        );
    }

    #[test]
    fn ends_of_lines_are_where_a_pattern_says() {
        assert_eq!(scan("^a$", 0, "a\r\nba\na").text, "f\n1: a\n3: a\n");
        assert_eq!(scan("^$", 0, "a\n\n").text, "f\n2: \n");
        assert_eq!(scan("a", 0, "").hits, 0);
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
            found.text.starts_with("f\n1: [… 9900 bytes]é") && found.text.ends_with("ü[…]\n"),
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
        assert_eq!((beyond.hits, beyond.long), (0, 1));
    }

    #[test]
    fn a_result_is_bounded() {
        for (lines, more) in [(199, false), (200, false), (201, true), (10_000, true)] {
            let found = scan("x", 10, &"x\n".repeat(lines));
            assert_eq!(
                (found.hits, found.more),
                (MAX_HITS.min(lines as u64), more),
                "{lines}"
            );
        }
        let found = scan("x", 10, &format!("{}\n", "x".repeat(1_000)).repeat(10_000));
        assert!(found.is_full() && found.text.len() < MAX_TEXT + 1_000);
        let found = scan("x", 10, &format!("x\n{}", "y\n".repeat(30).repeat(400)));
        assert_eq!(found.text.lines().count(), 12);
    }

    #[test]
    fn a_pattern_that_is_too_large_is_refused() {
        for pattern in [r"\w{1000}{1000}", "(", &"(".repeat(1000)] {
            assert!(matches!(
                Scan::new(pattern, false, 0),
                Err(FsError::Pattern { .. })
            ));
        }
    }
}
