//! [`UrlParts`]: the parts of a URL that are sent to its host.

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};
use protocol::Normaliser;

/// The characters that no URL has as they are, and `%`.
const NOT_GRAPHIC: &AsciiSet = &CONTROLS.add(b' ').add(b'%');

/// The characters that a component has only as escapes.
const RESERVED: &AsciiSet = &RESERVED_IN_FORM.add(b' ');

/// The characters that a field of a form has only as escapes. A space is `+` there.
const RESERVED_IN_FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b' ');

/// A URL as it is sent: without a fragment, with the normal form of its host, and with escapes for characters other than ASCII.
///
/// Two texts with the same [text](Self::text) send the same bytes, and the other way round.
pub(super) struct UrlParts {
    pub(super) text: String,
    pub(super) host: String,
    /// The length of the scheme and the host, with the first slash of the path.
    root: usize,
}

impl UrlParts {
    /// Splits a URL. Returns `None` if it is none of HTTP, or if it has a user name, which the normaliser of hosts refuses.
    pub(super) fn new(url: &str) -> Option<Self> {
        // A fragment is not sent.
        let url = url.split('#').next().unwrap_or_default();
        let host = Normaliser::Host.apply(url).ok()?;
        let (scheme, after) = url.split_once("://")?;
        let scheme = ["http", "https"]
            .into_iter()
            .find(|known| scheme.eq_ignore_ascii_case(known))?;
        let rest = after.find('/').map_or("", |at| &after[at + 1..]);
        let root = format!("{scheme}://{host}/");
        Some(Self {
            text: format!("{root}{}", escape(rest, &AsciiSet::EMPTY)),
            host,
            root: root.len(),
        })
    }

    /// Returns the URL without path and query.
    pub(super) fn root(&self) -> &str {
        &self.text[..self.root]
    }

    /// Returns the text up to the last `/` or `=` of the path and the query.
    pub(super) fn stem(&self) -> &str {
        let end = self.text.rfind(['/', '=']).map_or(self.root, |at| at + 1);
        &self.text[..end]
    }

    /// Returns each beginning of the text that ends in `/` or `=`, with the rest. One shorter than the root is no [stem](Self::stem).
    pub(super) fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text
            .match_indices(['/', '='])
            .map(|(at, _)| self.text.split_at(at + 1))
    }
}

/// Returns the text that a part of a URL stands for. There may be a second one: in a form, `+` is a space. Returns none if the part is
/// written in another way than each of these three: as it is, as a component, or as a field of a form. Each has one spelling.
pub(super) fn meanings(part: &str) -> impl Iterator<Item = String> {
    let plain = decode(part)
        .filter(|text| escape(text, NOT_GRAPHIC) == part || escape(text, RESERVED) == part);
    let of_form = decode(&part.replace('+', " "))
        .filter(|text| escape(text, RESERVED_IN_FORM).replace(' ', "+") == part);
    plain.into_iter().chain(of_form)
}

/// Returns the text with escapes for each character of the set, and for those that are not ASCII.
fn escape(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

/// Returns the text without escapes. Returns `None` if the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
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
        let end = rest.find(|c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '|')
        });
        let url = &rest[..end.unwrap_or(rest.len())];
        // HTML and Markdown write `&` so, and the tool sends it without.
        trim_url(url).replace("&amp;", "&").replace("\\&", "&")
    })
}

/// Returns the URLs that the words of a text are without their scheme, such as `example.org/start`.
pub(super) fn urls_without_scheme(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text
        .split_whitespace()
        .map(|word| trim_url(word.trim_start_matches(['(', '<', '"', '\'', '`', '*'])));
    let urls = words.filter(|word| {
        word.split_once('/')
            .is_some_and(|(host, _)| host.contains('.'))
    });
    urls.map(|word| format!("https://{word}"))
}

/// Returns the URL that a word begins with.
fn trim_url(word: &str) -> &str {
    let url = &word[..find_unbalanced(word).unwrap_or(word.len())];
    url.trim_end_matches([
        '.', ',', ';', ':', '!', '?', '\'', '*', ']', '}', '"', '`', '>',
    ])
}

/// Returns the position of the first closing parenthesis without an opening one.
// A parenthesis belongs to an address only with the one that opens it: Markdown puts one behind each link.
fn find_unbalanced(url: &str) -> Option<usize> {
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
