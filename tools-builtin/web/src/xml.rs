//! XML with line breaks.

use quick_xml::events::{BytesText, Event};
use quick_xml::{Reader, Writer};

/// A line longer than this, in bytes, is hard to read and worth breaking.
const LONG_LINE: usize = 500;

/// The most text for a byte of XML. Beyond it, the text stays as it was sent.
const MAX_GROWTH: usize = 4;

/// Returns XML with one element a line if it was sent in long lines. Text that is not well-formed stays as it was sent.
pub(crate) fn pretty(text: &str) -> String {
    let is_long = text.lines().any(|line| line.len() > LONG_LINE);
    is_long
        .then(|| indent(text))
        .flatten()
        .unwrap_or_else(|| text.to_owned())
}

fn indent(text: &str) -> Option<String> {
    let limit = text.len().saturating_mul(MAX_GROWTH);
    let mut reader = Reader::from_str(text);
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let mut in_text = false;
    loop {
        let event = reader.read_event().ok()?;
        let is_space = matches!(&event, Event::Text(text) if text.trim().is_empty());
        // White space between elements would keep the writer from indenting.
        if is_space && !in_text {
            continue;
        }
        in_text = matches!(
            event,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)
        );
        match event {
            Event::Eof => return String::from_utf8(writer.into_inner()).ok(),
            // The writer would break the line after a reference.
            Event::GeneralRef(reference) => {
                let text = format!("&{};", &*reference);
                writer
                    .write_event(Event::Text(BytesText::from_escaped(text)))
                    .ok()?;
            }
            event => writer.write_event(event).ok()?,
        }
        if writer.get_ref().len() > limit {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_lines_are_broken() {
        let short = "<a><b>1</b></a>";
        assert_eq!(pretty(short), short);
        let long = format!("<a x='1'>{}</a>", "<b>1 &amp; &lt;</b> ".repeat(100));
        let broken = pretty(&long);
        assert!(
            broken.starts_with("<a x='1'>\n  <b>1 &amp; &lt;</b>\n"),
            "{broken}"
        );
        assert_eq!(
            broken.lines().filter(|line| line.contains("<b>")).count(),
            100
        );
    }

    #[test]
    fn what_is_not_well_formed_or_too_deep_stays() {
        for text in [
            "<a><b></a>".repeat(100),
            "<a>".repeat(10_000),
            format!("{}{}", "<a>".repeat(5_000), "</a>".repeat(5_000)),
        ] {
            assert_eq!(pretty(&text), text);
        }
    }
}
