//! The headers that a tool may send, and where to.

use http::{HeaderMap, HeaderName, header};

/// The headers that may follow a redirect to another origin, and that a cached answer may have been requested with.
pub(crate) const HARMLESS: [HeaderName; 3] = [
    header::ACCEPT,
    header::ACCEPT_LANGUAGE,
    header::CACHE_CONTROL,
];

/// Returns true if the client sets this header, or it changes the meaning of a connection.
///
/// `host` among them: a server of many sites would answer for another host than the grant names.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    const RESERVED: [HeaderName; 10] = [
        header::ACCEPT_ENCODING,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::EXPECT,
        header::HOST,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::USER_AGENT,
    ];
    RESERVED.contains(name)
        || name.as_str().starts_with("proxy-")
        || name == "keep-alive"
        || name == "http2-settings"
}

/// Removes the headers whose names the function takes.
pub(crate) fn remove(headers: &mut HeaderMap, is_removed: impl Fn(&HeaderName) -> bool) {
    let names = headers.keys().filter(|name| is_removed(name));
    for name in names.cloned().collect::<Vec<_>>() {
        headers.remove(name);
    }
}
