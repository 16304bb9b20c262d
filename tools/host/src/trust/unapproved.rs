//! [`Unapproved`]: a content that no person has approved.

use super::Content;

/// A content that no person has approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapproved {
    content: Content,
    before: Option<String>,
    is_recent: bool,
}

impl Unapproved {
    pub(super) fn new(content: Content, before: Option<String>, is_recent: bool) -> Self {
        Self {
            content,
            before,
            is_recent,
        }
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the text of the file that was approved last.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns true if a session can have written the file: it changed after one had begun in a folder around it.
    pub fn is_recent(&self) -> bool {
        self.is_recent
    }
}
