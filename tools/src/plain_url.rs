//! [`is_plain_url`]: URLs that hold no secret.

/// Returns true if the URL is `http(s)://host/path` without a user, a query or a fragment, so that it holds no secret.
///
/// ```
/// assert!(tools::is_plain_url("http://localhost:11434/v1"));
/// assert!(!tools::is_plain_url("https://me:secret@example.org"));
/// ```
pub fn is_plain_url(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && !rest.contains(|c: char| {
                // Parsers of URLs take a backslash for a slash, and drop control characters: the host would be another one than it seems.
                matches!(c, '@' | '?' | '#' | '\\') || c.is_whitespace() || c.is_control()
            })
    })
}
