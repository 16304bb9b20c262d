//! [`Media`]: the kinds of documents.

use memchr::memchr;
use tools::image::image_type;
use tools_text::MARK;

/// The kind of a document, which decides about its conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Html,
    Json,
    Xml,
    Text,
    /// An image that models accept.
    Image(&'static str),
    Pdf,
    /// Anything else, by its media type.
    Binary(String),
}

impl Media {
    /// Returns the kind for a media type. The bytes decide if the type says little.
    pub(crate) fn new(media_type: Option<&str>, bytes: &[u8]) -> Self {
        let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
        match media_type.as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/pdf" | "application/x-pdf" => Self::Pdf,
            ""
            | "application/octet-stream"
            | "binary/octet-stream"
            | "text/plain"
            | "unknown/unknown" => Self::from_bytes(&media_type, bytes),
            "application/json" | "text/json" => Self::Json,
            json if json.ends_with("+json") => Self::Json,
            xml if xml.ends_with("/xml") || xml.ends_with("+xml") => Self::Xml,
            image if image.starts_with("image/") => {
                image_type(bytes).map_or(Self::Binary(media_type_name(image)), Self::Image)
            }
            text if text.starts_with("text/") || is_text(text) => Self::Text,
            other => Self::Binary(media_type_name(other)),
        }
    }

    fn from_bytes(media_type: &str, bytes: &[u8]) -> Self {
        // As in the MIME Sniffing Standard, a text that the server calls plain never becomes a page.
        let is_plain = media_type == "text/plain";
        let text = bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes);
        let text = text.trim_ascii_start();
        let begins = |start: &str| {
            text.get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
        };
        if let Some(image) = image_type(bytes) {
            Self::Image(image)
        } else if bytes.starts_with(b"%PDF-") {
            Self::Pdf
        } else if !is_plain
            && PAGES
                .split('|')
                .any(|start| begins(start) && is_end_of_name(text.get(start.len())))
        {
            Self::Html
        } else if !is_plain && ["<?xml", "<rss", "<feed"].iter().any(|start| begins(start)) {
            Self::Xml
        } else if !has_mark(bytes) && memchr(0, bytes).is_some() {
            Self::Binary(media_type_name(media_type))
        } else if media_type.is_empty() && (text.starts_with(b"{") || text.starts_with(b"[")) {
            Self::Json
        } else {
            Self::Text
        }
    }
}

/// The beginnings of pages without a media type, as the MIME Sniffing Standard (section 7.1) names them.
const PAGES: &str = "<!doctype html|<html|<head|<script|<iframe|<h1|<div|<font|<table|<a|<style|<title|<b|\
    <body|<br|<p|<meta";

/// Returns true for the byte after the name of an element.
fn is_end_of_name(byte: Option<&u8>) -> bool {
    byte.is_none_or(|byte| *byte == b'>' || byte.is_ascii_whitespace())
}

/// The longest media type in a line of ours, in bytes. The longest registered ones have about 75.
const MAX_NAME: usize = 100;

/// Returns a media type for a line of ours, which is not marked as text from outside: the characters of registered types, cut.
pub(crate) fn media_type_name(media_type: &str) -> String {
    let other = media_type.find(|c: char| !c.is_ascii_alphanumeric() && !"/+-._".contains(c));
    match media_type.get(..MAX_NAME) {
        _ if media_type.is_empty() || other.is_some() => "unknown type".to_owned(),
        Some(start) if start.len() < media_type.len() => format!("{start}…"),
        _ => media_type.to_owned(),
    }
}

/// Returns true for text whose media type does not begin with `text/`.
fn is_text(media_type: &str) -> bool {
    const TYPES: &str = "application/ecmascript application/graphql application/javascript \
        application/jsonl application/ndjson application/rtf application/sql application/toml \
        application/x-javascript application/x-ndjson application/x-sh application/yaml";
    TYPES.split(' ').any(|text| text == media_type)
        || media_type.starts_with("message/")
        || media_type.ends_with("yaml")
}

/// Returns true if the bytes begin with the mark of UTF-16, whose text contains zero bytes.
fn has_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_has_no_words_of_its_own_in_a_line() {
        for (media_type, expected) in [
            (
                "application/vnd.ms-excel",
                "application/vnd.ms-excel".to_owned(),
            ),
            ("image/svg+xml", "image/svg+xml".to_owned()),
            ("", "unknown type".to_owned()),
            ("text/a!b", "unknown type".to_owned()),
            ("text/é", "unknown type".to_owned()),
            (
                &format!("text/{}", "x".repeat(200)),
                format!("text/{}…", "x".repeat(95)),
            ),
        ] {
            assert_eq!(media_type_name(media_type), expected);
        }
    }

    #[test]
    fn the_type_counts_and_the_bytes_where_it_says_little() {
        let cases: [(Option<&str>, &[u8], Media); 19] = [
            (Some("text/html"), b"{}", Media::Html),
            (Some("application/xhtml+xml"), b"", Media::Html),
            (Some("application/ld+json"), b"", Media::Json),
            (Some("application/rss+xml"), b"", Media::Xml),
            (Some("image/svg+xml"), b"<svg>", Media::Xml),
            (
                Some("image/png"),
                b"\x89PNG\r\n\x1a\n",
                Media::Image("image/png"),
            ),
            (
                Some("image/avif"),
                b"....ftypavif",
                Media::Binary("image/avif".to_owned()),
            ),
            (Some("text/css"), b"", Media::Text),
            (Some("text/plain"), b"<html>", Media::Text),
            (
                Some("text/plain"),
                b"a\0b",
                Media::Binary("text/plain".to_owned()),
            ),
            (
                Some("application/zip"),
                b"PK",
                Media::Binary("application/zip".to_owned()),
            ),
            (Some("application/octet-stream"), b"%PDF-1.7", Media::Pdf),
            (None, b" <!DOCTYPE HTML>", Media::Html),
            (None, b"\xEF\xBB\xBF<html>", Media::Html),
            (None, b"<Meta charset=utf-8><p>", Media::Html),
            (None, b"<about> this", Media::Text),
            (None, b"{\"a\":1}", Media::Json),
            (None, b"\xFF\xFEa\0", Media::Text),
            (None, b"<?xml version='1.0'?>", Media::Xml),
        ];
        for (media_type, bytes, expected) in cases {
            assert_eq!(Media::new(media_type, bytes), expected, "{media_type:?}");
        }
    }
}
