//! [`SplitCharacters`]: joins a character whose parts arrive in several documents of a stream.
//!
//! Services cut the text of a model between its tokens, which may be parts of a character: halves of a surrogate pair, or bytes of UTF-8.
//! rig refuses a document with such a part, and with it the reply.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the text of a line, with an escape in place of each byte that is no UTF-8. Python escapes it by the same surrogates.
pub(super) fn escaped(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return text.into();
    }
    let mut text = String::new();
    for chunk in line.utf8_chunks() {
        text += chunk.valid();
        for byte in chunk.invalid() {
            text += &format!("\\udc{byte:02x}");
        }
    }
    text.into()
}

/// Returns a document with U+FFFD in place of parts of characters.
pub(super) fn readable(document: &str) -> Cow<'_, str> {
    if has_surrogate(document) {
        Document::new(document).written().into()
    } else {
        document.into()
    }
}

/// The characters of a stream.
#[derive(Default)]
pub(super) struct SplitCharacters {
    /// The last document, if one of its texts ends in a part of a character.
    held: Option<Document>,
}

impl SplitCharacters {
    /// Takes the next document, or the end of the stream. Returns the documents that are whole.
    pub(super) fn read<'a>(&mut self, document: Option<&'a str>) -> Vec<Cow<'a, str>> {
        let mut next = document
            .filter(|text| has_surrogate(text))
            .map(Document::new);
        let mut whole = Vec::new();
        if let Some(mut held) = self.held.take() {
            let mut parts = next.iter_mut().flat_map(|next| &mut next.parts);
            let tail = held.parts.iter_mut().rfind(|part| part.is_last);
            if let (Some(head), Some(tail)) = (parts.find(|part| part.is_first), tail) {
                head.units.splice(0..0, tail.units.drain(..));
            }
            whole.push(held.written().into());
        }
        match next {
            Some(next) if next.is_cut() => self.held = Some(next),
            Some(next) => whole.push(next.written().into()),
            None => whole.extend(document.map(Cow::from)),
        }
        whole
    }
}

/// A document and the parts of characters in it.
struct Document {
    text: String,
    parts: Vec<Parts>,
}

/// Parts of characters that follow each other.
struct Parts {
    place: Range<usize>,
    units: Vec<u16>,
    is_first: bool,
    is_last: bool,
}

impl Document {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut parts, mut at) = (Vec::<Parts>::new(), 0);
        while at < bytes.len() {
            match (bytes[at], surrogate(bytes, at)) {
                (_, Some(unit)) => {
                    let end = at + 6;
                    match parts.last_mut().filter(|parts| parts.place.end == at) {
                        Some(parts) => {
                            parts.place.end = end;
                            parts.units.push(unit);
                        }
                        None => parts.push(Parts {
                            place: at..end,
                            units: vec![unit],
                            is_first: text[..at].ends_with('"'),
                            is_last: false,
                        }),
                    }
                    at = end;
                }
                (b'\\', None) => at += 2,
                _ => at += 1,
            }
        }
        for part in &mut parts {
            part.is_last = text[part.place.end..].starts_with('"');
        }
        let text = text.to_owned();
        Self { text, parts }
    }

    /// Returns true if a text ends in a part of a character.
    fn is_cut(&self) -> bool {
        let is_broken = |part: &Parts| part.text().contains(char::REPLACEMENT_CHARACTER);
        self.parts
            .iter()
            .any(|part| part.is_last && is_broken(part))
    }

    fn written(&self) -> String {
        let (mut text, mut end) = (String::new(), 0);
        for part in &self.parts {
            text += &self.text[end..part.place.start];
            text += &part.text();
            end = part.place.end;
        }
        text + &self.text[end..]
    }
}

impl Parts {
    fn text(&self) -> String {
        let byte = |unit: &u16| u8::try_from(unit.checked_sub(0xdc00)?).ok();
        let bytes = self.units.iter().map(byte).collect::<Option<Vec<_>>>();
        match bytes {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => String::from_utf16_lossy(&self.units),
        }
    }
}

fn has_surrogate(text: &str) -> bool {
    text.contains("\\ud") || text.contains("\\uD")
}

/// Returns the half of a surrogate pair that is escaped at a place.
fn surrogate(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(documents: &[&[u8]]) -> Vec<String> {
        let mut characters = SplitCharacters::default();
        let mut whole = Vec::new();
        for document in documents {
            whole.extend(
                characters
                    .read(Some(&escaped(document)))
                    .into_iter()
                    .map(Cow::into_owned),
            );
        }
        whole.extend(characters.read(None).into_iter().map(Cow::into_owned));
        whole
    }

    #[test]
    fn a_character_is_joined_however_it_is_cut() {
        for (documents, expected) in [
            (
                &[&br#"["a\ud83d"]"#[..], br#"["\ude00b"]"#][..],
                &[r#"["a"]"#, "[\"\u{1f600}b\"]"][..],
            ),
            (
                &[b"[\"a\xf0\"]", b"[\"\x9f\x98\"]", b"[\"\x80\"]"],
                &[r#"["a"]"#, r#"[""]"#, "[\"\u{1f600}\"]"],
            ),
            (
                &[br#"["\uD83D"]"#, br#"["\uDE00\uD83D"]"#, br#"["\uDE01"]"#],
                &[r#"[""]"#, r#"[""]"#, "[\"\u{1f600}\u{1f601}\"]"],
            ),
            (
                &[b"[\"caf\xc3\"]", b"[\"\xa9\"]"],
                &[r#"["caf"]"#, "[\"é\"]"],
            ),
        ] {
            assert_eq!(read(documents), expected);
        }
    }

    #[test]
    fn a_part_without_its_other_parts_is_replaced() {
        assert_eq!(read(&[br#"["\ud83d"]"#]), ["[\"\u{fffd}\"]"]);
        assert_eq!(read(&[br#"["\ud83d"]"#, b"[]"]), ["[\"\u{fffd}\"]", "[]"]);
        assert_eq!(
            read(&[br#"["\ud83d\\ud83d \\\ude00"]"#]),
            ["[\"\u{fffd}\\\\ud83d \\\\\u{fffd}\"]"]
        );
        assert_eq!(
            read(&[b"[\"caf\xe9\", \"\xff\"]"]),
            ["[\"caf\u{fffd}\", \"\u{fffd}\"]"]
        );
        assert_eq!(
            readable(r#"["\ud83d\ude00\udc00"]"#),
            "[\"\u{1f600}\u{fffd}\"]"
        );
    }
}
