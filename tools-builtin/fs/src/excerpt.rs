//! [`Excerpt`]: some lines of a file, whatever its size.

use std::io::{self, BufRead, Read, Take};

use tools::ToolContext;

use crate::encoding::MAX_SEARCHED;
use crate::error::FsError;
use crate::path::RelativePath;

/// How much text an excerpt has, in bytes: the line that passes this is its last.
const MAX_TEXT: usize = 48 * 1024;

/// How much of one line is shown, in bytes.
const MAX_LINE: u64 = 4 * 1024;

/// Some lines of a file. The memory that it takes to make one does not grow with the file or its lines.
#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    /// The lines with their ends, as they are in the file.
    pub(crate) text: String,
    /// How many there are.
    pub(crate) lines: u64,
    /// How many of them have lost their ends for being too long.
    pub(crate) cut: u64,
    /// Whether the file goes on after them.
    pub(crate) more: bool,
    /// Whether bytes that are not UTF-8 were replaced.
    pub(crate) lossy: bool,
}

impl Excerpt {
    /// The lines from `start` to `end`, both included, counted from 1, or as many of them as fit. An empty file has an empty
    /// excerpt, whatever the range.
    pub(crate) fn of(
        cx: &ToolContext,
        path: &RelativePath,
        file: impl BufRead,
        start: u64,
        end: u64,
    ) -> Result<Self, FsError> {
        let mut reader = file.take(MAX_SEARCHED);
        for line in 1..start {
            // Not for every line: asking takes longer than passing over a short one.
            if line % 1024 == 0 {
                cx.check_cancelled()?;
            }
            if reader.skip_until(b'\n').map_err(FsError::io(path))? == 0 {
                return Self::nothing(path, &mut reader, line - 1, start);
            }
        }
        let ahead = reader.fill_buf().map_err(FsError::io(path))?.len();
        let (mut lines, mut cut, mut bytes) = (0, 0, Vec::with_capacity(ahead.min(MAX_TEXT)));
        while start + lines <= end && bytes.len() < MAX_TEXT {
            match append_line(&mut reader, &mut bytes).map_err(FsError::io(path))? {
                Line::None if lines == 0 => return Self::nothing(path, &mut reader, start - 1, start),
                Line::None => break,
                Line::Whole => {}
                Line::Cut => cut += 1,
            }
            lines += 1;
        }
        if bytes.contains(&0) {
            return Err(FsError::Binary { path: path.clone() });
        }
        let more = goes_on(&mut reader).map_err(FsError::io(path))?;
        // A range of lines may be much shorter than what was read ahead.
        bytes.shrink_to_fit();
        let (text, lossy) = match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        Ok(Self { text, lines, cut, more, lossy })
    }

    /// What there is to say when nothing comes after `lines` lines.
    fn nothing(path: &RelativePath, reader: &mut Take<impl BufRead>, lines: u64, start: u64) -> Result<Self, FsError> {
        let path = path.clone();
        if goes_on(reader).map_err(FsError::io(&path))? {
            Err(FsError::TooFar { path, start, limit: MAX_SEARCHED })
        } else if lines > 0 {
            Err(FsError::PastTheEnd { path, lines, start })
        } else {
            Ok(Self::default())
        }
    }
}

enum Line {
    None,
    Whole,
    Cut,
}

/// Appends the next line, or, of one that is too long, the beginning and a mark.
fn append_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Line> {
    let begin = bytes.len();
    let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', bytes)?;
    if read == 0 {
        return Ok(Line::None);
    }
    if bytes.ends_with(b"\n") || (read as u64) < MAX_LINE {
        return Ok(Line::Whole);
    }
    match reader.fill_buf()?.first() {
        None => Ok(Line::Whole),
        Some(b'\n') => {
            reader.consume(1);
            bytes.push(b'\n');
            Ok(Line::Whole)
        }
        Some(_) => {
            drop_partial_character(bytes, begin);
            let left_out = reader.skip_until(b'\n')?;
            bytes.extend_from_slice(format!(" [… {left_out} bytes of this line left out …]\n").as_bytes());
            Ok(Line::Cut)
        }
    }
}

/// Takes off the first bytes of a character whose last ones were cut off.
fn drop_partial_character(bytes: &mut Vec<u8>, begin: usize) {
    if let Err(error) = std::str::from_utf8(&bytes[begin..])
        && error.error_len().is_none()
    {
        bytes.truncate(begin + error.valid_up_to());
    }
}

/// Whether there is more of the file, be it searched or not.
fn goes_on(reader: &mut Take<impl BufRead>) -> io::Result<bool> {
    if reader.limit() == 0 {
        // The file may end right where it is searched no further.
        reader.set_limit(1);
    }
    Ok(!reader.fill_buf()?.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn excerpt(file: impl Read, start: u64, end: u64) -> Result<Excerpt, FsError> {
        Excerpt::of(&ToolContext::new(), &RelativePath::default(), BufReader::new(file), start, end)
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
            assert_eq!((&*excerpt.text, excerpt.lines, excerpt.more), (text, lines, more), "{start} to {end}");
        }
    }

    #[test]
    fn a_start_past_the_end_is_told_the_last_line() {
        for (text, start, last) in [("a\nb\n", 3, 2), ("a\nb", 3, 2), ("a", 900, 1)] {
            let error = excerpt(text.as_bytes(), start, u64::MAX).unwrap_err();
            assert!(matches!(error, FsError::PastTheEnd { lines, .. } if lines == last), "{text:?}");
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
        let text = format!("{}\n{}\nend", "é".repeat(5_000), "x".repeat(MAX_LINE as usize));
        let excerpt = excerpt(text.as_bytes(), 1, u64::MAX).unwrap();
        let lines: Vec<&str> = excerpt.text.lines().collect();
        assert_eq!(lines[0], format!("{} [… 5905 bytes of this line left out …]", "é".repeat(2048)));
        assert_eq!(lines[1..], ["x".repeat(MAX_LINE as usize), "end".to_owned()]);
        assert_eq!((excerpt.cut, excerpt.lossy), (1, false));
    }

    #[test]
    fn a_file_without_an_end_is_searched_so_far() {
        let first = excerpt(io::repeat(b'x'), 1, u64::MAX).unwrap();
        assert!(first.more && first.lines == 1 && first.text.len() < 5_000);
        assert!(matches!(excerpt(io::repeat(b'x'), 2, 2), Err(FsError::TooFar { start: 2, .. })));
    }

    #[test]
    fn a_file_that_ends_where_searching_ends_does_not_go_on() {
        const LINE: usize = 4096;
        let line = [&[b'y'; LINE - 1], &b"\n"[..]].concat();
        let last = MAX_SEARCHED / LINE as u64;
        let whole = line.repeat(last as usize);
        for (more, goes_on) in [(&b""[..], false), (b"x", true)] {
            let excerpt = excerpt(whole.chain(more), last, u64::MAX).unwrap();
            assert_eq!((excerpt.text.as_bytes(), excerpt.more), (&*line, goes_on), "{more:?}");
        }
        let past = excerpt(&*whole, last + 1, u64::MAX).unwrap_err();
        assert!(matches!(past, FsError::PastTheEnd { lines, .. } if lines == last), "{past}");
    }

    #[test]
    fn what_is_not_utf8_is_replaced_and_what_has_nul_refused() {
        let latin = excerpt(&b"caf\xE9\n"[..], 1, 1).unwrap();
        assert_eq!((&*latin.text, latin.lossy), ("caf\u{FFFD}\n", true));
        assert!(matches!(excerpt(&b"\x7FELF\0"[..], 1, 1), Err(FsError::Binary { .. })));
    }

    #[test]
    fn a_call_that_was_taken_back_stops_searching() {
        let cx = ToolContext::new();
        cx.cancellation().cancel();
        let lines = BufReader::new(io::repeat(b'\n'));
        let refused = Excerpt::of(&cx, &RelativePath::default(), lines, 5_000, 5_000);
        assert!(matches!(refused, Err(FsError::Refused(_))));
    }
}
