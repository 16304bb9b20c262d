//! [`BoundedText`]: a writer that keeps the head and the tail of a text.

use std::collections::VecDeque;
use std::fmt;
use std::io;

use crate::{IntoToolResult, ToolContext, ToolError, ToolResult, text_ends};

/// The bytes reserved for the line between head and tail. It fits with any 64-bit number.
const GAP: usize = 96;

/// A writer that accepts text of any length and keeps at most `limit` bytes of it, in bounded memory.
///
/// A longer text keeps its head and its tail, with a line between them that says how many bytes are missing.
///
/// Use it in tools that forward the output of a process or a server: write all of it, so that the sender is not blocked, and return
/// the `BoundedText`. The pipeline truncates results too, but only after the tool has built them in memory.
///
/// ```
/// use std::io::Write;
/// use tools::BoundedText;
///
/// let mut text = BoundedText::new(1000);
/// for line in 0..1_000_000 {
///     writeln!(text, "line {line}")?;
/// }
/// assert_eq!(text.total(), 11_888_890);
/// let text = text.into_text();
/// assert!(text.len() <= 1000);
/// assert!(text.starts_with("line 0\n") && text.ends_with("line 999999\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BoundedText {
    limit: usize,
    total: u64,
    /// The whole text while it is within the limit, then its first half.
    head: Vec<u8>,
    /// The end of a text that is over the limit.
    tail: VecDeque<u8>,
}

impl BoundedText {
    /// Creates a writer that keeps at most `limit` bytes, including the line about missing bytes. If `limit` is too small for that
    /// line, a longer text is replaced by the line alone.
    pub fn new(limit: usize) -> Self {
        Self { limit, total: 0, head: Vec::new(), tail: VecDeque::new() }
    }

    /// Creates a writer with the output limit of the running call. Outside of a call the limit is 64 KiB.
    pub fn for_call(cx: &ToolContext) -> Self {
        let own = cx.call().and_then(|call| call.entry.tool().limits.max_output_bytes);
        Self::new(usize::try_from(own.unwrap_or(protocol::Limits::DEFAULT_MAX_OUTPUT_BYTES)).unwrap_or(usize::MAX))
    }

    /// Appends bytes.
    pub fn push(&mut self, piece: impl AsRef<[u8]>) {
        let piece = piece.as_ref();
        self.total = self.total.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if !self.is_over() {
            return self.head.extend_from_slice(piece);
        }
        let half = self.half();
        let room = half.saturating_sub(self.head.len()).min(piece.len());
        let (first, rest) = piece.split_at(room);
        self.head.extend_from_slice(first);
        // Until now the head held the whole text; a truncated one has a shorter head.
        let surplus = self.head.split_off(self.head.len().min(half));
        self.keep(&surplus);
        self.keep(rest);
    }

    /// Returns the number of bytes written.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns true if more bytes were written than the limit allows.
    pub fn is_over(&self) -> bool {
        self.total > u64::try_from(self.limit).unwrap_or(u64::MAX)
    }

    /// Returns the kept text. Invalid UTF-8 is replaced, and no character is split.
    pub fn into_text(self) -> String {
        if !self.is_over() {
            // A replacement character takes three bytes, so the text may have grown beyond the limit.
            let text = String::from_utf8_lossy(&self.head).into_owned();
            return if text.len() > self.limit { Self::from_text(&text, self.limit).into_text() } else { text };
        }
        let (half, tail) = (self.half(), Vec::from(self.tail));
        let tail = &tail[tail.iter().take(3).take_while(|byte| is_inside_character(**byte)).count()..];
        let (head, tail) = (String::from_utf8_lossy(whole_characters(&self.head)), String::from_utf8_lossy(tail));
        // Replacement characters may have grown the text here too; the cut bytes count as missing.
        joined(text_ends::head(&head, half), text_ends::tail(&tail, half), self.total)
    }

    fn from_text(text: &str, limit: usize) -> Self {
        let mut bounded = Self::new(limit);
        bounded.push(text);
        bounded
    }

    /// Returns the number of bytes kept at each end.
    fn half(&self) -> usize {
        self.limit.saturating_sub(GAP) / 2
    }

    /// Appends to the tail and drops its oldest bytes beyond the limit.
    fn keep(&mut self, piece: &[u8]) {
        let half = self.half();
        let piece = &piece[piece.len().saturating_sub(half)..];
        let surplus = (self.tail.len() + piece.len()).saturating_sub(half);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(piece);
    }
}

impl io::Write for BoundedText {
    /// Accepts all bytes; never fails.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.push(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<BoundedText> for ToolResult {
    fn from(text: BoundedText) -> Self {
        Self::text(text.into_text())
    }
}

impl IntoToolResult for BoundedText {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self.into())
    }
}

impl fmt::Debug for BoundedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedText").field("limit", &self.limit).field("total", &self.total).finish_non_exhaustive()
    }
}

fn joined(head: &str, tail: &str, total: u64) -> String {
    let kept = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
    let missing = total.saturating_sub(kept);
    let unit = if missing == 1 { "byte" } else { "bytes" };
    format!("{head}\n[… {missing} {unit} left out: the text is over its limit …]\n{tail}")
}

/// Returns the bytes without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

fn is_inside_character(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_within_the_limit_stays_whole() {
        for length in [0, 1, 999, 1000] {
            let text = "x".repeat(length);
            assert_eq!(BoundedText::from_text(&text, 1000).into_text(), text);
        }
        assert!(BoundedText::from_text(&"x".repeat(1001), 1000).into_text().contains("bytes left out"));
    }

    #[test]
    fn a_limit_without_room_keeps_the_line_alone() {
        let text = BoundedText::from_text(&"x".repeat(100), 10).into_text();
        assert_eq!(text, "\n[… 100 bytes left out: the text is over its limit …]\n");
        assert!(BoundedText::from_text("x", 0).into_text().contains("[… 1 byte left out"));
    }

    #[test]
    fn the_line_fits_with_the_largest_number() {
        assert!(joined("", "", u64::MAX).len() <= GAP);
    }

    #[test]
    fn invalid_utf8_stays_within_the_limit() {
        for bytes in [vec![0xff; 900], vec![0xff; 100_000]] {
            let mut text = BoundedText::new(1000);
            text.push(&bytes);
            let text = text.into_text();
            assert!(text.len() <= 1000 && text.contains('\u{fffd}'), "{}", text.len());
        }
    }

    proptest! {
        #[test]
        fn the_head_and_the_tail_do_not_depend_on_the_pieces(
            pieces in prop::collection::vec("(\\PC|ä|語|🦀){0,40}", 0..30),
            limit in 100_usize..600,
        ) {
            let whole = pieces.concat();
            let mut text = BoundedText::new(limit);
            pieces.iter().for_each(|piece| text.push(piece));
            prop_assert_eq!(text.total(), whole.len() as u64);
            let text = text.into_text();
            prop_assert!(text.len() <= limit);
            if whole.len() <= limit {
                prop_assert_eq!(text, whole);
            } else {
                let (head, rest) = text.split_once("\n[… ").unwrap();
                let (missing, tail) = rest.split_once(" bytes left out: the text is over its limit …]\n").unwrap();
                prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
                prop_assert_eq!(missing.parse::<usize>().unwrap() + head.len() + tail.len(), whole.len());
                // No more than a character is lost at each cut.
                let half = (limit - GAP) / 2;
                prop_assert!(head.len() + 3 >= half && tail.len() + 3 >= half);
            }
        }
    }
}
