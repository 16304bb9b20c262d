//! [`LinePattern`]: a regular expression that is searched for in many lines at once.

use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

use crate::error::FsError;

/// The maximum size of a compiled pattern, in bytes. Larger patterns take longer for each byte of a line.
const MAX_PATTERN: usize = 128 * 1024;

/// The least size of a text that is searched for instead of the pattern, in bytes. Shorter ones are in too many lines.
const MIN_LITERAL: usize = 3;

/// A regular expression for single lines.
///
/// Clones share no memory in which they match, so that threads with a clone each do not wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    /// Decides about a line without its line ending.
    line: Regex,
    /// Matches in each of several lines in which `line` matches, and possibly in others.
    lines: Regex,
    /// Finds a text that is in each line in which `line` matches, faster than `lines`.
    literal: Option<Finder<'static>>,
}

/// A line in which a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineMatch {
    /// The range of the line, without its line ending.
    pub(crate) line: Range<usize>,
    /// The offset of the next line.
    pub(crate) next: usize,
    /// The offset of the match in the line.
    pub(crate) at: usize,
}

impl LinePattern {
    pub(crate) fn new(pattern: &str, ignore_case: bool) -> Result<Self, FsError> {
        let line = compile(pattern, ignore_case, MAX_PATTERN)?;
        let hir = ParserBuilder::new()
            .utf8(false)
            .case_insensitive(ignore_case)
            .build()
            .parse(pattern)
            .map_err(invalid)?;
        let hir = in_lines(hir);
        // Twice the size, so that a pattern is refused for its own size only.
        let lines = compile(&hir.to_string(), false, 2 * MAX_PATTERN)?;
        let literal = literal(&hir).filter(|text| text.len() >= MIN_LITERAL);
        Ok(Self {
            line,
            lines,
            literal: literal.map(|text| Finder::new(text).into_owned()),
        })
    }

    /// Returns the offset of the match in a line without its line ending.
    pub(crate) fn find_in_line(&self, line: &[u8]) -> Option<usize> {
        self.line.find(line).map(|found| found.start())
    }

    /// Returns the first line at or after `from`, the start of a line, in which the pattern matches. The last line may lack its line ending.
    pub(crate) fn find(&self, lines: &[u8], mut from: usize) -> Option<LineMatch> {
        while from < lines.len() {
            let found = match &self.literal {
                Some(literal) => from + literal.find(&lines[from..])?,
                // No match has a line ending, so its end is in its line too.
                None => self.lines.shortest_match_at(lines, from)?,
            };
            let start = memrchr(b'\n', &lines[from..found]).map_or(from, |end| from + end + 1);
            if start == lines.len() {
                break;
            }
            let next = line_end(lines, found);
            let end = start + without_line_ending(&lines[start..next]).len();
            if let Some(at) = self.find_in_line(&lines[start..end]) {
                return Some(LineMatch {
                    line: start..end,
                    next,
                    at,
                });
            }
            from = next;
        }
        None
    }
}

/// Returns the end of the line that has the byte at `at`, with its line ending.
pub(crate) fn line_end(lines: &[u8], at: usize) -> usize {
    memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end + 1)
}

/// Returns a line without LF, CR LF or a CR at its end.
pub(crate) fn without_line_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn compile(pattern: &str, ignore_case: bool, limit: usize) -> Result<Regex, FsError> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(limit)
        .dfa_size_limit(8 * limit)
        .build()
        .map_err(invalid)
}

fn invalid(error: impl ToString) -> FsError {
    FsError::Pattern {
        reason: error.to_string(),
    }
}

/// Returns an expression for several lines that matches in each line in which `hir` matches.
///
/// No match has a line feed, because a match over many lines would be searched for from each of them. The ends of the text become ends of
/// lines, before a CR too, which may belong to the line ending.
fn in_lines(hir: Hir) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(in_lines).collect();
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(in_lines(*repetition.sub)),
            ..repetition
        }),
        HirKind::Capture(capture) => in_lines(*capture.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}

/// Returns the longest text that is known to be in each match.
fn literal(hir: &Hir) -> Option<&[u8]> {
    match hir.kind() {
        HirKind::Literal(text) => Some(&text.0),
        HirKind::Repetition(repetition) if repetition.min > 0 => literal(&repetition.sub),
        HirKind::Concat(parts) => {
            let literals = parts.iter().filter_map(literal);
            literals.max_by_key(|text| text.len())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lines in which a pattern matches, found among all lines and one by one.
    fn both(pattern: &str, text: &[u8]) -> [Vec<(usize, usize)>; 2] {
        let pattern = LinePattern::new(pattern, false).unwrap();
        let mut from = 0;
        let found = std::iter::from_fn(|| {
            let found = pattern.find(text, from)?;
            from = found.next;
            Some((found.line.start, found.at))
        });
        let mut start = 0;
        let one_by_one = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
            start += line.len();
            let at = pattern.find_in_line(without_line_ending(line));
            at.map(|at| (start - line.len(), at))
        });
        let one_by_one = one_by_one.flatten().collect();
        [found.collect(), one_by_one]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_lines_found_at_once_are_those_found_one_by_one(
            pattern in r"(\^|\\A|\\b|\\B|\(\?m:\^\)|\(\?mR:\^\)|a|\\s|\(\?s:\.\)|\\n|\[\^a\]){0,3}[*+?]?(\$|\\z|\\b|\\B|\(\?m:\$\)|\(\?mR:\$\)|\\r|\\W|\|b)?",
            text in r"[ab\-\r\n]{0,12}",
        ) {
            prop_assume!(LinePattern::new(&pattern, false).is_ok());
            let [found, expected] = both(&pattern, text.as_bytes());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_ending_belongs_to_no_line() {
        for (pattern, text, count) in [
            (r"a$", &b"a\r\nba\na\r"[..], 3),
            (r"^$", b"\n\r\n\n", 3),
            (r"^", b"a\n", 1),
            (r"a\s+b", b"a\nb\na b", 1),
            (r"a\nb|\n", b"a\nb\n", 0),
            (r"a[^x]*z", b"a\naz\n", 1),
            (r"\r", b"a\r\nb\rc\r\r\n", 1),
            (r"(?-u:\xff)$", b"\xff\n\xfe", 1),
            (
                r"\w+(needle)+\s",
                b"needle \na needle\nxneedle needle\nneedl ",
                1,
            ),
            (r"(needle)*x|y$", b"x\nneedle\ny\n", 2),
        ] {
            let [found, expected] = both(pattern, text);
            assert_eq!(found.len(), count, "{pattern}");
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn many_lines_that_begin_a_match_without_an_end_take_little_time() {
        let text = "a\n".repeat(1_000_000);
        assert_eq!(
            LinePattern::new("a[^x]*z", false)
                .unwrap()
                .find(text.as_bytes(), 0),
            None
        );
    }
}
