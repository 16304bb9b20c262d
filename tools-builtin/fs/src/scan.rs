//! [`Scan`]: collects matching lines with their context lines.

use std::collections::VecDeque;

use regex::bytes::{Regex, RegexBuilder};
use tools::ToolContext;

use crate::error::FsError;
use crate::path::RelativePath;

/// The maximum number of matching lines in a result.
const MAX_HITS: u64 = 200;

/// The size of a result in bytes at which it ends. The last line may exceed it.
const MAX_TEXT: usize = 48 * 1024;

/// The number of bytes of a line that are searched.
const MAX_SEARCHED: usize = 64 * 1024;

/// The number of bytes of a line that are shown, and how many of them may precede the match.
const MAX_SHOWN: usize = 400;
const BEFORE_MATCH: usize = 100;

/// The maximum size of a compiled pattern, in bytes. Larger patterns take longer for each byte of a line.
const MAX_PATTERN: usize = 128 * 1024;

/// The number of bytes searched between two checks for cancellation.
const UNINTERRUPTED: usize = 64 * 1024;

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
}

/// A line of a file with its number, counted from 1.
type NumberedLine<'a> = (u64, &'a [u8]);

impl Scan {
    pub(crate) fn new(pattern: &str, ignore_case: bool, context: usize) -> Result<Self, FsError> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .size_limit(MAX_PATTERN)
            .dfa_size_limit(8 * MAX_PATTERN)
            .build()
            .map_err(|error| FsError::Pattern { reason: error.to_string() })?;
        Ok(Self { regex, context, text: String::new(), hits: 0, files: 0, more: false, long: 0 })
    }

    /// Returns true if the result has no room for another matching line.
    pub(crate) fn is_full(&self) -> bool {
        self.hits >= MAX_HITS || self.text.len() >= MAX_TEXT
    }

    /// Searches the content of a file.
    pub(crate) fn file(&mut self, cx: &ToolContext, path: &RelativePath, content: &[u8]) -> Result<(), FsError> {
        let mut before: VecDeque<NumberedLine<'_>> = VecDeque::with_capacity(self.context);
        let (mut shown, mut after, mut unchecked) = (None, 0, 0);
        for (number, line) in (1..).zip(content.strip_suffix(b"\n").unwrap_or(content).split(|byte| *byte == b'\n')) {
            unchecked += line.len() + 1;
            if unchecked >= UNINTERRUPTED {
                cx.check_cancelled()?;
                unchecked = 0;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(at) = self.found(line) else {
                if after > 0 {
                    after -= 1;
                    shown = Some(number);
                    self.show(number, '-', line, 0);
                } else if self.context > 0 {
                    if before.len() == self.context {
                        before.pop_front();
                    }
                    before.push_back((number, line));
                }
                continue;
            };
            if self.is_full() {
                self.more = true;
                break;
            }
            let first = before.front().map_or(number, |(number, _)| *number);
            match shown {
                None => self.head(path),
                Some(last) if last + 1 < first => self.text.push_str("--\n"),
                Some(_) => {}
            }
            for (number, line) in before.drain(..) {
                self.show(number, '-', line, 0);
            }
            self.show(number, ':', line, at);
            self.hits += 1;
            (shown, after) = (Some(number), self.context);
        }
        Ok(())
    }

    fn found(&mut self, line: &[u8]) -> Option<usize> {
        let searched = &line[..line.len().min(MAX_SEARCHED)];
        self.long += u64::from(searched.len() < line.len());
        self.regex.find(searched).map(|found| found.start())
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
    fn show(&mut self, number: u64, mark: char, line: &[u8], at: usize) {
        let start = if line.len() <= MAX_SHOWN { 0 } else { at.saturating_sub(BEFORE_MATCH) };
        let end = line.len().min(start + MAX_SHOWN);
        let (start, end) = (boundary(line, start), boundary(line, end));
        let [head, tail] = [start > 0, end < line.len()].map(|cut| if cut { "[…]" } else { "" });
        let shown = String::from_utf8_lossy(&line[start..end]);
        self.text.push_str(&format!("{number}{mark} {head}{shown}{tail}\n"));
    }
}

/// Returns the first character boundary at or after `at`, if the line is UTF-8.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    at + line[at..].iter().take(3).take_while(|byte| is_inside(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(pattern: &str, context: usize, content: &str) -> Scan {
        let mut scan = Scan::new(pattern, false, context).unwrap();
        scan.file(&ToolContext::new(), &"f".to_owned().try_into().unwrap(), content.as_bytes()).unwrap();
        scan
    }

    #[test]
    fn lines_around_a_match_are_shown_once() {
        let content = "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n11\n";
        assert_eq!(scan("x", 0, content).text, "f\n3: x3\n--\n5: x5\n--\n10: x10\n");
        let around = "f\n2- 2\n3: x3\n4- 4\n5: x5\n6- 6\n--\n9- 9\n10: x10\n11- 11\n";
        assert_eq!(scan("x", 1, content).text, around);
        assert_eq!(scan("x10", 9, content).text.lines().count(), 12);
    }

    #[test]
    fn ends_of_lines_are_where_a_pattern_says() {
        assert_eq!(scan("^a$", 0, "a\r\nba\na").text, "f\n1: a\n--\n3: a\n");
        assert_eq!(scan("^$", 0, "a\n\n").text, "f\n2: \n");
        assert_eq!(scan("a", 0, "").hits, 0);
    }

    #[test]
    fn of_a_long_line_the_match_is_shown() {
        let line = format!("{}needle{}", "é".repeat(5_000), "ü".repeat(5_000));
        let found = scan("needle", 0, &line);
        assert!(found.text.len() < 500 && found.text.contains("éneedleü"), "{}", found.text);
        assert!(found.text.starts_with("f\n1: […]é") && found.text.ends_with("ü[…]\n"), "{}", found.text);
        let beyond = scan("needle", 0, &format!("{}needle", "x".repeat(MAX_SEARCHED)));
        assert_eq!((beyond.hits, beyond.long), (0, 1));
    }

    #[test]
    fn a_result_is_bounded() {
        for (lines, more) in [(199, false), (200, false), (201, true), (10_000, true)] {
            let found = scan("x", 10, &"x\n".repeat(lines));
            assert_eq!((found.hits, found.more), (MAX_HITS.min(lines as u64), more), "{lines}");
        }
        let found = scan("x", 10, &format!("{}\n", "x".repeat(1_000)).repeat(10_000));
        assert!(found.is_full() && found.text.len() < MAX_TEXT + 1_000);
        let found = scan("x", 10, &format!("x\n{}", "y\n".repeat(30).repeat(400)));
        assert_eq!(found.text.lines().count(), 12);
    }

    #[test]
    fn a_pattern_that_is_too_large_is_refused() {
        for pattern in [r"\w{1000}{1000}", "(", &"(".repeat(1000)] {
            assert!(matches!(Scan::new(pattern, false, 0), Err(FsError::Pattern { .. })));
        }
    }
}
