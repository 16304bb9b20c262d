//! [`Lines`]: splits a stream into lines of bounded length.

/// The memory that is kept for the next line, in bytes.
const KEPT: usize = 64 * 1024;

/// Splits a stream into lines. The part of a line beyond the limit is left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    limit: usize,
    /// The line without an end.
    pub(super) line: Vec<u8>,
    /// The length of the line so far, with the part that is left out.
    length: usize,
}

impl Lines {
    /// Keeps at most `limit` bytes of each line.
    pub(super) fn cut_at(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Takes bytes, and calls `each` with each line that they end, without its end, and whether a part of it was left out.
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8], bool)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if self.length == 0 && end <= self.limit {
                each(&rest[..end], false);
            } else {
                self.append(&rest[..end]);
                each(&self.line, self.is_over());
            }
            self.line.clear();
            self.line.shrink_to(KEPT);
            self.length = 0;
            rest = &rest[end + 1..];
        }
        self.append(rest);
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = self.limit - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len();
    }

    /// Returns true if the line without an end is longer than the limit.
    pub(super) fn is_over(&self) -> bool {
        self.length > self.limit
    }

    /// Takes the line without an end. Returns `None` if it is empty.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        self.length = 0;
        Some(std::mem::take(&mut self.line)).filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_stream_is_cut() {
        let stream = b"one\n\ntwo\r\nthree is long\nfour";
        for size in 1..=stream.len() {
            let (mut lines, mut seen) = (Lines::cut_at(7), Vec::new());
            for chunk in stream.chunks(size) {
                lines.push(chunk, |line, is_cut| {
                    seen.push((String::from_utf8_lossy(line).into_owned(), is_cut))
                });
            }
            let seen: Vec<_> = seen
                .iter()
                .map(|(line, is_cut)| (&**line, *is_cut))
                .collect();
            assert_eq!(
                seen,
                [
                    ("one", false),
                    ("", false),
                    ("two\r", false),
                    ("three i", true)
                ],
                "{size}"
            );
            assert_eq!(
                (lines.is_over(), lines.rest(), lines.rest()),
                (false, Some(b"four".to_vec()), None)
            );
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_noticed_before_its_end_and_not_kept() {
        let mut lines = Lines::cut_at(4);
        lines.push(b"abcd", |_, _| unreachable!());
        assert!(!lines.is_over());
        lines.push(b"e", |_, _| unreachable!());
        assert!(lines.is_over() && lines.line.len() == 4);
    }
}
