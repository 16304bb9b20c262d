//! The deserializer of Rust types from nodes. Its rules are those of `serde_json`, with two differences for numbers:
//!
//! - As in JSON Schema, 1.0 is an integer. This holds up to [`MAX_SAFE_INTEGER`].
//! - No number silently changes its value: an integer beyond 64 bits, or a number beyond the range of `f32`, is an error for
//!   types that cannot hold it.

use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde_json::Error;

use super::access::Variant;
use super::{Kind, Node};

/// The largest integer whose float represents no other integer, 2^53 - 1: ECMAScript's `Number.MAX_SAFE_INTEGER`.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns the integer that a float represents. Returns `None` for a fraction, and beyond [`MAX_SAFE_INTEGER`], where several
/// integers share a float.
fn integer(float: f64) -> Option<i64> {
    // The range makes the conversion exact.
    (float.fract() == 0.0 && float.abs() <= MAX_SAFE_INTEGER).then_some(float as i64)
}

/// Returns true if the value contains an integer in the form of a float, such as `1.0` or `1e2`.
pub(super) fn has_integral_float(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Float(number) => integer(number).is_some(),
        Kind::Array => node.elements().any(has_integral_float),
        Kind::Object => node.members().any(|(_, member)| has_integral_float(member)),
        _ => false,
    }
}

/// The treatment of floats if the requested type is unknown, as in untagged enums and flattened structs, which serde buffers
/// before it knows their types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floats {
    /// Passes floats as they are.
    AsSent,
    /// Passes integral floats as integers.
    AsIntegers,
}

/// Deserializes Rust types from a node.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'de> {
    pub(super) node: Node<'de>,
    floats: Floats,
}

impl<'de> NodeDeserializer<'de> {
    pub(super) fn new(node: Node<'de>, floats: Floats) -> Self {
        Self { node, floats }
    }

    pub(super) fn at(self, node: Node<'de>) -> Self {
        Self { node, ..self }
    }

    pub(super) fn describe(self) -> Unexpected<'de> {
        match self.node.kind() {
            Kind::Null => Unexpected::Unit,
            Kind::Bool(flag) => Unexpected::Bool(flag),
            Kind::Unsigned(number) => Unexpected::Unsigned(number),
            Kind::Negative(number) => Unexpected::Signed(number),
            Kind::Float(number) => Unexpected::Float(number),
            Kind::BigInteger(digits) => Unexpected::Other(digits),
            Kind::String(string) => Unexpected::Str(string),
            Kind::Array => Unexpected::Seq,
            Kind::Object => Unexpected::Map,
        }
    }

    /// Passes an integer beyond 64 bits to a visitor for 128-bit integers.
    fn big_integer<V: Visitor<'de>>(self, digits: &str, visitor: V) -> Result<V::Value, Error> {
        if let Ok(number) = digits.parse() {
            visitor.visit_u128(number)
        } else if let Ok(number) = digits.parse() {
            visitor.visit_i128(number)
        } else {
            Err(Error::invalid_value(self.describe(), &visitor))
        }
    }

    /// Passes an integral float as an integer.
    fn integral<V: Visitor<'de>>(number: i64, visitor: V) -> Result<V::Value, Error> {
        match u64::try_from(number) {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => visitor.visit_i64(number),
        }
    }
}

/// Methods that accept one kind of value.
macro_rules! only {
    ($($method:ident: $kind:pat,)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.node.kind() {
                $kind => self.deserialize_any(visitor),
                _ => Err(Error::invalid_type(self.describe(), &visitor)),
            }
        })*
    };
}

/// Methods that accept integers. Methods for 64 bits and fewer reject larger ones.
macro_rules! integers {
    ($($method:ident: $is_big_integer:literal,)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.node.kind() {
                Kind::Unsigned(number) => visitor.visit_u64(number),
                Kind::Negative(number) => visitor.visit_i64(number),
                Kind::Float(number) => match integer(number) {
                    Some(number) => Self::integral(number, visitor),
                    None => visitor.visit_f64(number),
                },
                Kind::BigInteger(digits) if $is_big_integer => self.big_integer(digits, visitor),
                Kind::BigInteger(_) => Err(Error::invalid_value(self.describe(), &visitor)),
                _ => Err(Error::invalid_type(self.describe(), &visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(flag) => visitor.visit_bool(flag),
            Kind::Unsigned(number) => visitor.visit_u64(number),
            Kind::Negative(number) => visitor.visit_i64(number),
            Kind::Float(number) => {
                match integer(number).filter(|_| self.floats == Floats::AsIntegers) {
                    Some(number) => Self::integral(number, visitor),
                    None => visitor.visit_f64(number),
                }
            }
            Kind::BigInteger(digits) => self.big_integer(digits, visitor),
            Kind::String(string) => visitor.visit_borrowed_str(string),
            Kind::Array => self.array(self.node.elements(), visitor),
            Kind::Object => self.object(self.node.members(), visitor),
        }
    }

    integers! {
        deserialize_i8: false,
        deserialize_i16: false,
        deserialize_i32: false,
        deserialize_i64: false,
        deserialize_i128: true,
        deserialize_u8: false,
        deserialize_u16: false,
        deserialize_u32: false,
        deserialize_u64: false,
        deserialize_u128: true,
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = self.node.to_number().and_then(|number| number.as_f64());
        // serde_json would pass infinity to the tool.
        if number.is_some_and(|number| (number as f32).is_infinite()) {
            return Err(Error::invalid_value(
                self.describe(),
                &"a number in the range of f32",
            ));
        }
        self.deserialize_f64(visitor)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Unsigned(number) => visitor.visit_u64(number),
            Kind::Negative(number) => visitor.visit_i64(number),
            Kind::Float(number) => visitor.visit_f64(number),
            Kind::BigInteger(digits) => visitor.visit_f64(digits.parse().unwrap_or(f64::NAN)),
            _ => Err(Error::invalid_type(self.describe(), &visitor)),
        }
    }

    only! {
        deserialize_bool: Kind::Bool(_),
        deserialize_char: Kind::String(_),
        deserialize_str: Kind::String(_),
        deserialize_string: Kind::String(_),
        deserialize_identifier: Kind::String(_),
        deserialize_bytes: Kind::String(_) | Kind::Array,
        deserialize_byte_buf: Kind::String(_) | Kind::Array,
        deserialize_unit: Kind::Null,
        deserialize_seq: Kind::Array,
        deserialize_map: Kind::Object,
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Array | Kind::Object => self.deserialize_any(visitor),
            _ => Err(Error::invalid_type(self.describe(), &visitor)),
        }
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(variant) = self.node.as_str() {
            return visitor.visit_enum(Variant {
                variant,
                content: None,
            });
        }
        let mut members = self.node.members();
        match (members.next(), members.next()) {
            (Some((variant, content)), None) => visitor.visit_enum(Variant {
                variant,
                content: Some(self.at(content)),
            }),
            _ => Err(Error::invalid_type(self.describe(), &"string or map")),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}
