//! [`UrlParts`]: the parts of a URL that are sent to its host.

use protocol::Normaliser;

/// A URL, split without a change of its text.
pub(super) struct UrlParts<'a> {
    /// The URL without its fragment.
    pub(super) text: &'a str,
    scheme: &'a str,
    pub(super) host: String,
    /// The path and the query.
    rest: &'a str,
}

impl<'a> UrlParts<'a> {
    /// Splits a URL. Returns `None` if it is none, or if it has a user name, which the normaliser of hosts refuses.
    pub(super) fn new(url: &'a str) -> Option<Self> {
        let text = url.split('#').next().unwrap_or_default();
        let host = Normaliser::Host.apply(text).ok()?;
        let (scheme, after) = text.split_once("://")?;
        let (_, rest) = after.split_at(after.find('/').unwrap_or(after.len()));
        Some(Self { text, scheme, host, rest })
    }

    /// Returns the text by which URLs are equal.
    pub(super) fn key(&self) -> String {
        format!("{}://{}{}", self.scheme.to_ascii_lowercase(), self.host, self.rest)
    }

    /// Returns the segments of the path and the names and values of the query, decoded. Returns `None` if they are written in a form that
    /// can hide data: with needless escapes, or as other text than UTF-8.
    pub(super) fn pieces(&self) -> Option<Vec<String>> {
        let (path, query) = match self.rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.rest, None),
        };
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments = (!path.is_empty()).then(|| path.split('/').map(|segment| decoded(segment, false)));
        let fields = query.into_iter().flat_map(|query| query.split('&')).flat_map(|field| {
            let (name, value) = match field.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (field, None),
            };
            [Some(name), value].into_iter().flatten().map(|text| decoded(text, true))
        });
        segments.into_iter().flatten().chain(fields).collect()
    }
}

/// Returns a piece without escapes. In a query, `+` is a space.
fn decoded(piece: &str, is_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(piece.len());
    let mut rest = piece.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let value = digit(rest.next())? * 16 + digit(rest.next())?;
                let value = u8::try_from(value).ok()?;
                let is_needless = value.is_ascii_alphanumeric() || b"-._~".contains(&value);
                (!is_needless).then_some(value)?
            }
            b'+' if is_query => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the URLs in a text, without punctuation that follows them.
pub(super) fn urls_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let begins = text.match_indices("://").filter_map(|(at, _)| {
        let scheme = ["https", "http"].into_iter().find(|scheme| {
            at.checked_sub(scheme.len())
                .and_then(|begin| text.get(begin..at))
                .is_some_and(|it| it.eq_ignore_ascii_case(scheme))
        })?;
        Some(&text[at - scheme.len()..])
    });
    begins.map(|rest| {
        let is_end = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '|');
        let url = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let url = &url[..unbalanced(url).unwrap_or(url.len())];
        let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', ']', '}']);
        url.replace("&amp;", "&").replace("\\&", "&")
    })
}

/// Returns the position of the first closing parenthesis without an opening one.
fn unbalanced(url: &str) -> Option<usize> {
    let mut open = 0_usize;
    url.char_indices().find_map(|(at, c)| match c {
        '(' => {
            open += 1;
            None
        }
        ')' if open == 0 => Some(at),
        ')' => {
            open -= 1;
            None
        }
        _ => None,
    })
}
