//! [`SecretPlace`]: the place of a secret that tools' requests to one origin have in a header.

use serde::Deserialize;
use serde_json::Value;

use host::settings::{Base, Document, file, non_blank, url, variable};
use tools_text::KeySource;

/// A secret by its place, with the origin and the header that it is bound to. The secret itself is read when a session starts.
#[derive(Clone, Debug)]
pub struct SecretPlace {
    /// The name, which stands in messages in place of the secret.
    pub name: String,
    /// The scheme, host and port, such as `https://api.example.org`.
    pub origin: String,
    /// The header that has it.
    pub header: String,
    /// The text before the secret in the header.
    pub prefix: String,
    /// The place.
    pub source: KeySource,
}

/// The table of a secret in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretTable {
    name: String,
    origin: String,
    header: String,
    #[serde(default)]
    prefix: String,
    env: Option<String>,
    file: Option<String>,
}

impl SecretPlace {
    /// Returns the secret of a table, or the end of a sentence that begins with the key.
    pub(super) fn from_table(table: SecretTable, base: Base<'_>) -> Result<Self, String> {
        let field = |name: &str| {
            let name = name.to_owned();
            move |reason: String| format!("has an invalid {name}: it {reason}")
        };
        let source = match (table.env, table.file) {
            (Some(name), None) => {
                KeySource::Environment(variable(&name, base).map_err(field("env"))?)
            }
            (None, Some(path)) => KeySource::File(file(&path, base).map_err(field("file"))?),
            _ => {
                let fault = "needs one place of the secret: env = \"VARIABLE\", or file = \"PATH\"";
                return Err(fault.to_owned());
            }
        };
        let origin = url(&table.origin, base).map_err(field("origin"))?;
        Ok(Self {
            name: non_blank(&table.name, base).map_err(field("name"))?,
            origin: origin.trim_end_matches('/').to_owned(),
            header: non_blank(&table.header, base).map_err(field("header"))?,
            prefix: table.prefix,
            source,
        })
    }
}

impl Document for SecretPlace {
    fn document(&self) -> Value {
        let mut document = self.source.document();
        for (key, text) in [
            ("name", &self.name),
            ("origin", &self.origin),
            ("header", &self.header),
            ("prefix", &self.prefix),
        ] {
            document[key] = text.as_str().into();
        }
        document
    }
}
