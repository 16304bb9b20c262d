//! [`Mask`]: replaces secrets in responses and errors.

mod spellings;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use crate::{BoundSecret, HttpError};

use self::spellings::spellings;

/// Replaces secrets in responses and errors, in each of their [spellings].
#[derive(Debug, Default)]
pub(crate) struct Mask {
    /// `None` without secrets.
    search: Option<Search>,
}

#[derive(Debug)]
struct Search {
    /// Finds each spelling in any mixture of cases: names of headers come in lower case, and escapes in both.
    spellings: AhoCorasick,
    replacements: Vec<Vec<u8>>,
}

impl Mask {
    /// Creates the mask of these secrets.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] if there are too many secrets.
    pub(crate) fn new(secrets: &[BoundSecret]) -> Result<Self, HttpError> {
        if secrets.is_empty() {
            return Ok(Self::default());
        }
        let (mut patterns, mut replacements) = (Vec::new(), Vec::new());
        for secret in secrets {
            for spelling in spellings(secret.prefix(), secret.expose()) {
                replacements.push(spelling.encoding.encode(&format!("[secret:{}]", secret.name())));
                patterns.push(spelling.bytes);
            }
        }
        let spellings = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns)
            .map_err(|error| HttpError::Option { option: "secrets", reason: format!("{error}; configure fewer") })?;
        Ok(Self { search: Some(Search { spellings, replacements }) })
    }

    /// Masks a body.
    pub(crate) fn body(&self, body: Bytes) -> Bytes {
        match self.bytes(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(masked) => masked.into(),
        }
    }

    /// Masks a text.
    pub(crate) fn text(&self, text: String) -> String {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => String::from_utf8_lossy(&masked).into_owned(),
        }
    }

    /// Masks the values of headers, and removes headers whose name is a secret.
    pub(crate) fn headers(&self, headers: &HeaderMap) -> HeaderMap {
        let mut masked = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            if matches!(self.bytes(name.as_str().as_bytes()), Cow::Owned(_)) {
                continue;
            }
            let value = match self.bytes(value.as_bytes()) {
                Cow::Borrowed(_) => value.clone(),
                // The replacement has no characters that a header cannot have.
                Cow::Owned(bytes) => HeaderValue::from_bytes(&bytes).unwrap_or(HeaderValue::from_static("[secret]")),
            };
            masked.append(name, value);
        }
        masked
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.search {
            Some(search) if search.spellings.is_match(bytes) => {
                Cow::Owned(search.spellings.replace_all_bytes(bytes, &search.replacements))
            }
            _ => Cow::Borrowed(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};

    use super::*;

    const SECRET: &str = "s3cr&t/\"k+y=7 Zq";

    fn mask(prefix: &str, secret: &str) -> Mask {
        Mask::new(&[BoundSecret::new("key", "https://a", "x-key", prefix, secret).unwrap()]).unwrap()
    }

    #[test]
    fn a_secret_is_replaced_in_the_encodings_that_occur() {
        let mask = mask("Bearer ", SECRET);
        for spelled in [
            SECRET.to_owned(),
            SECRET.to_uppercase(),
            "s3cr%26t%2F%22k%2By%3D7%20Zq".to_owned(),
            "s3cr%26t%2f%22k%2by%3d7+Zq".to_owned(),
            "s3cr&t/%22k+y=7%20Zq".to_owned(),
            r#"s3cr&t/\"k+y=7 Zq"#.to_owned(),
            r#"s3cr&t\/\"k+y=7 Zq"#.to_owned(),
            r#"s3cr\u0026t/\"k+y=7 Zq"#.to_owned(),
            "s3cr&amp;t/&quot;k+y=7 Zq".to_owned(),
            "s3cr&amp;t/&#34;k+y=7 Zq".to_owned(),
            "s3cr&amp;t/\"k+y=7 Zq".to_owned(),
            HEXLOWER.encode(SECRET.as_bytes()),
        ] {
            let masked = mask.text(format!("<{spelled}>"));
            assert_eq!(masked, "<[secret:key]>", "{spelled}");
        }
    }

    #[test]
    fn a_secret_is_replaced_inside_base64_at_every_offset() {
        let mask = mask("Bearer ", SECRET);
        for before in ["", "a", "ab", "Bearer ", "user:"] {
            for after in ["", "z", "zz", "\n"] {
                let text = format!("{before}{SECRET}{after}");
                for encoded in [BASE64.encode(text.as_bytes()), BASE64URL_NOPAD.encode(text.as_bytes())] {
                    let masked = mask.text(encoded.clone());
                    assert!(masked.contains("[secret:key]"), "{text:?} {encoded}");
                    // Only the characters that are shared with the text around it remain.
                    let rest = masked.replace("[secret:key]", "").len();
                    assert!(rest <= (before.len() + after.len() + 2) * 4 / 3 + 4, "{masked}");
                }
            }
        }
    }

    #[test]
    fn the_password_of_basic_credentials_is_replaced() {
        let mask = mask("Basic ", &BASE64.encode(b"ada:correct horse"));
        assert_eq!(mask.text("welcome correct horse".to_owned()), "welcome [secret:key]");
    }

    #[test]
    fn a_secret_is_replaced_in_utf_16() {
        let mask = mask("", SECRET);
        for encode in [u16::to_le_bytes, u16::to_be_bytes] {
            let utf16 = |text: &str| text.encode_utf16().flat_map(encode).collect::<Vec<_>>();
            assert_eq!(mask.body(utf16(&format!("<{SECRET}>")).into()), utf16("<[secret:key]>"));
        }
    }

    #[test]
    fn a_header_is_masked_or_removed() {
        let mask = mask("", "Secret-Key-1");
        let mut headers = HeaderMap::new();
        headers.append("a", HeaderValue::from_static("Secret-Key-1 and more"));
        headers.append("a", HeaderValue::from_static("plain"));
        headers.append("x-secret-key-1", HeaderValue::from_static("b"));
        let masked = mask.headers(&headers);
        assert_eq!(masked.get_all("a").iter().collect::<Vec<_>>(), ["[secret:key] and more", "plain"]);
        assert_eq!(masked.len(), 2);
    }

    #[test]
    fn a_body_without_secrets_is_not_copied() {
        let body = Bytes::from_static(b"plain");
        assert_eq!(mask("", SECRET).body(body.clone()).as_ptr(), body.as_ptr());
        assert_eq!(Mask::default().body(body.clone()).as_ptr(), body.as_ptr());
    }
}
