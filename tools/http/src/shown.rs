//! Shows URLs in messages.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Returns the start of a URL for a message, without spaces, control characters and quotes: a server may have chosen it, and its words
/// must not look like those of the message.
pub(crate) fn shown(url: &str) -> String {
    const MAX_SHOWN: usize = 200;
    const ESCAPED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'\'')
        .add(b'<')
        .add(b'>')
        .add(b'\\')
        .add(b'`')
        .add(b'{')
        .add(b'|')
        .add(b'}');
    // Of longer text, the rest is not shown anyway.
    let start = url
        .char_indices()
        .nth(MAX_SHOWN + 1)
        .map_or(url, |(end, _)| &url[..end]);
    let mut shown = utf8_percent_encode(start, ESCAPED).to_string();
    if shown.len() > MAX_SHOWN {
        shown.truncate(MAX_SHOWN);
        shown.push_str("...");
    }
    shown
}
