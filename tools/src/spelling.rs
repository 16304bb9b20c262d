//! [`Spelling`]: the names of tools and arguments as a model knows them.

use std::borrow::Cow;

use protocol::ToolName;
use protocol::wire::schema::ArgumentsCodec;
use protocol::wire::{Format, WireNames};
use serde_json::json;

use crate::schema::Violation;

/// The names of tools and arguments in texts for one reader.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spelling<'a> {
    /// The format in which a model knows the tools. `None` for a reader of their own names.
    format: Option<Format>,
    /// The codec of the arguments that the reader sent. `None` if both know the same names.
    codec: Option<&'a ArgumentsCodec>,
}

impl<'a> Spelling<'a> {
    pub(crate) fn new(format: Option<Format>) -> Self {
        Self {
            format,
            codec: None,
        }
    }

    /// Sets the codec of the arguments that the reader sent.
    pub(crate) fn with_codec(self, codec: Option<&'a ArgumentsCodec>) -> Self {
        let codec = codec.filter(|codec| codec.replaced_keys().next().is_some());
        Self { codec, ..self }
    }

    /// Returns the name of a tool for the reader. A text that cannot name a tool stays, and a model's name of an unknown tool is as the
    /// model wrote it.
    pub(crate) fn tool<'t>(self, name: &'t str) -> Cow<'t, str> {
        if let Some(wire) = WireNames::absent_wire(name) {
            return Cow::Borrowed(wire);
        }
        match self.format {
            Some(format) if ToolName::new(name).is_ok() => format.names().encode(name),
            _ => Cow::Borrowed(name),
        }
    }

    /// Returns the note about the present name of a tool that was called by a former one.
    pub(crate) fn note_renamed(self, former: &str, present: &str) -> String {
        format!(
            "note: {} is now called {}; use the new name",
            self.tool(former),
            self.tool(present)
        )
    }

    /// Returns the name of an argument for the reader.
    pub(crate) fn argument<'t>(self, key: &'t str) -> &'t str
    where
        'a: 't,
    {
        let mut keys = self
            .codec
            .into_iter()
            .flat_map(ArgumentsCodec::replaced_keys);
        keys.find(|(own, _)| *own == key)
            .map_or(key, |(_, wire)| wire)
    }

    /// Returns the name of an argument that the schema does not name, for the reader.
    pub(crate) fn spell_unnamed<'t>(self, key: &'t str) -> Cow<'t, str> {
        let Some(codec) = self.codec else {
            return Cow::Borrowed(key);
        };
        let encoded = codec.encode(&json!({key: null}).into());
        let wire = encoded
            .value()
            .as_object()
            .and_then(|members| members.keys().next().cloned());
        wire.map_or(Cow::Borrowed(key), Cow::Owned)
    }

    /// Returns a violation of the arguments for the reader.
    pub(crate) fn violation(self, violation: &Violation) -> Cow<'_, Violation> {
        let Some(codec) = self.codec else {
            return Cow::Borrowed(violation);
        };
        let mut spelt = Violation {
            pointer: violation
                .pointer
                .split('/')
                .map(|segment| {
                    let key = segment.replace("~1", "/").replace("~0", "~");
                    self.argument(&key).replace('~', "~0").replace('/', "~1")
                })
                .collect::<Vec<_>>()
                .join("/"),
            near: violation
                .near
                .iter()
                .map(|name| self.argument(name).to_owned())
                .collect(),
            ..violation.clone()
        };
        for (own, wire) in codec.replaced_keys() {
            // Phrases quote names, and the found value is JSON.
            spelt.expected = spelt
                .expected
                .replace(&format!("`{own}`"), &format!("`{wire}`"));
            spelt.found = spelt
                .found
                .replace(&format!("\"{own}\":"), &format!("\"{wire}\":"));
        }
        Cow::Owned(spelt)
    }
}
