//! [`View`]: the text of a file as a model sees it, mapped to the bytes of the file.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use tools_text::MARK;

use crate::text_style::LineEnding;

/// The text of a file as a model sees it, with a mapping from text offsets to byte offsets.
///
/// In the text, lines end with LF, bytes that are not UTF-8 are U+FFFD, and a byte order mark is omitted.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) text: Cow<'a, str>,
    /// The most common line ending of the file.
    pub(crate) line_end: Option<LineEnding>,
    /// The length of the byte order mark.
    mark: usize,
    /// The ends of the pieces with different lengths in text and file.
    seams: Vec<Seam>,
}

/// The end of a piece that has different lengths in text and file. `u32` saves memory: nearly every byte may be such a piece, and
/// edited files are small enough.
#[derive(Clone, Copy, Debug)]
struct Seam {
    text: u32,
    bytes: u32,
}

impl<'a> View<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mark = if bytes.starts_with(MARK.as_bytes()) {
            MARK.len()
        } else {
            0
        };
        let line_end = LineEnding::detect(bytes);
        let mut view = Self {
            bytes,
            text: Cow::default(),
            line_end,
            mark,
            seams: Vec::new(),
        };
        let bytes = &bytes[mark..];
        if memchr(b'\r', bytes).is_none()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            view.text = text.into();
            return view;
        }
        let mut text = String::with_capacity(bytes.len());
        let mut at = mark;
        for chunk in bytes.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(end) = memmem::find(rest.as_bytes(), b"\r\n") {
                text.push_str(&rest[..end]);
                text.push('\n');
                at += end + 2;
                rest = &rest[end + 2..];
                view.close(&text, at);
            }
            text.push_str(rest);
            at += rest.len();
            if !chunk.invalid().is_empty() {
                at += chunk.invalid().len();
                text.push(char::REPLACEMENT_CHARACTER);
                view.close(&text, at);
            }
        }
        if line_end == Some(LineEnding::Cr) {
            text = text.replace('\r', "\n");
        }
        view.text = text.into();
        view
    }

    fn close(&mut self, text: &str, bytes: usize) {
        self.seams.push(Seam {
            text: text.len() as u32,
            bytes: bytes as u32,
        });
    }

    /// Converts a text offset to a byte offset. An offset before a line ending maps to its first byte.
    pub(crate) fn offset(&self, at: usize) -> usize {
        match self.seams.partition_point(|seam| seam.text as usize <= at) {
            0 => self.mark + at,
            count => {
                self.seams[count - 1].bytes as usize + at - self.seams[count - 1].text as usize
            }
        }
    }

    /// Returns the end offsets of the replacement characters for bytes that are not UTF-8.
    pub(crate) fn replaced_bytes(&self) -> impl Iterator<Item = usize> + Clone {
        // A seam is a line ending or invalid bytes; only a line ending ends with LF.
        let seams = self.seams.iter();
        let invalid = seams.filter(|seam| self.bytes[seam.bytes as usize - 1] != b'\n');
        invalid.map(|seam| seam.text as usize)
    }

    /// Returns true if the file is valid UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.replaced_bytes().next().is_none()
    }

    /// Converts an argument to the form of the text. Removes the byte order mark of the file and a trailing CR, as in lines that were
    /// split at LF.
    pub(crate) fn argument(&self, text: &str) -> String {
        let unmarked = text.strip_prefix(MARK).filter(|_| self.mark > 0);
        let line_end = self.line_end.unwrap_or(LineEnding::Lf);
        let text = line_end.to_lf(unmarked.unwrap_or(text));
        text.strip_suffix('\r').map_or(text.clone(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_text_is_one_in_the_bytes() {
        let bytes = b"\xEF\xBB\xBFa\r\nb\xFFc\r\n\xE2\x82\r\n\r\n\xC3\xA9";
        let view = View::new(bytes);
        assert_eq!(view.text, "a\nb\u{FFFD}c\n\u{FFFD}\n\n\u{E9}");
        let offsets: Vec<_> = view
            .text
            .char_indices()
            .map(|(at, _)| view.offset(at))
            .collect();
        assert_eq!(offsets, [3, 4, 6, 7, 8, 9, 11, 13, 15, 17]);
        assert_eq!(view.offset(view.text.len()), bytes.len());
        assert_eq!(view.replaced_bytes().collect::<Vec<_>>(), [6, 11]);
    }
}
