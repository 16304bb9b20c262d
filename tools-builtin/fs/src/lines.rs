//! [`LineReader`]: reads and skips lines of any length.

use std::io::BufRead;

use memchr::memchr;
use tools::ToolContext;

use crate::error::FsError;
use crate::path::RelativePath;

/// The number of bytes read between two checks for cancellation.
const UNINTERRUPTED: usize = 64 * 1024;

/// Reads a file line by line. The memory needed does not grow with the file or its lines. Stops if the call is cancelled.
pub(crate) struct LineReader<'a, R> {
    cx: &'a ToolContext,
    path: &'a RelativePath,
    reader: R,
    /// The bytes read since the last check for cancellation.
    unchecked: usize,
}

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadLine {
    /// The file has no further line.
    End,
    /// The line was read with its line ending, which the last line may lack.
    Whole,
    /// The line is longer than the limit. Its rest and its line ending were skipped.
    Cut {
        /// The number of bytes that were skipped.
        omitted: u64,
    },
}

impl<'a, R: BufRead> LineReader<'a, R> {
    pub(crate) fn new(cx: &'a ToolContext, path: &'a RelativePath, reader: R) -> Self {
        Self {
            cx,
            path,
            reader,
            unchecked: 0,
        }
    }

    /// Skips up to `count` lines. Returns the number of lines skipped, which is smaller if the file ends before.
    pub(crate) fn skip(&mut self, count: u64) -> Result<u64, FsError> {
        let mut skipped = 0;
        let mut is_inside = false;
        while skipped < count {
            let block = self.reader.fill_buf().map_err(FsError::io(self.path))?;
            if block.is_empty() {
                return Ok(skipped + u64::from(is_inside));
            }
            let mut used = 0;
            while skipped < count && used < block.len() {
                let end = memchr(b'\n', &block[used..]);
                is_inside = end.is_none();
                skipped += u64::from(!is_inside);
                used = end.map_or(block.len(), |end| used + end + 1);
            }
            self.consume(used)?;
        }
        Ok(skipped)
    }

    /// Skips up to `count` bytes of the current line, not its line ending. Returns the number of bytes skipped, which is smaller if the
    /// line ends before.
    pub(crate) fn skip_in_line(&mut self, count: u64) -> Result<u64, FsError> {
        let mut skipped = 0;
        while skipped < count {
            let block = self.reader.fill_buf().map_err(FsError::io(self.path))?;
            let most = usize::try_from(count - skipped)
                .unwrap_or(usize::MAX)
                .min(block.len());
            let used = memchr(b'\n', &block[..most]).unwrap_or(most);
            self.consume(used)?;
            skipped += used as u64;
            if used == 0 {
                break;
            }
        }
        Ok(skipped)
    }

    /// Appends the next line, or its first `most` bytes if it is longer.
    pub(crate) fn read(&mut self, most: usize, line: &mut Vec<u8>) -> Result<ReadLine, FsError> {
        let mut room = most;
        let mut is_empty = true;
        loop {
            let block = self.reader.fill_buf().map_err(FsError::io(self.path))?;
            if block.is_empty() {
                return Ok(if is_empty {
                    ReadLine::End
                } else {
                    ReadLine::Whole
                });
            }
            is_empty = false;
            let end = memchr(b'\n', &block[..block.len().min(room + 1)]);
            if end.is_none() && block.len() > room {
                line.extend_from_slice(&block[..room]);
                self.consume(room)?;
                return self.skip_rest();
            }
            let used = end.map_or(block.len(), |end| end + 1);
            line.extend_from_slice(&block[..used]);
            self.consume(used)?;
            if end.is_some() {
                return Ok(ReadLine::Whole);
            }
            room -= used;
        }
    }

    /// Returns true if there is a further line.
    pub(crate) fn has_more(&mut self) -> Result<bool, FsError> {
        let block = self.reader.fill_buf().map_err(FsError::io(self.path))?;
        Ok(!block.is_empty())
    }

    /// Skips the rest of a line with its line ending.
    fn skip_rest(&mut self) -> Result<ReadLine, FsError> {
        let mut omitted = 0;
        loop {
            let block = self.reader.fill_buf().map_err(FsError::io(self.path))?;
            let end = memchr(b'\n', block);
            let used = end.map_or(block.len(), |end| end + 1);
            omitted += used as u64;
            self.consume(used)?;
            if end.is_some() || used == 0 {
                return Ok(ReadLine::Cut { omitted });
            }
        }
    }

    fn consume(&mut self, bytes: usize) -> Result<(), FsError> {
        self.reader.consume(bytes);
        self.unchecked += bytes;
        if self.unchecked >= UNINTERRUPTED {
            self.unchecked = 0;
            self.cx.check_cancelled()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;
    use tools::Host;

    /// Returns the lines of a text, each cut after `most` bytes, read in blocks of `block` bytes.
    fn read(text: &str, most: usize, block: usize) -> Vec<(Vec<u8>, ReadLine)> {
        let (cx, path) = (Host::new(), RelativePath::default());
        let mut reader =
            LineReader::new(&cx, &path, BufReader::with_capacity(block, text.as_bytes()));
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            match reader.read(most, &mut line).unwrap() {
                ReadLine::End => return lines,
                outcome => lines.push((line, outcome)),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_do_not_depend_on_the_blocks(text in "[a\n]{0,40}", most in 1_usize..6, block in 1_usize..9) {
            let expected: Vec<_> = text
                .split_inclusive('\n')
                .map(|line| if line.trim_end_matches('\n').len() > most { (line.as_bytes()[..most].to_vec(), ReadLine::Cut { omitted: (line.len() - most) as u64 }) } else { (line.as_bytes().to_vec(), ReadLine::Whole) })
                .collect();
            prop_assert_eq!(read(&text, most, block), expected);
        }

        #[test]
        fn skipping_counts_as_many_lines_as_reading(text in "[a\n]{0,40}", count in 0_u64..10, block in 1_usize..9) {
            let (cx, path) = (Host::new(), RelativePath::default());
            let mut reader = LineReader::new(&cx, &path, BufReader::with_capacity(block, text.as_bytes()));
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            let skipped = reader.skip(count).unwrap();
            prop_assert_eq!(skipped, count.min(lines.len() as u64));
            let mut next = Vec::new();
            reader.read(100, &mut next).unwrap();
            prop_assert_eq!(next, lines.get(skipped as usize).unwrap_or(&"").as_bytes());
        }
    }

    #[test]
    fn a_call_that_was_cancelled_stops_in_the_middle_of_a_line() {
        let (cx, path) = (Host::new(), RelativePath::default());
        cx.cancellation().cancel();
        let reader = || LineReader::new(&cx, &path, BufReader::new(std::io::repeat(b'x')));
        assert!(matches!(reader().skip(1), Err(FsError::Pipeline(_))));
        assert!(matches!(
            reader().read(1, &mut Vec::new()),
            Err(FsError::Pipeline(_))
        ));
    }
}
