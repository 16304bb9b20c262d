//! [`Capture`]: the beginning and the end of an output stream.

use std::collections::VecDeque;

use super::character::{torn_end, torn_start};
use super::collect::Collect;

/// Keeps the beginning and the end of a stream, together at most a limit of bytes, and counts the others.
#[derive(Clone, Debug)]
pub struct Capture {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// The text of a [`Capture`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// The beginning, or everything if nothing was left out.
    pub head: String,
    /// The number of bytes between head and tail.
    pub left_out: u64,
    /// The end. Empty if nothing was left out.
    pub tail: String,
}

impl Capture {
    /// Keeps at most `limit` bytes, half of them from the end.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
        }
    }

    /// Returns the text so far. Bytes that are not UTF-8 become U+FFFD; a character that a limit would split is left out.
    pub fn to_text(&self) -> Captured {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        let left_out = self.total - (self.head.len() + tail.len()) as u64;
        if left_out == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return Captured {
                head: lossy(&whole),
                left_out,
                tail: String::new(),
            };
        }
        let (end, start) = (torn_end(&self.head), torn_start(&tail));
        Captured {
            head: lossy(&self.head[..self.head.len() - end]),
            left_out: left_out + (end + start) as u64,
            tail: lossy(&tail[start..]),
        }
    }

    fn tail_limit(&self) -> usize {
        self.limit / 2
    }
}

impl Collect for Capture {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.limit - self.tail_limit()).saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);

        let kept = &rest[rest.len().saturating_sub(self.tail_limit())..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit());
        self.tail.drain(..excess);
        self.tail.extend(kept);
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, chunks: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        chunks.iter().for_each(|chunk| capture.push(chunk));
        assert!(capture.head.len() + capture.tail.len() <= limit);
        capture.to_text()
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let whole = Captured {
            head: "h🦀llo world".into(),
            left_out: 0,
            tail: String::new(),
        };
        let bytes = whole.head.as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(
                captured(bytes.len(), &[&bytes[..cut], &bytes[cut..]]),
                whole
            );
        }
    }

    #[test]
    fn a_long_stream_keeps_its_ends_however_it_is_cut() {
        let bytes: Vec<u8> = (0..200u8).map(|at| b'a' + at % 26).collect();
        for size in [1, 3, 7, 10, 11, 50, 200] {
            let chunks: Vec<_> = bytes.chunks(size).collect();
            let text = captured(21, &chunks);
            assert_eq!(
                (text.head.as_bytes(), text.tail.as_bytes()),
                (&bytes[..11], &bytes[190..]),
                "chunks of {size}"
            );
            assert_eq!(text.left_out, 179);
        }
    }

    #[test]
    fn a_limit_inside_a_character_leaves_the_character_out() {
        let text = captured(10, &["🦀".repeat(10).as_bytes()]);
        assert_eq!(
            text,
            Captured {
                head: "🦀".into(),
                left_out: 32,
                tail: "🦀".into()
            }
        );
    }

    #[test]
    fn a_limit_of_nothing_counts() {
        assert_eq!(
            captured(0, &[b"abc"]),
            Captured {
                head: String::new(),
                left_out: 3,
                tail: String::new()
            }
        );
        assert_eq!(captured(1, &[b"abc"]).left_out, 2);
    }
}
