//! Types from trees, by the rules of `serde_json::from_value`.
//!
//! What is read here would be read from a value as well. The other way round does not hold (keys that are numbers, for
//! example): where this fails, the value is asked.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde_json::Error;

use super::node::Mark;
use super::{Elements, Members, Node};

impl<'de> Node<'de> {
    fn unexpected(self) -> Unexpected<'de> {
        match self.mark() {
            Mark::Null => Unexpected::Unit,
            Mark::Bool(flag) => Unexpected::Bool(flag),
            Mark::Unsigned(number) => Unexpected::Unsigned(number),
            Mark::Negative(number) => Unexpected::Signed(number),
            Mark::Float(number) => Unexpected::Float(number),
            Mark::Plain { .. } | Mark::Other { .. } => Unexpected::Str(self.as_str().unwrap_or_default()),
            Mark::Array { .. } => Unexpected::Seq,
            Mark::Object { .. } => Unexpected::Map,
        }
    }

    fn array<V: Visitor<'de>>(elements: Elements<'de>, visitor: V) -> Result<V::Value, Error> {
        let len = elements.len();
        let mut items = Items(elements);
        let value = visitor.visit_seq(&mut items)?;
        if items.0.len() > 0 { Err(Error::invalid_length(len, &"fewer elements in array")) } else { Ok(value) }
    }

    fn object<V: Visitor<'de>>(members: Members<'de>, visitor: V) -> Result<V::Value, Error> {
        let len = members.len();
        let mut pairs = Pairs { members, member: None };
        let value = visitor.visit_map(&mut pairs)?;
        if pairs.members.len() > 0 { Err(Error::invalid_length(len, &"fewer elements in map")) } else { Ok(value) }
    }
}

/// Methods that take one kind of value alone.
macro_rules! only {
    ($($method:ident: $kind:pat,)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.mark() {
                $kind => self.deserialize_any(visitor),
                _ => Err(Error::invalid_type(self.unexpected(), &visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.mark() {
            Mark::Null => visitor.visit_unit(),
            Mark::Bool(flag) => visitor.visit_bool(flag),
            Mark::Unsigned(number) => visitor.visit_u64(number),
            Mark::Negative(number) => visitor.visit_i64(number),
            Mark::Float(number) => visitor.visit_f64(number),
            Mark::Plain { .. } | Mark::Other { .. } => visitor.visit_borrowed_str(self.as_str().unwrap_or_default()),
            Mark::Array { .. } => Self::array(self.elements(), visitor),
            Mark::Object { .. } => Self::object(self.members(), visitor),
        }
    }

    only! {
        deserialize_bool: Mark::Bool(_),
        deserialize_i8: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_i16: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_i32: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_i64: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_i128: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_u8: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_u16: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_u32: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_u64: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_u128: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_f32: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_f64: Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_),
        deserialize_char: Mark::Plain { .. } | Mark::Other { .. },
        deserialize_str: Mark::Plain { .. } | Mark::Other { .. },
        deserialize_string: Mark::Plain { .. } | Mark::Other { .. },
        deserialize_identifier: Mark::Plain { .. } | Mark::Other { .. },
        deserialize_bytes: Mark::Plain { .. } | Mark::Other { .. } | Mark::Array { .. },
        deserialize_byte_buf: Mark::Plain { .. } | Mark::Other { .. } | Mark::Array { .. },
        deserialize_unit: Mark::Null,
        deserialize_seq: Mark::Array { .. },
        deserialize_map: Mark::Object { .. },
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.mark() {
            Mark::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.mark() {
            Mark::Array { .. } | Mark::Object { .. } => self.deserialize_any(visitor),
            _ => Err(Error::invalid_type(self.unexpected(), &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(variant) = self.as_str() {
            return visitor.visit_enum(Variant { variant, content: None });
        }
        let mut members = self.members();
        match (members.next(), members.next()) {
            (Some((variant, content)), None) => visitor.visit_enum(Variant { variant, content: Some(content) }),
            _ => Err(Error::invalid_type(self.unexpected(), &"string or map")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

impl<'de> IntoDeserializer<'de, Error> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Items<'de>(Elements<'de>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|element| seed.deserialize(element)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Pairs<'de> {
    members: Members<'de>,
    member: Option<Node<'de>>,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, member)) = self.members.next() else { return Ok(None) };
        self.member = Some(member);
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        match self.member.take() {
            Some(member) => seed.deserialize(member),
            None => Err(Error::custom("value is missing")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

struct Variant<'de> {
    variant: &'de str,
    content: Option<Node<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.variant.into_deserializer();
        seed.deserialize(name).map(|variant| (variant, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self, expected: &'static str) -> Result<Node<'de>, Error> {
        self.content.ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.content.map(Node::mark) {
            None | Some(Mark::Null) => Ok(()),
            Some(_) => Err(Error::custom("a variant without content has some")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.content("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let content = self.content("tuple variant")?;
        match content.as_array() {
            Some(elements) if elements.len() == 0 => visitor.visit_unit(),
            Some(elements) => Node::array(elements, visitor),
            None => Err(Error::invalid_type(content.unexpected(), &"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        let content = self.content("struct variant")?;
        match content.as_object() {
            Some(members) => Node::object(members, visitor),
            None => Err(Error::invalid_type(content.unexpected(), &"struct variant")),
        }
    }
}
