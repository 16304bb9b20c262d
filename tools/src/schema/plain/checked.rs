//! A type, read from text and checked on the way against a plain schema.
//!
//! What a type takes is not what its schema says: a derived struct takes an array as well, an integer has bounds that its schema
//! may not have, what is unknown is passed over. So the type is not asked. Between the reader of the text and the type stands one
//! that sees every value as it comes, with what the schema says of its place, and gives up at the first that it cannot vouch for.

mod key;

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

use self::key::Key;
use super::{Kind, Plain, Tally};

/// The whole text as a type, where it surely satisfies the schema, has no key twice and fits the type.
pub(crate) fn read<T: DeserializeOwned>(text: &str, plain: &Plain) -> Option<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Checked { inner: &mut json, plain }).ok()?;
    json.end().ok()?;
    Some(value)
}

/// Nobody reads it: the text is read once more then, for a verdict.
fn unsure<E: Error>() -> E {
    E::custom("")
}

fn sure<E: Error>(is_sure: bool) -> Result<(), E> {
    if is_sure { Ok(()) } else { Err(unsure()) }
}

/// A value that has to satisfy a schema.
struct Checked<'p, D> {
    inner: D,
    plain: &'p Plain,
}

/// The reader of such a value, which is told only what satisfies the schema.
struct Watch<'p, V> {
    visitor: V,
    plain: &'p Plain,
}

macro_rules! watched {
    ($($method:ident as $inner:ident ($($name:ident: $type:ty),*),)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$inner($($name,)* Watch { visitor, plain: self.plain })
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Checked<'_, D> {
    type Error = D::Error;

    watched! {
        deserialize_any as deserialize_any(),
        deserialize_bool as deserialize_bool(),
        deserialize_i8 as deserialize_i8(),
        deserialize_i16 as deserialize_i16(),
        deserialize_i32 as deserialize_i32(),
        deserialize_i64 as deserialize_i64(),
        // What 64 bits do not hold is no integer in a value.
        deserialize_i128 as deserialize_any(),
        deserialize_u128 as deserialize_any(),
        deserialize_u8 as deserialize_u8(),
        deserialize_u16 as deserialize_u16(),
        deserialize_u32 as deserialize_u32(),
        deserialize_u64 as deserialize_u64(),
        // Rounded once to 64 bits and then to 32, as in a value.
        deserialize_f32 as deserialize_f64(),
        deserialize_f64 as deserialize_f64(),
        deserialize_char as deserialize_char(),
        deserialize_str as deserialize_str(),
        deserialize_string as deserialize_string(),
        deserialize_identifier as deserialize_identifier(),
        deserialize_option as deserialize_option(),
        deserialize_unit as deserialize_unit(),
        deserialize_seq as deserialize_seq(),
        deserialize_map as deserialize_map(),
        deserialize_tuple as deserialize_tuple(len: usize),
        deserialize_unit_struct as deserialize_unit_struct(name: &'static str),
        deserialize_tuple_struct as deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_struct as deserialize_struct(name: &'static str, fields: &'static [&'static str]),
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        // Names like this ask serde_json for the text as it stands, which nobody has looked at then.
        sure(!name.starts_with('$'))?;
        self.inner.deserialize_newtype_struct(name, Watch { visitor, plain: self.plain })
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // A word, and not the object that serde_json takes for one as well.
        self.inner.deserialize_str(Choice(Watch { visitor, plain: self.plain }))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(unsure())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(unsure())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(unsure())
    }
}

impl<V> Watch<'_, V> {
    #[inline]
    fn integer<E: Error>(&self, number: i128) -> Result<(), E> {
        sure(match &self.plain.kind {
            Kind::Integer(range) => range.contains(&number),
            Kind::Number => true,
            _ => false,
        })
    }

    #[inline]
    fn string<E: Error>(&self, string: &str) -> Result<(), E> {
        sure(self.plain.kind.takes(string))
    }

    #[inline]
    fn null<E: Error>(&self) -> Result<(), E> {
        sure(self.plain.is_nullable || matches!(self.plain.kind, Kind::Null))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Watch<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    #[inline]
    fn visit_bool<E: Error>(self, flag: bool) -> Result<V::Value, E> {
        sure(matches!(self.plain.kind, Kind::Boolean))?;
        self.visitor.visit_bool(flag)
    }

    #[inline]
    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.integer(number.into())?;
        self.visitor.visit_i64(number)
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.integer(number.into())?;
        self.visitor.visit_u64(number)
    }

    #[inline]
    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        sure(matches!(self.plain.kind, Kind::Number))?;
        self.visitor.visit_f64(number)
    }

    #[inline]
    fn visit_str<E: Error>(self, string: &str) -> Result<V::Value, E> {
        self.string(string)?;
        self.visitor.visit_str(string)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, string: &'de str) -> Result<V::Value, E> {
        self.string(string)?;
        self.visitor.visit_borrowed_str(string)
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.null()?;
        self.visitor.visit_unit()
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.null()?;
        self.visitor.visit_none()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Checked { inner, plain: self.plain })
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Checked { inner, plain: self.plain })
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Kind::Array(plain) = &self.plain.kind else { return Err(unsure()) };
        self.visitor.visit_seq(Elements { inner, plain })
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Kind::Object(object) = &self.plain.kind else { return Err(unsure()) };
        let mut members = Members { inner, tally: Tally::new(object), plain: None };
        let value = self.visitor.visit_map(&mut members)?;
        sure(members.tally.is_whole())?;
        Ok(value)
    }
}

/// The reader of an enumeration without content: one of the words.
struct Choice<'p, V>(Watch<'p, V>);

impl<'de, V: Visitor<'de>> Visitor<'de> for Choice<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_str<E: Error>(self, word: &str) -> Result<V::Value, E> {
        self.0.string(word)?;
        self.0.visitor.visit_enum(StrDeserializer::new(word))
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, word: &'de str) -> Result<V::Value, E> {
        self.0.string(word)?;
        self.0.visitor.visit_enum(BorrowedStrDeserializer::new(word))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<V::Value, A::Error> {
        Err(unsure())
    }
}

/// What is to be read of a value that has to satisfy a schema.
struct Seed<'p, S> {
    seed: S,
    plain: &'p Plain,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Checked { inner, plain: self.plain })
    }
}

struct Elements<'p, A> {
    inner: A,
    plain: &'p Plain,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_element_seed(Seed { seed, plain: self.plain })
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

struct Members<'p, A> {
    inner: A,
    tally: Tally<'p>,
    /// The schema of the member whose key was read last.
    plain: Option<&'p Plain>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Self { inner, tally, plain } = self;
        inner.next_key_seed(Key { inner: seed, tally, plain })
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.plain {
            Some(plain) => self.inner.next_value_seed(Seed { seed, plain }),
            None => Err(unsure()),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests;
