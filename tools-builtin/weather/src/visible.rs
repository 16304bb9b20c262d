//! [`visible`]: short texts of a service as visible, bounded text.

use tools::visible_line;

/// Returns a short text of a service as one visible line, cut after 200 characters. Returns `None` if it is empty.
pub(crate) fn visible(text: &str) -> Option<String> {
    Some(visible_line(text, 200)).filter(|line| !line.is_empty())
}
