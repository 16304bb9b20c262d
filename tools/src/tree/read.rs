//! Trees of text. serde_json does the reading, so that what is JSON is decided in one place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::build::Builder;
use super::node::Mark;
use super::{Tree, Unfit};

/// Reads a whole text.
pub(super) fn read(text: String) -> Result<Tree, String> {
    let mut builder = Builder::new(&text);
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let value = Value { builder: &mut builder, start: text.as_ptr().addr() };
    match value.deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => {
            let mut tree = builder.finish();
            tree.text = text;
            Ok(tree)
        }
        Err(_) => Err(text),
    }
}

/// The place of one value.
struct Value<'b, 't> {
    builder: &'b mut Builder<'t>,
    /// Where the text begins in memory: what is borrowed from it says by its own address where it stands.
    start: usize,
}

impl<'t> Value<'_, 't> {
    fn inner(&mut self) -> Value<'_, 't> {
        Value { builder: self.builder, start: self.start }
    }

    fn scalar<E: Error>(self, mark: Mark) -> Result<(), E> {
        self.builder.scalar(mark);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(Mark::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.scalar(Mark::Bool(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.scalar(Mark::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.scalar(match u64::try_from(number) {
            Ok(number) => Mark::Unsigned(number),
            Err(_) => Mark::Negative(number),
        })
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.scalar(Mark::Float(number))
    }

    fn visit_borrowed_str<E: Error>(self, string: &'de str) -> Result<(), E> {
        self.builder.plain(string.as_ptr().addr() - self.start, string.len()).map_err(refused)
    }

    fn visit_str<E: Error>(self, string: &str) -> Result<(), E> {
        self.builder.other(string).map_err(refused)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let place = self.builder.open().map_err(refused)?;
        let mut len = 0;
        while items.next_element_seed(self.inner())?.is_some() {
            len += 1;
        }
        self.builder.close_array(place, len).map_err(refused)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let place = self.builder.open().map_err(refused)?;
        let mut len = 0;
        while members.next_key_seed(self.inner())?.is_some() {
            members.next_value_seed(self.inner())?;
            len += 1;
        }
        self.builder.close_object(place, len).map_err(refused)
    }
}

/// The reason is found by whoever has to tell it.
fn refused<E: Error>(_: Unfit) -> E {
    E::custom("refused")
}
