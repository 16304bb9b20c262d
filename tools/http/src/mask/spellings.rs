//! The encodings in which a server may return a secret, as a regular expression.

use std::fmt::Write as _;

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use regex::bytes::{Regex, RegexBuilder};

use crate::BoundSecret;

/// Compiles the expression for a secret in every case. Its groups `le` and `be` are the secret in UTF-16.
///
/// - Each character is plain or escaped, in any mixture: percent escapes (also repeated), JSON and HTML.
/// - The whole is in hexadecimal, or in base64 at any offset.
///
/// Of credentials for `Basic`, the password counts too.
pub(super) fn spellings(prefix: &str, secret: &str) -> Result<Regex, regex::Error> {
    let mut texts = Vec::new();
    if prefix.trim().eq_ignore_ascii_case("basic")
        && let Ok(bytes) = BASE64.decode(secret.as_bytes())
        && let Ok(credentials) = String::from_utf8(bytes)
    {
        texts.extend(credentials.split_once(':').map(|(_, password)| password.to_owned()));
        // The first alternative that matches wins, so the longer text comes first.
        texts.insert(0, credentials);
    }
    texts.push(secret.to_owned());
    texts.retain(|text| text.len() >= BoundSecret::MIN_LENGTH);
    let plain: Vec<_> = texts
        .iter()
        .flat_map(|text| [vec![escaped(text), HEXLOWER.encode(text.as_bytes())], base64(text)].concat())
        .collect();
    let utf16 = |encode: fn(u16) -> [u8; 2]| {
        let texts = texts.iter().map(|text| bytes(&text.encode_utf16().flat_map(encode).collect::<Vec<_>>()));
        texts.collect::<Vec<_>>().join("|")
    };
    let pattern =
        format!("{}|(?P<le>{})|(?P<be>{})", plain.join("|"), utf16(u16::to_le_bytes), utf16(u16::to_be_bytes));
    RegexBuilder::new(&pattern).unicode(false).case_insensitive(true).build()
}

/// Returns the expression for a text in which each character may be escaped.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for byte in text.bytes() {
        let plain = bytes(&[byte]);
        let named = match byte {
            b' ' => "|\\+",
            b'&' => "|&amp;",
            b'<' => "|&lt;",
            b'>' => "|&gt;",
            b'"' => "|&quot;",
            b'\'' => "|&apos;",
            _ => "",
        };
        let written = write!(
            pattern,
            r"(?:\\?{plain}|%(?:25)*{byte:02x}|\\u00{byte:02x}|\\x{byte:02x}|&#0*{byte};|&#x0*{byte:x};{named})"
        );
        written.unwrap_or_else(|_| unreachable!("a string takes all text"));
    }
    pattern
}

/// Returns the expression for bytes.
fn bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!(r"\x{byte:02x}")).collect()
}

/// Returns the expressions for the text in base64 with 0, 1 and 2 bytes before it, without the characters that also depend on the
/// bytes around it.
fn base64(text: &str) -> Vec<String> {
    let mut found = vec![BASE64.encode(text.as_bytes())];
    for before in 0..3 {
        let padded = [&vec![0; before][..], text.as_bytes()].concat();
        // The first characters hold bits of the bytes before the text, the last one may hold bits of those after it.
        let (start, end) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        found.extend([&BASE64, &BASE64URL_NOPAD].map(|base| base.encode(&padded)[start..end].to_owned()));
    }
    found.iter().map(|encoded| escaped(encoded)).collect()
}
