//! [`has_dot_segment`]: detects `.` and `..` segments in URL-like values.

/// Returns true if a URL parser may resolve a segment of `value` to `.` or `..`.
///
/// Parsers differ, so a segment counts if any parser resolves it:
///
/// - escapes (`%2e`, and `%u002e` of IIS) are decoded until none is left, because each proxy may decode once more,
/// - `\` separates segments as `/` does,
/// - a segment ends at `;`, where servers cut off parameters, at `?` and `#`, and at NUL,
/// - spaces and control characters are ignored, because URL parsers remove them.
pub(crate) fn has_dot_segment(value: &str) -> bool {
    decode(value)
        // Readers of URLs take a backslash for a slash.
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .any(|segment| {
            let name = segment
                // Some servers cut a segment at these characters before they resolve it.
                .split(|byte| matches!(byte, b';' | b'?' | b'#' | 0))
                .next()
                .unwrap_or_default();
            let mut seen = name.iter().filter(|byte| !matches!(byte, 0..=b' ' | 0x7f));
            matches!(
                (seen.next(), seen.next(), seen.next()),
                (Some(b'.'), None | Some(b'.'), None)
            )
        })
}

/// Decodes escapes until none is left. One pass suffices: each byte may complete an escape, and the decoded byte another one.
fn decode(value: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len());
    for byte in value.bytes() {
        decoded.push(byte);
        while let Some((start, byte)) = last_escape(&decoded) {
            decoded.truncate(start);
            decoded.push(byte);
        }
    }
    decoded
}

/// Returns the start of the escape that ends `bytes`, and its decoded byte. Returns `None` if `bytes` does not end in an escape.
fn last_escape(bytes: &[u8]) -> Option<(usize, u8)> {
    let (before, [high, low]) = bytes.split_last_chunk()?;
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let byte = digit(*high)? * 16 + digit(*low)?;
    let start = before
        .strip_suffix(b"%")
        .or_else(|| before.strip_suffix(b"%u00"))
        .or_else(|| before.strip_suffix(b"%U00"))?;
    Some((start.len(), byte))
}
