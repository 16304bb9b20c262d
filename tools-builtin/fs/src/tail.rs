//! [`Tail`]: the place of the last lines of a file.

use std::io::{Read, Seek, SeekFrom};

use memchr::{memchr, memrchr_iter};
use tools::ToolContext;

use crate::error::FsError;
use crate::path::RelativePath;

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
        let (mut lines, mut at, mut block) =
            (0, size, Vec::with_capacity(BLOCK.min(size) as usize));
        while at > 0 && count > 0 {
            cx.check_cancelled()?;
            let begin = at.saturating_sub(BLOCK);
            file.seek(SeekFrom::Start(begin))
                .map_err(FsError::io(path))?;
            block.clear();
            file.by_ref()
                .take(at - begin)
                .read_to_end(&mut block)
                .map_err(FsError::io(path))?;
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
