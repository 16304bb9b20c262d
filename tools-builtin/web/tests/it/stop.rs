//! Conversions that end early.

use std::cell::Cell;

use tools_web::{Document, Format, Source};

/// Converts a document until it has asked a number of times whether to stop. Returns its length and notes, and how often it asked.
pub(crate) fn convert_until(
    asked: usize,
    media_type: &str,
    bytes: &[u8],
) -> (usize, Vec<String>, usize) {
    let url = "https://example.org/".parse().unwrap();
    let source = Source {
        bytes,
        media_type: Some(media_type),
        charset: None,
        url: &url,
    };
    let count = Cell::new(0);
    let is_over = || {
        count.set(count.get() + 1);
        count.get() >= asked
    };
    match Document::from_source_until(source, Format::Markdown, false, &is_over) {
        Ok(Document::Text { text, notes, .. }) => (text.len(), notes, count.get()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stopped_conversion_ends_at_once_and_says_so() {
    for (media_type, text) in [
        ("text/html", "<p>x".repeat(100_000)),
        (
            "application/rss+xml",
            format!(
                "<rss><channel>{}</channel></rss>",
                "<item><title>x</title></item>".repeat(400)
            ),
        ),
    ] {
        let (whole, notes, _) = convert_until(usize::MAX, media_type, text.as_bytes());
        assert!(whole > 2_000 && notes.is_empty(), "{media_type}: {notes:?}");
        let (length, notes, asked) = convert_until(3, media_type, text.as_bytes());
        assert!(
            length < 1_500 && length > 10 && notes.len() == 1,
            "{media_type}: {length} {notes:?}"
        );
        assert_eq!(asked, 3, "{media_type}");
    }
}
