//! The encodings in which a server may return a secret.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};

use crate::secret::BoundSecret;

/// The encoding of the text around a spelling, and so of its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encoding {
    Ascii,
    Utf16,
}

/// Returns ASCII text in UTF-16 without its outermost zero, which is in front or at the end, as the byte order says.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    let mut wide: Vec<_> = text.bytes().flat_map(|byte| [byte, 0]).collect();
    wide.pop();
    wide
}

/// Returns the spellings of a secret. The search ignores case, so each is in one case only.
///
/// Of credentials for `Basic`, the password counts too if it is long enough.
pub(super) fn spellings(prefix: &str, secret: &str) -> BTreeSet<(Vec<u8>, Encoding)> {
    let mut texts = vec![secret.to_owned()];
    if prefix.trim().eq_ignore_ascii_case("basic")
        && let Ok(bytes) = BASE64.decode(secret.as_bytes())
        && let Ok(credentials) = String::from_utf8(bytes)
    {
        texts.extend(
            credentials
                .split_once(':')
                .map(|(_, password)| password.to_owned()),
        );
        texts.push(credentials);
    }
    texts.retain(|text| text.len() >= BoundSecret::MIN_LENGTH);
    let mut spellings = BTreeSet::new();
    for text in &texts {
        if text.is_ascii() {
            spellings.insert((utf16(text), Encoding::Utf16));
        }
        let base64 = base64(text).into_iter().flat_map(|encoded| {
            [
                percent(&encoded, b"-_.~"),
                json(&encoded, b"/", b""),
                json(&encoded, b"", b"+"),
                encoded,
            ]
        });
        let ascii = [
            percents(text),
            jsons(text),
            htmls(text),
            base64.collect(),
            vec![HEXLOWER.encode(text.as_bytes())],
        ];
        spellings.extend(
            ascii
                .into_iter()
                .flatten()
                .map(|spelling| (spelling.into_bytes(), Encoding::Ascii)),
        );
    }
    spellings.retain(|(spelling, _)| spelling.len() >= BoundSecret::MIN_LENGTH);
    spellings
}

/// Returns the text percent-encoded as URLs, forms and browsers do, also twice.
fn percents(text: &str) -> Vec<String> {
    // The characters that stay: of a query and of a path in a URL, of `encodeURIComponent` and of RFC 3986.
    let kept: [&[u8]; 5] = [
        b"!$%&'()*+,-./:;=?@[\\]^_`{|}~",
        b"!$&'()*+,-./:;=@_~",
        b"!'()*-._~",
        b"-._~",
        b"*-._",
    ];
    let mut spellings: Vec<_> = kept.iter().map(|kept| percent(text, kept)).collect();
    spellings.extend(
        kept.iter()
            .map(|kept| percent(text, kept).replace("%20", "+")),
    );
    spellings.extend(
        spellings
            .clone()
            .iter()
            .map(|once| once.replace('%', "%25")),
    );
    spellings.push(text.bytes().map(|byte| format!("%{byte:02x}")).collect());
    spellings
}

/// Percent-encodes all but letters, digits and `kept`.
fn percent(text: &str, kept: &[u8]) -> String {
    map_bytes(text, |spelled, byte| match byte {
        _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => spelled.push(byte.into()),
        _ => append_text(spelled, format_args!("%{byte:02x}")),
    })
}

/// Returns the text as in strings of JSON and of programs.
fn jsons(text: &str) -> Vec<String> {
    let by_hex: [&[u8]; 4] = [b"", b"&<>", b"&'<>", b"\"&'<>"];
    let mut spellings = Vec::new();
    for backslashed in [&b""[..], b"\"\\", b"\"/\\", b"\"'\\"] {
        spellings.extend(by_hex.map(|by_hex| json(text, backslashed, by_hex)));
    }
    spellings.push(
        text.bytes()
            .map(|byte| format!("\\u00{byte:02x}"))
            .collect(),
    );
    spellings.push(text.bytes().map(|byte| format!("\\x{byte:02x}")).collect());
    spellings
}

fn json(text: &str, backslashed: &[u8], by_hex: &[u8]) -> String {
    map_bytes(text, |spelled, byte| match byte {
        _ if by_hex.contains(&byte) => append_text(spelled, format_args!("\\u00{byte:02x}")),
        _ if backslashed.contains(&byte) => {
            append_text(spelled, format_args!("\\{}", char::from(byte)))
        }
        _ => spelled.push(byte.into()),
    })
}

/// Returns the text as in HTML and XML.
fn htmls(text: &str) -> Vec<String> {
    let mut spellings = Vec::new();
    for quote in ["\"", "&quot;", "&#34;", "&#x22;"] {
        for apostrophe in ["'", "&apos;", "&#39;", "&#039;", "&#x27;"] {
            let spelled = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            spellings.push(spelled.replace('"', quote).replace('\'', apostrophe));
        }
    }
    spellings.push(text.bytes().map(|byte| format!("&#{byte};")).collect());
    spellings.push(text.bytes().map(|byte| format!("&#x{byte:x};")).collect());
    spellings
}

/// Returns the text in base64 with 0, 1 and 2 bytes before it, without the characters that also depend on the bytes around it.
fn base64(text: &str) -> Vec<String> {
    let mut found = vec![BASE64.encode(text.as_bytes())];
    for before in 0..3 {
        let padded = [&vec![0; before][..], text.as_bytes()].concat();
        // The first characters hold bits of the bytes before the text, the last one may hold bits of those after it.
        let start = (before * 8).div_ceil(6);
        let end = padded.len() * 8 / 6;
        found.extend(
            [&BASE64, &BASE64URL_NOPAD].map(|base| base.encode(&padded)[start..end].to_owned()),
        );
    }
    found
}

fn map_bytes(text: &str, add: impl Fn(&mut String, u8)) -> String {
    text.bytes().fold(
        String::with_capacity(text.len() * 3),
        |mut spelled, byte| {
            add(&mut spelled, byte);
            spelled
        },
    )
}

fn append_text(spelled: &mut String, text: std::fmt::Arguments<'_>) {
    spelled
        .write_fmt(text)
        .unwrap_or_else(|_| unreachable!("a string takes all text"));
}
