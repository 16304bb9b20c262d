//! JSON that is serialized from a Rust type and parsed only on first access.

use std::io;
use std::sync::OnceLock;

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Error, Value};

use super::{Json, MAX_DEPTH};

/// JSON text that `serde_json` wrote, without white space.
pub(super) struct Serialized {
    pub(super) text: String,
    pub(super) parsed: OnceLock<Json>,
}

impl Serialized {
    pub(super) fn as_json(&self) -> &Json {
        self.parsed.get_or_init(|| {
            Json::parse(self.text.as_str()).unwrap_or_else(|_| {
                // A type may serialize a key twice. The last value counts, as in `serde_json::to_value`.
                let value = serde_json::from_str::<Value>(&self.text);
                value.unwrap_or_default().into()
            })
        })
    }
}

/// Serializes a value. Returns `None` if it nests deeper than [`MAX_DEPTH`].
pub(super) fn serialize(value: &impl Serialize) -> Result<Option<Serialized>, Error> {
    let mut bytes = Vec::with_capacity(128);
    let mut deepest = 0;
    let format = Compact {
        depth: 0,
        deepest: &mut deepest,
    };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, format))?;
    let text = String::from_utf8(bytes).map_err(Error::custom)?;
    Ok((deepest <= MAX_DEPTH).then(|| Serialized {
        text,
        parsed: OnceLock::new(),
    }))
}

/// Writes compact JSON and records its depth.
struct Compact<'a> {
    depth: usize,
    deepest: &'a mut usize,
}

impl Compact<'_> {
    fn enter(&mut self) {
        self.depth += 1;
        *self.deepest = (*self.deepest).max(self.depth);
    }
}

impl Formatter for Compact<'_> {
    #[inline]
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter();
        writer.write_all(b"[")
    }

    #[inline]
    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"]")
    }

    #[inline]
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter();
        writer.write_all(b"{")
    }

    #[inline]
    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }
}
