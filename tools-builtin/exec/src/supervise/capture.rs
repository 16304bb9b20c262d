//! [`Capture`]: the beginning and the end of an output stream.

use std::collections::VecDeque;
use std::task::{Context, Poll};

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
        let end = torn_end(&self.head);
        let start = torn_start(&tail);
        Captured {
            head: lossy(&self.head[..self.head.len() - end]),
            left_out: left_out + (end + start) as u64,
            tail: lossy(&tail[start..]),
        }
    }

    /// Returns the number of bytes so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the last bytes, at most so many.
    pub fn last_bytes(&self, most: usize) -> Vec<u8> {
        let kept = self.tail.len() + self.head.len();
        let all = self.head.iter().chain(&self.tail);
        all.skip(kept.saturating_sub(most)).copied().collect()
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

/// The bytes of the longest character.
const LONGEST: usize = 4;

/// Returns the number of bytes at the beginning that belong to a character before it.
pub(super) fn torn_start(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(LONGEST - 1)
        .take_while(|byte| is_continuation(**byte))
        .count()
}

/// Returns the number of bytes at the end that belong to a character which is not complete.
pub(super) fn torn_end(bytes: &[u8]) -> usize {
    let Some(back) = bytes
        .iter()
        .rev()
        .take(LONGEST)
        .position(|byte| !is_continuation(*byte))
    else {
        return 0;
    };
    let length = match bytes[bytes.len() - 1 - back] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if back + 1 < length { back + 1 } else { 0 }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

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

/// Receives one output stream of a program.
pub trait Collect: Send + 'static {
    /// Returns ready if the next bytes may come. Until then they stay in the pipe, so that a program which writes more waits. After the
    /// program's end, the bytes in the pipe come at once.
    ///
    /// A collector that is always ready, which is the default, decides how many bytes it keeps.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Takes the next bytes. Must not block.
    fn push(&mut self, bytes: &[u8]);

    /// Notes that no bytes follow.
    fn finish(&mut self) {}
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

#[cfg(test)]
mod character_tests {
    use super::*;

    #[test]
    fn a_cut_inside_a_character_is_seen_from_both_sides() {
        for character in ["a", "é", "€", "🦀"] {
            let text = format!("x{character}y");
            for cut in 0..=text.len() {
                let (before, after) = text.as_bytes().split_at(cut);
                let boundary = |at: &usize| text.is_char_boundary(*at);
                let (kept, next) = (
                    (0..=cut).rev().find(boundary),
                    (cut..=text.len()).find(boundary),
                );
                assert_eq!(
                    Some(before.len() - torn_end(before)),
                    kept,
                    "{text} cut at {cut}"
                );
                assert_eq!(Some(cut + torn_start(after)), next, "{text} cut at {cut}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_not_withheld() {
        assert_eq!(torn_end(&[0xFF]), 0);
        assert_eq!(torn_end(&[0x80, 0x80, 0x80, 0x80, 0x80]), 0);
        assert_eq!(torn_start(&[0x80; 9]), 3);
    }
}

#[cfg(test)]
mod ring_tests {
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
