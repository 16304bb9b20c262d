//! [`Ring`]: the latest output of a program that runs in the background.

use std::collections::VecDeque;

use super::character::{torn_end, torn_start};
use super::collect::Collect;

/// Keeps the latest bytes of a stream until they are read, and counts those that had to make room.
#[derive(Clone, Debug)]
pub struct Ring {
    limit: usize,
    unread: VecDeque<u8>,
    skipped: u64,
    finished: bool,
}

/// The output since the last read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recent {
    /// The number of bytes before `text` that are lost, because more came than is kept.
    pub skipped: u64,
    /// The text. Bytes that are not UTF-8 become U+FFFD.
    pub text: String,
    /// True if no bytes follow.
    pub finished: bool,
}

impl Ring {
    /// Keeps at most `limit` unread bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            unread: VecDeque::new(),
            skipped: 0,
            finished: false,
        }
    }

    /// Takes the bytes since the last read. A character whose end has not come yet is left for the next read.
    pub fn read(&mut self) -> Recent {
        let bytes = self.unread.make_contiguous();
        let start = if self.skipped > 0 {
            torn_start(bytes)
        } else {
            0
        };
        let end = bytes.len()
            - if self.finished {
                0
            } else {
                torn_end(&bytes[start..])
            };
        let text = String::from_utf8_lossy(&bytes[start..end]).into_owned();
        self.unread.drain(..end);
        let skipped = std::mem::take(&mut self.skipped) + start as u64;
        Recent {
            skipped,
            text,
            finished: self.finished,
        }
    }
}

impl Collect for Ring {
    fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.unread.len() + kept.len()).saturating_sub(self.limit);
        self.skipped += (bytes.len() - kept.len() + excess) as u64;
        self.unread.drain(..excess);
        self.unread.extend(kept);
    }

    fn finish(&mut self) {
        self.finished = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_read_gives_the_bytes_since_the_last_one() {
        let mut ring = Ring::new(10);
        ring.push(b"one");
        ring.push(b" two");
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 0,
                text: "one two".into(),
                finished: false
            }
        );
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 0,
                text: String::new(),
                finished: false
            }
        );
        ring.push(b"3");
        ring.finish();
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 0,
                text: "3".into(),
                finished: true
            }
        );
    }

    #[test]
    fn the_latest_bytes_are_kept_and_the_others_counted() {
        let mut ring = Ring::new(4);
        ring.push(b"abc");
        ring.push(b"def");
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 2,
                text: "cdef".into(),
                finished: false
            }
        );
        ring.push(b"0123456789");
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 6,
                text: "6789".into(),
                finished: false
            }
        );
    }

    #[test]
    fn a_character_is_not_split_between_two_reads() {
        let mut ring = Ring::new(100);
        let bytes = "🦀".as_bytes();
        ring.push(&bytes[..3]);
        assert_eq!(ring.read().text, "");
        ring.push(&bytes[3..]);
        assert_eq!(ring.read().text, "🦀");
        ring.push(&bytes[..3]);
        ring.finish();
        assert_eq!(ring.read().text, "\u{FFFD}");
    }

    #[test]
    fn a_character_is_not_split_where_bytes_were_skipped() {
        let mut ring = Ring::new(6);
        ring.push("🦀🦀".as_bytes());
        assert_eq!(
            ring.read(),
            Recent {
                skipped: 4,
                text: "🦀".into(),
                finished: false
            }
        );
    }
}
