//! [`Mask`]: replaces secrets in responses and errors.

mod spellings;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use regex::bytes::{Captures, Regex};

use self::spellings::spellings;
use crate::{BoundSecret, HttpError};

/// Replaces secrets in responses and errors, in each of their [spellings].
#[derive(Default)]
pub(crate) struct Mask {
    searches: Vec<Search>,
}

struct Search {
    spellings: Regex,
    replacement: String,
}

impl Mask {
    /// Creates the mask of these secrets.
    ///
    /// # Errors
    /// Returns [`HttpError::Secret`] if a secret is too long to be searched for.
    pub(crate) fn new(secrets: &[BoundSecret]) -> Result<Self, HttpError> {
        let search = |secret: &BoundSecret| {
            let spellings = spellings(secret.prefix(), secret.expose()).map_err(|_| HttpError::Secret {
                name: secret.name().to_owned(),
                reason: "it is too long to be searched for in responses; use a shorter one".to_owned(),
            })?;
            Ok(Search { spellings, replacement: format!("[secret:{}]", secret.name()) })
        };
        Ok(Self { searches: secrets.iter().map(search).collect::<Result<_, _>>()? })
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
        let mut masked = Cow::Borrowed(bytes);
        for search in &self.searches {
            if let Cow::Owned(replaced) =
                search.spellings.replace_all(&masked, |found: &Captures<'_>| search.in_place_of(found))
            {
                masked = Cow::Owned(replaced);
            }
        }
        masked
    }
}

impl Search {
    /// Returns the replacement in the encoding of the match.
    fn in_place_of(&self, found: &Captures<'_>) -> Vec<u8> {
        let utf16 = |encode: fn(u16) -> [u8; 2]| self.replacement.encode_utf16().flat_map(encode).collect();
        if found.name("le").is_some() {
            utf16(u16::to_le_bytes)
        } else if found.name("be").is_some() {
            utf16(u16::to_be_bytes)
        } else {
            self.replacement.clone().into_bytes()
        }
    }
}

impl fmt::Debug for Mask {
    /// Leaves out the expressions, which contain the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("searches", &self.searches.len()).finish_non_exhaustive()
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
            "s3cr%2526t%252F%2522k%252By%253D7%2520Zq".to_owned(),
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
