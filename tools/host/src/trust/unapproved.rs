//! [`Unapproved`]: a content that no person has approved.

use super::Content;

/// A content that no person has approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapproved {
    /// The content.
    pub content: Content,
    /// The text of the file that was approved last.
    pub before: Option<String>,
    /// True if the file changed after a session had begun in a folder around it, which may have written it.
    pub is_recent: bool,
}
