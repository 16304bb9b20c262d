//! The encodings in which a server may return a secret.

use std::collections::BTreeSet;

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::BoundSecret;

/// A secret as a server may return it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spelling {
    pub(super) bytes: Vec<u8>,
    pub(super) encoding: Encoding,
}

/// The encoding of the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// Encodes a text.
    pub(super) fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// Returns the spellings of a secret: plain, percent-encoded, JSON and HTML escapes, hexadecimal, and base64 at each offset, in UTF-8;
/// plain in UTF-16. Of credentials for `Basic`, those of the password too.
///
/// The search ignores case, so that one case of escapes and hexadecimal digits is enough.
pub(super) fn spellings(prefix: &str, secret: &str) -> BTreeSet<Spelling> {
    let mut texts = vec![secret.to_owned()];
    if prefix.trim().eq_ignore_ascii_case("basic")
        && let Ok(bytes) = BASE64.decode(secret.as_bytes())
        && let Ok(credentials) = String::from_utf8(bytes)
    {
        texts.extend(credentials.split_once(':').map(|(_, password)| password.to_owned()));
        texts.push(credentials);
    }
    let mut found = BTreeSet::new();
    for text in texts.iter().filter(|text| text.len() >= BoundSecret::MIN_LENGTH) {
        for spelled in
            [percent(text), json(text), html(text), base64(text), vec![HEXLOWER.encode(text.as_bytes())]].concat()
        {
            found.insert(Spelling { bytes: spelled.into_bytes(), encoding: Encoding::Utf8 });
        }
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            found.insert(Spelling { bytes: encoding.encode(text), encoding });
        }
    }
    found
}

fn percent(text: &str) -> Vec<String> {
    const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    const FORM: &AsciiSet = &UNRESERVED.remove(b' ').add(b'~').remove(b'*');
    // The sets of the URL standard, and that of `encodeURIComponent`.
    const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');
    const PATH: &AsciiSet = &QUERY.add(b'?').add(b'^').add(b'`').add(b'{').add(b'}');
    const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');
    let mut found: Vec<_> = [NON_ALPHANUMERIC, UNRESERVED, COMPONENT, QUERY, PATH]
        .map(|set| utf8_percent_encode(text, set).to_string())
        .to_vec();
    found.push(utf8_percent_encode(text, FORM).to_string().replace(' ', "+"));
    found
}

fn json(text: &str) -> Vec<String> {
    let plain = text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut found = vec![plain.clone(), plain.replace('/', "\\/")];
    for slash in ["/", "\\/"] {
        let escaped = plain.replace('/', slash).replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
        found.extend([escaped.replace('\'', "\\u0027").replace('+', "\\u002b"), escaped]);
    }
    found
}

fn html(text: &str) -> Vec<String> {
    let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut found = vec![plain.clone(), plain.replace('"', "&quot;")];
    for (double, single) in [("&quot;", "&#39;"), ("&quot;", "&#x27;"), ("&#34;", "&#39;"), ("&quot;", "&#039;")] {
        found.push(plain.replace('"', double).replace('\'', single));
    }
    found
}

/// Returns the text in base64 with 0, 1 and 2 bytes before it, without the characters that also depend on the bytes around it.
fn base64(text: &str) -> Vec<String> {
    let mut found = vec![BASE64.encode(text.as_bytes()), BASE64URL_NOPAD.encode(text.as_bytes())];
    for before in 0..3 {
        let bytes = [&vec![0; before][..], text.as_bytes()].concat();
        // The first characters hold bits of the bytes before the text, the last one may hold bits of those after it.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [BASE64URL_NOPAD.encode(&bytes), BASE64.encode(&bytes)] {
            found.push(encoded[start..end].to_owned());
        }
    }
    found
}
