//! [`ConfiguredChannel`]: a channel of messages by its settings.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::channels::Channels;
use crate::kind::FieldType;
use host::settings::{Base, Document, file, non_blank, variable};
use tools_text::KeySource;

/// A channel of messages. Its secrets are named by their places, and read when a session starts.
#[derive(Clone, Debug)]
pub struct ConfiguredChannel {
    /// The name.
    pub name: String,
    /// The kind, such as `webhook`.
    pub kind: String,
    /// Texts, numbers, lists and absolute paths.
    pub fields: BTreeMap<String, Vec<String>>,
    /// Files that belong to the channel alone.
    pub files: Vec<std::path::PathBuf>,
    /// The places of the secrets, by field.
    pub secrets: BTreeMap<String, KeySource>,
}

/// A field in a file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, a whole number, or a list of texts"
)]
pub(super) enum Field {
    Text(String),
    Integer(i64),
    List(Vec<String>),
}

/// The table of a channel in a file.
pub(super) type ChannelTable = BTreeMap<String, Field>;

impl ConfiguredChannel {
    /// Returns the channel of a table, or the end of a sentence that begins with its key. The sentence repeats no value, which may be a
    /// secret.
    pub(super) fn from_table(
        name: &str,
        mut table: ChannelTable,
        base: Base<'_>,
    ) -> Result<Self, String> {
        Channels::new()
            .with_absent(name, "")
            .map_err(|error| format!("cannot be used: {error}"))?;
        let Some(Field::Text(named)) = table.remove("type") else {
            return Err("needs a type, such as type = \"file\"".to_owned());
        };
        let kind = crate::kind(&named).map_err(|error| format!("has an invalid type: {error}"))?;
        let mut channel = Self {
            name: name.to_owned(),
            kind: named,
            fields: BTreeMap::new(),
            files: Vec::new(),
            secrets: BTreeMap::new(),
        };
        for field in kind.fields {
            let invalid = |reason: String| format!("has an invalid {}: it {reason}", field.name);
            let must_be = |form: &str| invalid(format!("must be {form}"));
            if field.value == FieldType::Secret {
                channel.secrets.extend(
                    secret(field.name, &mut table, base)?
                        .map(|place| (field.name.to_owned(), place)),
                );
            } else if let Some(value) = table.remove(field.name) {
                let texts = match (field.value, value) {
                    (FieldType::Text, Field::Text(text)) => {
                        vec![non_blank(&text, base).map_err(invalid)?]
                    }
                    (FieldType::File, Field::Text(text)) => {
                        let path = file(&text, base).map_err(invalid)?;
                        let path = std::path::absolute(&path).unwrap_or(path);
                        channel.files.push(path.clone());
                        let Some(path) = path.to_str() else {
                            return Err(invalid("is not UTF-8; choose another path".to_owned()));
                        };
                        vec![path.to_owned()]
                    }
                    (FieldType::Integer, Field::Integer(number)) => vec![number.to_string()],
                    (FieldType::List, Field::List(texts)) => texts,
                    (FieldType::Integer, _) => return Err(must_be("a whole number")),
                    (FieldType::List, _) => return Err(must_be("a list of texts")),
                    _ => return Err(must_be("a text")),
                };
                channel.fields.insert(field.name.to_owned(), texts);
            }
        }
        // Before a missing one, which can be this one misspelt.
        if let Some(other) = table.keys().next() {
            let names = kind.fields.iter().flat_map(|field| match field.value {
                FieldType::Secret => vec![
                    format!("{}_env", field.name),
                    format!("{}_file", field.name),
                ],
                _ => vec![field.name.to_owned()],
            });
            let known: Vec<_> = ["type".to_owned()].into_iter().chain(names).collect();
            return Err(format!(
                "has the unknown setting {other}; those of this type are {}",
                known.join(", ")
            ));
        }
        let mut required = kind.fields.iter().filter(|field| field.is_required);
        if let Some(missing) = required.find(|field| {
            !channel.fields.contains_key(field.name) && !channel.secrets.contains_key(field.name)
        }) {
            return Err(format!("has no {}; set it", missing.name));
        }
        Ok(channel)
    }
}

/// Takes the place of a secret.
fn secret(
    name: &str,
    table: &mut ChannelTable,
    base: Base<'_>,
) -> Result<Option<KeySource>, String> {
    let [in_variable, in_file] = ["env", "file"].map(|end| format!("{name}_{end}"));
    let place = match (table.remove(&in_variable), table.remove(&in_file)) {
        (None, None) => return Ok(None),
        (Some(Field::Text(name)), None) => variable(&name, base).map(KeySource::Environment),
        (None, Some(Field::Text(path))) => file(&path, base).map(KeySource::File),
        (Some(_), Some(_)) => {
            return Err(format!(
                "has both {in_variable} and {in_file}; remove one of them"
            ));
        }
        _ => Err("must be a text".to_owned()),
    };
    place
        .map(Some)
        .map_err(|reason| format!("has an invalid place of {name}: it {reason}"))
}

impl Document for ConfiguredChannel {
    fn document(&self) -> Value {
        let mut document = json!({"name": self.name, "type": self.kind});
        for (field, texts) in &self.fields {
            document[field] = match &texts[..] {
                [text] => text.as_str().into(),
                texts => json!(texts),
            };
        }
        for (field, place) in &self.secrets {
            document[field] = place.document();
        }
        document
    }
}
