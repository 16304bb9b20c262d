//! [`SplitCharacters`]: joins a character whose parts arrive in several documents of a stream.
//!
//! Services cut the text of a model between its tokens, which may be parts of a character: halves of a surrogate pair, or bytes of UTF-8.
//! JSON with such a part cannot be read.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// Returns the text of a line, with an escape in place of each byte that is no UTF-8. Python escapes it by the same surrogates.
pub(crate) fn escape_line(line: &[u8]) -> Cow<'_, str> {
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
fn readable(document: &str) -> Cow<'_, str> {
    let mut text = String::new();
    let mut end = 0;
    for run in runs(document) {
        text += &document[end..run.start];
        text += &decode_escapes(&document[run.clone()]);
        end = run.end;
    }
    if end == 0 {
        return document.into();
    }
    (text + &document[end..]).into()
}

/// The characters of a stream.
#[derive(Default)]
pub(crate) struct SplitCharacters {
    /// The last document, if one of its texts ends in a part of a character.
    held: Option<String>,
}

impl SplitCharacters {
    /// Takes the next document, or the end of the stream. Returns the documents that are whole.
    pub(crate) fn read<'a>(&mut self, document: Option<&'a str>) -> [Option<Cow<'a, str>>; 2] {
        let mut next = document.map(Cow::from);
        let mut whole = None;
        if let Some(mut held) = self.held.take() {
            let head = next.as_ref().and_then(|next| {
                let mut runs = runs(next).into_iter();
                runs.find(|run| next[..run.start].ends_with('"'))
            });
            if let (Some(next), Some(head), Some(tail)) = (&mut next, head, tail(&held)) {
                next.to_mut().insert_str(head.start, &held[tail.clone()]);
                held.replace_range(tail, "");
            }
            whole = Some(readable(&held).into_owned().into());
        }
        let next = match next {
            Some(next) if tail(&next).is_some() => {
                self.held = Some(next.into_owned());
                None
            }
            Some(Cow::Borrowed(next)) => Some(readable(next)),
            next => next.map(|next| readable(&next).into_owned().into()),
        };
        [whole, next]
    }
}

/// Returns the place of the last escapes that are a part of a character at the end of a text.
fn tail(document: &str) -> Option<Range<usize>> {
    runs(document).into_iter().rfind(|run: &Range<usize>| {
        document[run.end..].starts_with('"')
            && decode_escapes(&document[run.clone()]).contains(char::REPLACEMENT_CHARACTER)
    })
}

/// Returns the places of surrogates that are escaped, one or several in a row.
fn runs(document: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::<Range<usize>>::new();
    let mut at = 0;
    while let Some(found) = document
        .get(at..)
        .and_then(|rest| memchr(b'\\', rest.as_bytes()))
    {
        let start = at + found;
        if document.get(start..start + 6).and_then(surrogate).is_none() {
            at = start + 2;
            continue;
        }
        at = start + 6;
        match runs.last_mut().filter(|last| last.end == start) {
            Some(last) => last.end = at,
            None => runs.push(start..at),
        }
    }
    runs
}

/// Returns the half of a surrogate pair that an escape means.
fn surrogate(escape: &str) -> Option<u16> {
    let unit = u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

/// Returns the text of escapes in a row. Those of bytes are read as UTF-8.
fn decode_escapes(run: &str) -> String {
    let escapes = run.as_bytes().chunks(6);
    let units: Vec<_> = escapes
        .filter_map(|escape| surrogate(std::str::from_utf8(escape).ok()?))
        .collect();
    let byte = |unit: &u16| {
        let byte = u8::try_from(unit.checked_sub(0xdc00)?).ok()?;
        (!byte.is_ascii()).then_some(byte)
    };
    match units.iter().map(byte).collect::<Option<Vec<_>>>() {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => String::from_utf16_lossy(&units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(documents: &[&[u8]]) -> Vec<String> {
        let mut characters = SplitCharacters::default();
        let mut whole = Vec::new();
        for document in documents {
            let document = escape_line(document);
            let documents = characters.read(Some(&document));
            whole.extend(documents.into_iter().flatten().map(Cow::into_owned));
        }
        let last = characters.read(None).into_iter().flatten();
        whole.extend(last.map(Cow::into_owned));
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
        assert_eq!(read(&[br#"["\udc22"]"#]), ["[\"\u{fffd}\"]"]);
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
