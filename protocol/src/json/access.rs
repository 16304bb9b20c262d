//! Serde's access traits for the contents of arrays, objects and enums.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde_json::Error;

use super::deserialize::NodeDeserializer;
use super::key::Key;
use super::{Elements, Kind, Members, Node};

impl<'de> NodeDeserializer<'de> {
    #[inline]
    pub(super) fn array<V: Visitor<'de>>(
        self,
        elements: Elements<'de>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let len = elements.len();
        let mut items = Items {
            elements,
            reader: self,
        };
        let value = visitor.visit_seq(&mut items)?;
        if items.elements.len() > 0 {
            return Err(Error::invalid_length(len, &"fewer elements in array"));
        }
        Ok(value)
    }

    #[inline]
    pub(super) fn object<V: Visitor<'de>>(
        self,
        members: Members<'de>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let len = members.len();
        let mut pairs = Pairs {
            members,
            member: None,
            reader: self,
        };
        let value = visitor.visit_map(&mut pairs)?;
        if pairs.members.len() > 0 {
            Err(Error::invalid_length(len, &"fewer elements in map"))
        } else {
            Ok(value)
        }
    }
}

struct Items<'de> {
    elements: Elements<'de>,
    reader: NodeDeserializer<'de>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.elements
            .next()
            .map(|element| seed.deserialize(self.reader.at(element)))
            .transpose()
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Pairs<'de> {
    members: Members<'de>,
    member: Option<Node<'de>>,
    reader: NodeDeserializer<'de>,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, member)) = self.members.next() else {
            return Ok(None);
        };
        self.member = Some(member);
        seed.deserialize(Key(key)).map(Some)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        match self.member.take() {
            Some(member) => seed.deserialize(self.reader.at(member)),
            None => Err(Error::custom("value is missing")),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// An enum variant and its content, if any.
pub(super) struct Variant<'de> {
    pub(super) variant: &'de str,
    pub(super) content: Option<NodeDeserializer<'de>>,
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
    #[inline]
    fn content(&self, expected: &'static str) -> Result<NodeDeserializer<'de>, Error> {
        self.content
            .ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.content.map(|content| content.node.kind()) {
            None | Some(Kind::Null) => Ok(()),
            Some(_) => Err(Error::custom("expected a unit variant without content")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.content("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let content = self.content("tuple variant")?;
        match (content.node.kind(), content.node.elements()) {
            (Kind::Array, elements) if elements.len() == 0 => visitor.visit_unit(),
            (Kind::Array, elements) => content.array(elements, visitor),
            _ => Err(Error::invalid_type(content.describe(), &"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let content = self.content("struct variant")?;
        match content.node.kind() {
            Kind::Object => content.object(content.node.members(), visitor),
            _ => Err(Error::invalid_type(content.describe(), &"struct variant")),
        }
    }
}
