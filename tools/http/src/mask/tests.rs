//! Secrets in the encodings of responses.

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};

use super::*;

const SECRET: &str = "s3cr&t/\"k+y=7 Zq";

pub(super) fn mask(prefix: &str, secret: &str) -> Mask {
    Mask::new(&[BoundSecret::new("key", "https://a", "x-key", prefix, secret).unwrap()])
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
        SECRET.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        r#"s3cr&t/\"k+y=7 Zq"#.to_owned(),
        r#"s3cr&t\/\"k+y=7 Zq"#.to_owned(),
        r#"s3cr\u0026t/\"k+y=7 Zq"#.to_owned(),
        SECRET
            .bytes()
            .map(|byte| format!("\\u00{byte:02x}"))
            .collect(),
        "s3cr&amp;t/&quot;k+y=7 Zq".to_owned(),
        "s3cr&amp;t/&#34;k+y=7 Zq".to_owned(),
        "s3cr&amp;t/\"k+y=7 Zq".to_owned(),
        SECRET.bytes().map(|byte| format!("&#{byte};")).collect(),
        HEXLOWER.encode(SECRET.as_bytes()),
        BASE64.encode(SECRET.as_bytes()),
        BASE64.encode(SECRET.as_bytes()).replace('=', "%3D"),
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
            for encoded in [
                BASE64.encode(text.as_bytes()),
                BASE64URL_NOPAD.encode(text.as_bytes()),
            ] {
                let masked = mask.text(encoded.clone());
                assert!(masked.contains("[secret:key]"), "{text:?} {encoded}");
                // Only the characters that are shared with the text around it remain.
                let rest = masked.replace("[secret:key]", "").len();
                assert!(
                    rest <= (before.len() + after.len() + 2) * 4 / 3 + 4,
                    "{masked}"
                );
            }
        }
    }
}

#[test]
fn the_password_of_basic_credentials_is_replaced() {
    let mask = mask("Basic ", &BASE64.encode(b"ada:correct horse"));
    assert_eq!(
        mask.text("welcome correct horse".to_owned()),
        "welcome [secret:key]"
    );
    let short = self::mask("Basic ", &BASE64.encode(b"ada:horse"));
    assert_eq!(
        short.text("a horse, ada:horse".to_owned()),
        "a horse, [secret:key]"
    );
}

#[test]
fn overlapping_secrets_are_replaced_whole() {
    let secrets = ["abcdefgh", "cdefghij", "defghijklmnop"].map(|secret| {
        BoundSecret::new(
            &secret[..1],
            &format!("https://{secret}"),
            "x-key",
            "",
            secret,
        )
        .unwrap()
    });
    let mask = Mask::new(&secrets);
    assert_eq!(
        mask.text("<abcdefghijklmnop><abcdefghij><cdefghij>".to_owned()),
        "<[secret:d]><[secret:c]><[secret:c]>"
    );
    assert_eq!(
        mask.text("abcdefghabcdefgh".to_owned()),
        "[secret:a][secret:a]"
    );
}

#[test]
fn long_secrets_are_replaced_in_text_that_almost_has_them() {
    const LENGTH: usize = 4096;
    let long = |letter: &str| format!("{}{letter}", "a".repeat(LENGTH));
    let secrets = ["b", "c", "%", "&", "\""]
        .map(|letter| BoundSecret::new("key", "https://a", "x-key", "", &long(letter)).unwrap());
    let mask = Mask::new(&secrets);
    let almost = [
        "a", "%61", "%25", "&#97;", "&#0000", "61", "YWFh", "\\u0061", "a\0",
    ];
    for piece in almost {
        let body = piece.repeat(256 * 1024 / piece.len());
        assert!(
            !mask.text(format!("{body}{}", long("b"))).contains("ab"),
            "{piece}"
        );
    }
}

#[test]
fn a_secret_is_replaced_in_utf_16() {
    let mask = mask("", SECRET);
    for encode in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf16 = |text: &str| text.encode_utf16().flat_map(encode).collect::<Vec<_>>();
        assert_eq!(
            *mask.bytes(&utf16(&format!("<{SECRET}>"))),
            utf16("<[secret:key]>")
        );
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
    assert_eq!(
        masked.get_all("a").iter().collect::<Vec<_>>(),
        ["[secret:key] and more", "plain"]
    );
    assert_eq!(masked.len(), 2);
}
