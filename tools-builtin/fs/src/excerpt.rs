//! [`Excerpt`]: a range of lines of a file of any size.

use std::io::{BufRead, Read, Seek, SeekFrom, Write as _};

use memchr::{memchr, memrchr_iter};
use tools::ToolContext;
use tools_text::MARK;

use crate::counted::counted;
use crate::error::FsError;
use crate::lines::{LineReader, ReadLine};
use crate::path::RelativePath;

/// The size of an excerpt in bytes at which it ends. The last line may exceed it.
const MAX_TEXT: usize = 48 * 1024;

/// The number of bytes of a line that are shown.
const MAX_LINE: usize = 4 * 1024;

/// The lines to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRange {
    /// The number of lines before the first.
    pub(crate) skipped: u64,
    /// The number of bytes of the first line that are left out.
    pub(crate) offset: u64,
    /// The maximum number of lines.
    pub(crate) most: u64,
    /// The number of the first line, if each line begins with its number: counted from 1, or negative if counted from the end.
    pub(crate) first_number: Option<i64>,
}

/// The number of the first line of an excerpt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FirstLine {
    /// Counted from 1.
    Number(u64),
    /// Counted from the end of the file, where the last line is 1.
    FromEnd(u64),
}

/// A range of lines of a file. The memory needed does not grow with the file or its lines.
#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    /// The lines with their line endings.
    pub(crate) text: String,
    /// The number of lines.
    pub(crate) lines: u64,
    /// The number of truncated lines.
    pub(crate) cut: u64,
    /// True if more lines follow in the file.
    pub(crate) more: bool,
    /// The number of bytes of a line before the rest that was left out, if it is the only line of the excerpt.
    pub(crate) end_in_line: Option<u64>,
    /// True if bytes that are not UTF-8 were replaced.
    pub(crate) lossy: bool,
}

impl Excerpt {
    /// Reads the lines of a range, or as many as fit.
    ///
    /// # Errors
    /// Returns an error if the range begins after the last line, unless the file is empty.
    pub(crate) fn from_reader(
        cx: &ToolContext,
        path: &RelativePath,
        file: impl BufRead,
        range: LineRange,
    ) -> Result<Self, FsError> {
        let skipped = range.skipped;
        let offset = range.offset;
        let mut reader = LineReader::new(cx, path, file);
        let found = reader.skip(skipped)?;
        if found < skipped || !reader.has_more()? {
            return match found {
                0 => Ok(Self::default()),
                lines => Err(FsError::PastTheEnd {
                    path: path.clone(),
                    lines,
                    start: skipped.saturating_add(1),
                }),
            };
        }
        let passed = reader.skip_in_line(offset)?;
        if passed < offset {
            return Err(FsError::PastTheLine {
                path: path.clone(),
                length: passed,
                offset,
            });
        }
        let mut lines = 0;
        let mut cut = 0;
        let mut bytes = Vec::new();
        let mut end_in_line = None;
        let mut numbers = range.first_number.into_iter().flat_map(|first| first..);
        while lines < range.most && bytes.len() < MAX_TEXT && reader.has_more()? {
            if let Some(number) = numbers.next() {
                // Writing to a vector cannot fail.
                let _ = write!(bytes, "{number}: ");
            }
            let begin = bytes.len();
            let is_first = lines == 0;
            let limit = if is_first && offset > 0 {
                MAX_TEXT
            } else {
                MAX_LINE
            };
            let read = reader.read(limit, &mut bytes)?;
            // A byte order mark is no part of the first line.
            let is_start = is_first && skipped == 0 && offset == 0;
            if is_start && bytes[begin..].starts_with(MARK.as_bytes()) {
                bytes.drain(begin..begin + MARK.len());
            }
            if let ReadLine::Cut { omitted } = read {
                let shown = bytes.len() - begin;
                drop_partial_character(&mut bytes, begin);
                let dropped = (shown - (bytes.len() - begin)) as u64;
                if is_first {
                    end_in_line = Some(offset + limit as u64 - dropped);
                }
                let omitted = counted(omitted + dropped, "byte", "bytes");
                let note = format!(" [… {omitted} of this line left out …]\n");
                bytes.extend_from_slice(note.as_bytes());
                cut += 1;
            }
            lines += 1;
        }
        if bytes.contains(&0) {
            return Err(FsError::Binary { path: path.clone() });
        }
        let more = reader.has_more()?;
        let (text, lossy) = match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        let end_in_line = end_in_line.filter(|_| lines == 1);
        Ok(Self {
            text,
            lines,
            cut,
            more,
            end_in_line,
            lossy,
        })
    }

    /// Returns a note that says which lines these are, how to continue, and what is missing. Returns `None` for a whole file.
    pub(crate) fn note(&self, first: FirstLine) -> Option<String> {
        let mut notes = Vec::new();
        match first {
            _ if self.lines == 0 || self.text.is_empty() => {
                notes.push("the file is empty".to_owned())
            }
            FirstLine::Number(start) => {
                let last = start + self.lines - 1;
                let lines = if last == start {
                    format!("line {start}")
                } else {
                    format!("lines {start} to {last}")
                };
                if let Some(end) = self.end_in_line {
                    let next = if self.more {
                        format!(", or with the next line, start = {}", last + 1)
                    } else {
                        String::new()
                    };
                    notes.push(format!(
                        "{lines}; continue in it with start = {start}, offset = {end}{next}"
                    ));
                } else if self.more {
                    notes.push(format!(
                        "{lines}; more lines follow, continue with start = {}",
                        last + 1
                    ));
                } else if start > 1 {
                    notes.push(format!("{lines}, the end of the file"));
                }
            }
            FirstLine::FromEnd(count) => {
                let rest = count - self.lines;
                notes.push(match self.lines {
                    1 => format!("line -{count}, counted from the end"),
                    _ => format!("lines -{count} to -{}, counted from the end", rest + 1),
                });
                if rest > 0 {
                    notes.push(format!("more lines follow, continue with tail = {rest}"));
                }
            }
        }
        if self.cut > 0 && self.end_in_line.is_none() {
            notes.push(format!(
                "truncated lines: {}; read one alone, and with `offset`, to see its rest",
                self.cut
            ));
        }
        if self.lossy {
            notes.push(
                "bytes that are not UTF-8 are shown as \u{FFFD}; an edit keeps them".to_owned(),
            );
        }
        (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
    }
}

/// Removes an incomplete UTF-8 character at the end.
fn drop_partial_character(bytes: &mut Vec<u8>, begin: usize) {
    if let Err(error) = std::str::from_utf8(&bytes[begin..])
        && error.error_len().is_none()
    {
        bytes.truncate(begin + error.valid_up_to());
    }
}

/// The size of a read, in bytes.
const BLOCK: u64 = 64 * 1024;

/// The last lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The position of their first byte.
    pub(crate) start: u64,
    /// The number of lines, which is smaller than requested if the file has fewer.
    pub(crate) lines: u64,
}

impl Tail {
    /// Finds the last `count` lines of the first `size` bytes of a file. Reads backwards in blocks, and only as far as needed.
    ///
    /// # Errors
    /// Returns [`FsError::Binary`] if a block in these lines has a NUL byte.
    pub(crate) fn find(
        cx: &ToolContext,
        path: &RelativePath,
        mut file: impl Read + Seek,
        size: u64,
        count: u64,
    ) -> Result<Self, FsError> {
        let mut lines = 0;
        let mut at = size;
        let mut block = Vec::with_capacity(BLOCK.min(size) as usize);
        while at > 0 && count > 0 {
            cx.check_cancelled()?;
            let begin = at.saturating_sub(BLOCK);
            file.seek(SeekFrom::Start(begin))
                .map_err(FsError::io(path))?;
            block.clear();
            let read = file.by_ref().take(at - begin).read_to_end(&mut block);
            read.map_err(FsError::io(path))?;
            for end in memrchr_iter(b'\n', &block) {
                let after = begin + end as u64 + 1;
                // The last line ending of the file starts no line.
                if after < size {
                    lines += 1;
                    if lines == count {
                        return Ok(Self {
                            start: after,
                            lines,
                        });
                    }
                }
            }
            if memchr(0, &block).is_some() {
                return Err(FsError::Binary { path: path.clone() });
            }
            at = begin;
        }
        Ok(Self {
            start: 0,
            lines: lines + u64::from(size > 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use super::*;
    use tools::Host;

    fn excerpt(file: impl Read, start: u64, end: u64) -> Result<Excerpt, FsError> {
        let range = LineRange {
            skipped: start - 1,
            offset: 0,
            most: (end - start).saturating_add(1),
            first_number: None,
        };
        Excerpt::from_reader(
            &Host::new(),
            &RelativePath::default(),
            BufReader::new(file),
            range,
        )
    }

    #[test]
    fn lines_are_given_as_they_are() {
        let file = "one\r\ntwo\n\nfour".as_bytes();
        for (start, end, text, lines, more) in [
            (1, u64::MAX, "one\r\ntwo\n\nfour", 4, false),
            (1, 4, "one\r\ntwo\n\nfour", 4, false),
            (2, 3, "two\n\n", 2, true),
            (4, 9, "four", 1, false),
        ] {
            let excerpt = excerpt(file, start, end).unwrap();
            assert_eq!(
                (&*excerpt.text, excerpt.lines, excerpt.more),
                (text, lines, more),
                "{start} to {end}"
            );
        }
    }

    #[test]
    fn a_start_after_the_end_is_refused_with_the_last_line() {
        for (text, start, last) in [("a\nb\n", 3, 2), ("a\nb", 3, 2), ("a", 900, 1)] {
            let error = excerpt(text.as_bytes(), start, u64::MAX).unwrap_err();
            assert!(
                matches!(error, FsError::PastTheEnd { lines, .. } if lines == last),
                "{text:?}"
            );
        }
        assert_eq!(excerpt(io::empty(), 7, u64::MAX).unwrap().lines, 0);
    }

    #[test]
    fn a_long_text_ends_with_a_whole_line() {
        let text = "0123456789\n".repeat(10_000);
        let excerpt = excerpt(text.as_bytes(), 1, u64::MAX).unwrap();
        assert!(excerpt.more && excerpt.text.ends_with('\n') && text.starts_with(&excerpt.text));
        assert!((MAX_TEXT..MAX_TEXT + 11).contains(&excerpt.text.len()));
        assert_eq!(excerpt.lines * 11, excerpt.text.len() as u64);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let text = format!("{}\n{}\nend", "é".repeat(5_000), "x".repeat(MAX_LINE));
        let excerpt = excerpt(text.as_bytes(), 1, u64::MAX).unwrap();
        let lines: Vec<&str> = excerpt.text.lines().collect();
        assert_eq!(
            lines[0],
            format!(
                "{} [… 5905 bytes of this line left out …]",
                "é".repeat(2048)
            )
        );
        assert_eq!(lines[1..], ["x".repeat(MAX_LINE), "end".to_owned()]);
        assert_eq!((excerpt.cut, excerpt.lossy), (1, false));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_line() {
        let text = "\u{FEFF}one\n\u{FEFF}two\n";
        assert_eq!(
            excerpt(text.as_bytes(), 1, 9).unwrap().text,
            "one\n\u{FEFF}two\n"
        );
        assert_eq!(
            excerpt(text.as_bytes(), 2, 9).unwrap().text,
            "\u{FEFF}two\n"
        );
    }

    #[test]
    fn numbers_stand_before_lines() {
        for (first, expected) in [
            (1, "1: a\n2: b\n3: \n"),
            (99, "99: a\n100: b\n101: \n"),
            (-3, "-3: a\n-2: b\n-1: \n"),
        ] {
            let range = LineRange {
                skipped: 0,
                offset: 0,
                most: 9,
                first_number: Some(first),
            };
            let found = Excerpt::from_reader(
                &Host::new(),
                &RelativePath::default(),
                &b"a\nb\n\n"[..],
                range,
            );
            assert_eq!(found.unwrap().text, expected);
        }
    }

    #[test]
    fn invalid_utf8_is_replaced_and_nul_bytes_are_refused() {
        let latin = excerpt(&b"caf\xE9\n"[..], 1, 1).unwrap();
        assert_eq!((&*latin.text, latin.lossy), ("caf\u{FFFD}\n", true));
        assert!(matches!(
            excerpt(&b"\x7FELF\0"[..], 1, 1),
            Err(FsError::Binary { .. })
        ));
    }
}

#[cfg(test)]
mod tail_tests {
    use std::io::{self, Cursor};

    use super::*;
    use tools::Host;

    fn find(text: &str, count: u64) -> (String, u64) {
        let found = Tail::find(
            &Host::new(),
            &RelativePath::default(),
            Cursor::new(text),
            text.len() as u64,
            count,
        );
        let Tail { start, lines } = found.unwrap();
        (text[start as usize..].to_owned(), lines)
    }

    #[test]
    fn the_last_lines_are_found() {
        for (text, count, expected, lines) in [
            ("", 3, "", 0),
            ("one", 1, "one", 1),
            ("one\n", 1, "one\n", 1),
            ("one\ntwo", 1, "two", 1),
            ("one\ntwo\n", 1, "two\n", 1),
            ("one\ntwo\n", 2, "one\ntwo\n", 2),
            ("one\ntwo\n", 9, "one\ntwo\n", 2),
            ("one\n\n", 1, "\n", 1),
            ("\n\n\n", 2, "\n\n", 2),
        ] {
            assert_eq!(
                find(text, count),
                (expected.to_owned(), lines),
                "{text:?} {count}"
            );
        }
    }

    #[test]
    fn lines_across_blocks_are_found() {
        for width in [
            BLOCK - 2,
            BLOCK - 1,
            BLOCK,
            BLOCK + 1,
            2 * BLOCK - 1,
            2 * BLOCK,
        ] {
            let line = format!("{}\n", "x".repeat(width as usize));
            assert_eq!(find(&line.repeat(3), 2), (line.repeat(2), 2), "{width}");
        }
    }

    #[test]
    fn a_binary_file_is_not_searched_to_its_beginning() {
        let endless = Cursor::new(vec![0; 3 * BLOCK as usize]);
        let found = Tail::find(
            &Host::new(),
            &RelativePath::default(),
            endless,
            3 * BLOCK,
            1,
        );
        assert!(matches!(found, Err(FsError::Binary { .. })));
    }

    /// A file that counts the bytes read.
    struct Counting<R>(R, u64);

    impl<R: Read> Read for Counting<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read as u64;
            Ok(read)
        }
    }

    impl<R: Seek> Seek for Counting<R> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn the_rest_of_the_file_is_not_read() {
        let text = "0123456789\n".repeat(1_000_000);
        let mut file = Counting(Cursor::new(&text), 0);
        let cx = Host::new();
        let found = Tail::find(
            &cx,
            &RelativePath::default(),
            &mut file,
            text.len() as u64,
            3,
        )
        .unwrap();
        assert_eq!(
            found,
            Tail {
                start: text.len() as u64 - 33,
                lines: 3
            }
        );
        assert!(file.1 <= BLOCK, "{} bytes were read", file.1);
    }
}
