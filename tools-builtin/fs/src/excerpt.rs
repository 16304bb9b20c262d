//! [`Excerpt`]: a range of lines of a file of any size.

use std::io::{self, BufRead, Read, Take};

use tools::ToolContext;

use crate::counted::counted;
use crate::encoding::MAX_SEARCHED;
use crate::error::FsError;
use crate::path::RelativePath;

/// The size of an excerpt in bytes at which it ends. The last line may exceed it.
const MAX_TEXT: usize = 48 * 1024;

/// The number of bytes of a line that are shown.
const MAX_LINE: u64 = 4 * 1024;

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
    /// True if bytes that are not UTF-8 were replaced.
    pub(crate) lossy: bool,
}

impl Excerpt {
    /// Reads the lines from `start` to `end` inclusive, counted from 1, or as many as fit.
    ///
    /// # Errors
    /// Returns an error if `start` is after the last line, unless the file is empty, or beyond [`MAX_SEARCHED`].
    pub(crate) fn from_reader(
        cx: &ToolContext,
        path: &RelativePath,
        file: impl BufRead,
        start: u64,
        end: u64,
    ) -> Result<Self, FsError> {
        let mut reader = file.take(MAX_SEARCHED);
        for line in 1..start {
            // Not on every line: the check takes longer than skipping a short one.
            if line % 1024 == 0 {
                cx.check_cancelled()?;
            }
            if reader.skip_until(b'\n').map_err(FsError::io(path))? == 0 {
                return Self::without_lines(path, &mut reader, line - 1, start);
            }
        }
        let ahead = reader.fill_buf().map_err(FsError::io(path))?.len();
        let (mut lines, mut cut, mut bytes) = (0, 0, Vec::with_capacity(ahead.min(MAX_TEXT)));
        while start + lines <= end && bytes.len() < MAX_TEXT {
            match append_line(&mut reader, &mut bytes).map_err(FsError::io(path))? {
                ReadLine::End if lines == 0 => return Self::without_lines(path, &mut reader, start - 1, start),
                ReadLine::End => break,
                ReadLine::Whole => {}
                ReadLine::Cut => cut += 1,
            }
            lines += 1;
        }
        if bytes.contains(&0) {
            return Err(FsError::Binary { path: path.clone() });
        }
        let more = goes_on(&mut reader).map_err(FsError::io(path))?;
        // The excerpt may be much shorter than the read-ahead.
        bytes.shrink_to_fit();
        let (text, lossy) = match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        Ok(Self { text, lines, cut, more, lossy })
    }

    /// Returns the result for a `start` after the last of `lines` lines.
    fn without_lines(
        path: &RelativePath,
        reader: &mut Take<impl BufRead>,
        lines: u64,
        start: u64,
    ) -> Result<Self, FsError> {
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

/// The result of reading a line.
enum ReadLine {
    End,
    Whole,
    Cut,
}

/// Appends the next line. Truncates a long line and appends a mark.
fn append_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<ReadLine> {
    let begin = bytes.len();
    let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', bytes)?;
    if read == 0 {
        return Ok(ReadLine::End);
    }
    if bytes.ends_with(b"\n") || (read as u64) < MAX_LINE {
        return Ok(ReadLine::Whole);
    }
    match reader.fill_buf()?.first() {
        None => Ok(ReadLine::Whole),
        Some(b'\n') => {
            reader.consume(1);
            bytes.push(b'\n');
            Ok(ReadLine::Whole)
        }
        Some(_) => {
            drop_partial_character(bytes, begin);
            let omitted = reader.skip_until(b'\n')?;
            let omitted = counted(omitted, "byte", "bytes");
            bytes.extend_from_slice(format!(" [… {omitted} of this line left out …]\n").as_bytes());
            Ok(ReadLine::Cut)
        }
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

/// Returns true if the file has more bytes, even beyond the limit of the reader.
fn goes_on(reader: &mut Take<impl BufRead>) -> io::Result<bool> {
    if reader.limit() == 0 {
        // The file may end exactly at the limit.
        reader.set_limit(1);
    }
    Ok(!reader.fill_buf()?.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn excerpt(file: impl Read, start: u64, end: u64) -> Result<Excerpt, FsError> {
        Excerpt::from_reader(&ToolContext::new(), &RelativePath::default(), BufReader::new(file), start, end)
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
    fn a_start_after_the_end_is_refused_with_the_last_line() {
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
    fn invalid_utf8_is_replaced_and_nul_bytes_are_refused() {
        let latin = excerpt(&b"caf\xE9\n"[..], 1, 1).unwrap();
        assert_eq!((&*latin.text, latin.lossy), ("caf\u{FFFD}\n", true));
        assert!(matches!(excerpt(&b"\x7FELF\0"[..], 1, 1), Err(FsError::Binary { .. })));
    }

    #[test]
    fn a_call_that_was_cancelled_stops_searching() {
        let cx = ToolContext::new();
        cx.cancellation().cancel();
        let lines = BufReader::new(io::repeat(b'\n'));
        let refused = Excerpt::from_reader(&cx, &RelativePath::default(), lines, 5_000, 5_000);
        assert!(matches!(refused, Err(FsError::Pipeline(_))));
    }
}
