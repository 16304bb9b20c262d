//! Keys of an object, as they are read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

use super::sure;
use crate::schema::plain::{Plain, Tally};

/// A key that has to be that of a member, and not of one that was there: what is to be read of it, the text that it is read from, and
/// its reader, in turn.
pub(super) struct Key<'m, 'p, T> {
    pub(super) inner: T,
    pub(super) tally: &'m mut Tally<'p>,
    /// Where the schema of the member goes.
    pub(super) plain: &'m mut Option<&'p Plain>,
}

impl<T> Key<'_, '_, T> {
    #[inline]
    fn tick<E: Error>(&mut self, key: &str) -> Result<(), E> {
        *self.plain = self.tally.tick(key.as_bytes());
        sure(self.plain.is_some())
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<'_, '_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let Self { inner: seed, tally, plain } = self;
        seed.deserialize(Key { inner, tally, plain })
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Key<'_, '_, D> {
    type Error = D::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Self { inner, tally, plain } = self;
        inner.deserialize_str(Key { inner: visitor, tally, plain })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Key<'_, '_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    #[inline]
    fn visit_str<E: Error>(mut self, key: &str) -> Result<V::Value, E> {
        self.tick(key)?;
        self.inner.visit_str(key)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(mut self, key: &'de str) -> Result<V::Value, E> {
        self.tick(key)?;
        self.inner.visit_borrowed_str(key)
    }
}
