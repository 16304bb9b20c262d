//! [`Scan`]: the lines of files that match, with the lines around them.

use std::collections::VecDeque;

use regex::bytes::{Regex, RegexBuilder};
use tools::ToolContext;

use crate::error::FsError;
use crate::path::RelativePath;

/// How many matching lines one result has.
const MAX_HITS: u64 = 200;

/// How much text one result has, in bytes: the line that passes this is its last.
const MAX_TEXT: usize = 48 * 1024;

/// How much of a line is searched, in bytes.
const MAX_SEARCHED: usize = 64 * 1024;

/// How much of a line is shown, in bytes, and how much of that comes before the match.
const MAX_SHOWN: usize = 400;
const BEFORE_MATCH: usize = 100;

/// How large a compiled pattern may be, in bytes. A larger one takes longer for each byte of a line.
const MAX_PATTERN: usize = 128 * 1024;

/// How many bytes are searched before it is looked whether anybody still waits.
const UNINTERRUPTED: usize = 64 * 1024;

/// Lines that match, gathered file by file.
#[derive(Debug)]
pub(crate) struct Scan {
    regex: Regex,
    context: usize,
    /// What was found, as text.
    pub(crate) text: String,
    /// How many lines match.
    pub(crate) hits: u64,
    /// How many files they are in.
    pub(crate) files: u64,
    /// Whether there is a line that matches and that there was no room for.
    pub(crate) more: bool,
    /// How many lines were too long to be searched whole.
    pub(crate) long: u64,
}

/// A line of a file, with its number, from 1.
type Line<'a> = (u64, &'a [u8]);

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

    /// Whether a result can have no more. Whether there is more shows only when that is found.
    pub(crate) fn is_full(&self) -> bool {
        self.hits >= MAX_HITS || self.text.len() >= MAX_TEXT
    }

    /// Searches the content of one file.
    pub(crate) fn file(&mut self, cx: &ToolContext, path: &RelativePath, content: &[u8]) -> Result<(), FsError> {
        let mut before: VecDeque<Line<'_>> = VecDeque::with_capacity(self.context);
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

    /// A line with its number; of a long one, what is around `at`.
    fn show(&mut self, number: u64, mark: char, line: &[u8], at: usize) {
        let start = if line.len() <= MAX_SHOWN { 0 } else { at.saturating_sub(BEFORE_MATCH) };
        let end = line.len().min(start + MAX_SHOWN);
        let (start, end) = (boundary(line, start), boundary(line, end));
        let [head, tail] = [start > 0, end < line.len()].map(|cut| if cut { "[…]" } else { "" });
        let shown = String::from_utf8_lossy(&line[start..end]);
        self.text.push_str(&format!("{number}{mark} {head}{shown}{tail}\n"));
    }
}

/// The first place from `at` on that is not inside of a character, if the line is UTF-8.
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
