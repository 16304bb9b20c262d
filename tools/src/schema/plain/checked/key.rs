//! Keys of an object, as they are read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

use super::{sure, unsure};
use crate::schema::plain::Object;

/// A key that has to be that of a member, and not of one that was there: what is to be read of it, the text that it is read from, and
/// its reader, in turn.
pub(super) struct Key<'m, T> {
    pub(super) inner: T,
    pub(super) object: &'m Object,
    pub(super) seen: &'m mut u64,
    pub(super) place: &'m mut usize,
}

impl<T> Key<'_, T> {
    #[inline]
    fn tick<E: Error>(&mut self, key: &str) -> Result<(), E> {
        let next = if *self.seen == 0 { 0 } else { *self.place + 1 };
        *self.place = self.object.find(key.as_bytes(), next).ok_or_else(unsure)?;
        let bit = 1 << *self.place;
        sure(*self.seen & bit == 0)?;
        *self.seen |= bit;
        Ok(())
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let Self { inner: seed, object, seen, place } = self;
        seed.deserialize(Key { inner, object, seen, place })
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Key<'_, D> {
    type Error = D::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Self { inner, object, seen, place } = self;
        inner.deserialize_str(Key { inner: visitor, object, seen, place })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Key<'_, V> {
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
