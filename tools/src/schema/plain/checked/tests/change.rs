//! Texts with something in them changed.

use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::IgnoredAny;

/// Pieces of JSON, and of what is none, to be put in the place of a value.
const PIECES: [&str; 33] = [
    "0",
    "1",
    "-1",
    "-0",
    "1.0",
    "1.5",
    "-0.0",
    "1e2",
    "1e400",
    "127",
    "128",
    "255",
    "256",
    "65536",
    "2147483648",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "01",
    "null",
    "true",
    "\"\"",
    "\"a\"",
    "\"b\"",
    "\"\\u00e9\\n\"",
    "\"\\ud800\"",
    "[]",
    "[1]",
    "[\"a\",2]",
    "{}",
    "{\"a\":1}",
    "{\"A\":null}",
    "NaN",
];

#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A value gives way to a piece.
    Put(Index, Index),
    /// A member or an element goes.
    Drop(Index),
    /// An object gets one more member: a name that it may have already, and a piece.
    Add(Index, Index, Index),
    /// A byte of the text goes, or comes.
    Cut(Index),
    Insert(Index, Index),
}

pub(super) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let index = any::<Index>;
    prop::collection::vec(
        prop_oneof![
            8 => (index(), index()).prop_map(|(place, piece)| Change::Put(place, piece)),
            3 => index().prop_map(Change::Drop),
            3 => (index(), index(), index()).prop_map(|(place, name, piece)| Change::Add(place, name, piece)),
            1 => index().prop_map(Change::Cut),
            1 => (index(), index()).prop_map(|(place, byte)| Change::Insert(place, byte)),
        ],
        0..3,
    )
}

/// A text with something in it changed.
pub(super) fn changed(sample: &str, changes: &[Change]) -> String {
    let mut text = sample.to_owned();
    for change in changes {
        let places = places(&text);
        match change {
            Change::Put(place, piece) if !places.is_empty() => {
                let (start, end) = places[place.index(places.len())];
                text.replace_range(start..end, PIECES[piece.index(PIECES.len())]);
            }
            Change::Drop(place) if !places.is_empty() => {
                let (mut start, mut end) = places[place.index(places.len())];
                start = text[..start].rfind([',', '{', '[']).map_or(start, |at| at + 1);
                end += usize::from(text[end..].starts_with(','));
                text.replace_range(start..end, "");
                text = text.replace(",}", "}").replace(",]", "]");
            }
            Change::Add(place, name, piece) => {
                let objects: Vec<_> = text.match_indices('{').map(|(at, _)| at).collect();
                let names = ["a", "b", "c", "d", "e", "unknown", "alias"];
                if objects.is_empty() {
                    continue;
                }
                let at = objects[place.index(objects.len())] + 1;
                let comma = if text[at..].starts_with('}') { "" } else { "," };
                let member =
                    format!("\"{}\":{}{comma}", names[name.index(names.len())], PIECES[piece.index(PIECES.len())]);
                text.insert_str(at, &member);
            }
            Change::Cut(place) if text.is_ascii() && !text.is_empty() => {
                text.remove(place.index(text.len()));
            }
            Change::Insert(place, byte) if text.is_ascii() => {
                let bytes = [' ', '\n', '"', ',', '0', '\u{1}', 'é'];
                text.insert(place.index(text.len() + 1), bytes[byte.index(bytes.len())]);
            }
            _ => {}
        }
    }
    text
}

/// Where values begin and end, roughly: after a colon, a comma or a bracket.
fn places(text: &str) -> Vec<(usize, usize)> {
    let starts = text.match_indices([':', '[', ',']).map(|(at, _)| at + 1);
    let whole = [(0, text.len())];
    starts
        .filter_map(|start| {
            let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<IgnoredAny>();
            values.next()?.ok()?;
            Some((start, start + values.byte_offset()))
        })
        .chain(whole)
        .collect()
}
