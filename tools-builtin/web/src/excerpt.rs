//! [`Excerpt`]: a range of a document's characters.

use tools::ToolError;

/// A range of a document's characters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt<'a> {
    pub(crate) text: &'a str,
    offset: u64,
    end: u64,
    total: u64,
}

/// The error of an offset after the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the document has {total} characters, so nothing is at offset {offset}; use a smaller `offset`"
)]
pub(crate) struct OffsetError {
    offset: u64,
    total: u64,
}

impl From<OffsetError> for ToolError {
    fn from(error: OffsetError) -> Self {
        Self::execution_failed(error.to_string())
    }
}

impl<'a> Excerpt<'a> {
    /// Returns up to `length` characters from an offset on. It ends at the end of a line if there is one in its second half.
    pub(crate) fn new(text: &'a str, offset: u64, length: u64) -> Result<Self, OffsetError> {
        let total = text.chars().count() as u64;
        if offset > 0 && offset >= total {
            return Err(OffsetError { offset, total });
        }
        let start = position(text, offset);
        let rest = &text[start..];
        let mut part = &rest[..position(rest, length)];
        if part.len() < rest.len()
            && let Some(line) = part.rfind('\n').filter(|line| *line >= part.len() / 2)
        {
            part = &part[..=line];
        }
        let end = offset + part.chars().count() as u64;
        Ok(Self {
            text: part,
            offset,
            end,
            total,
        })
    }

    /// Returns a description of the range, and how to continue after it.
    pub(crate) fn note(&self) -> String {
        let (offset, end, total) = (self.offset, self.end, self.total);
        match (offset, end == total) {
            (0, true) => format!("{total} characters"),
            (_, true) => format!("characters {offset} to {end}, the end of the document"),
            (_, false) => {
                format!("characters {offset} to {end} of {total}, continue with offset = {end}")
            }
        }
    }
}

/// Returns the position of a character in bytes, or that of the end.
fn position(text: &str, chars: u64) -> usize {
    let index = usize::try_from(chars).unwrap_or(usize::MAX);
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(position, _)| position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_document() {
        let text = "äöü\n".repeat(1000);
        let (mut offset, mut read) = (0, String::new());
        while offset < 4000 {
            let excerpt = Excerpt::new(&text, offset, 90).unwrap();
            assert!(excerpt.text.ends_with('\n') && excerpt.end - offset <= 90);
            read += excerpt.text;
            offset = excerpt.end;
        }
        assert_eq!(read, text);
        assert_eq!(
            Excerpt::new(&text, 4000, 1),
            Err(OffsetError {
                offset: 4000,
                total: 4000
            })
        );
    }

    #[test]
    fn an_empty_document_has_a_range() {
        assert_eq!(Excerpt::new("", 0, 10).unwrap().note(), "0 characters");
        assert_eq!(
            Excerpt::new("abc", 1, 1).unwrap().note(),
            "characters 1 to 2 of 3, continue with offset = 2"
        );
    }
}
