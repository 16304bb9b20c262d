//! [`Fields`]: the fields of a front matter, from which the known ones are taken.

use super::{Fault, FrontMatter, Value};

/// The limits of the specification, in characters.
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// The fields of the specification.
const KNOWN: &str = "name description license compatibility metadata allowed-tools";

/// The known fields of a front matter.
pub(super) struct Fields<'a> {
    fields: Vec<(&'static str, Value)>,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Fields<'a> {
    /// Takes the known ones of all fields. Of those with one name, the first counts.
    pub(super) fn new(all: Vec<(String, Value)>, faults: &'a mut Vec<Fault>) -> Self {
        let mut fields: Vec<(&'static str, Value)> = Vec::new();
        for (key, value) in all {
            let key = key.trim().to_ascii_lowercase().replace('_', "-");
            let Some(known) = KNOWN.split(' ').find(|known| *known == key) else {
                continue;
            };
            let twice = Fault::Twice { field: key };
            if !fields.iter().any(|(earlier, _)| *earlier == known) {
                fields.push((known, value));
            } else if !faults.contains(&twice) {
                faults.push(twice);
            }
        }
        Self { fields, faults }
    }

    pub(super) fn into_front_matter(mut self) -> FrontMatter {
        FrontMatter {
            name: self.text("name", usize::MAX),
            description: self.text("description", MAX_DESCRIPTION),
            license: self.text("license", usize::MAX),
            compatibility: self.text("compatibility", MAX_COMPATIBILITY),
            allowed_tools: self
                .take("allowed-tools")
                .map(|value| allowed_tools(&value))
                .unwrap_or_default(),
            metadata: match self.take("metadata") {
                Some(Value::Map(fields)) => fields
                    .iter()
                    .map(|(key, value)| (key.clone(), value.render()))
                    .collect(),
                Some(value) if !value.to_text().trim().is_empty() => {
                    self.faults.push(Fault::Type {
                        field: "metadata",
                        expected: "a mapping",
                    });
                    [(String::from("text"), value.to_text())].into()
                }
                _ => Default::default(),
            },
        }
    }

    /// Takes a field that is a text of at most that many characters.
    fn text(&mut self, field: &'static str, most: usize) -> Option<String> {
        let value = self.take(field)?;
        if !matches!(value, Value::Text(_)) {
            self.faults.push(Fault::Type {
                field,
                expected: "a text",
            });
        }
        let text = value.to_text().trim().to_owned();
        if text.chars().count() > most {
            self.faults.push(Fault::Long { field, most });
        }
        // The parser gives events, in which the null of YAML is a text.
        Some(text).filter(|text| !text.is_empty() && text != "~" && text != "null")
    }

    fn take(&mut self, field: &str) -> Option<Value> {
        let at = self.fields.iter().position(|(key, _)| *key == field)?;
        Some(self.fields.swap_remove(at).1)
    }
}

/// Returns the items of a list, or of a text with spaces or commas between them. `Bash(git add *)` is one item.
fn allowed_tools(value: &Value) -> Vec<String> {
    let text = match value {
        Value::List(items) => return items.iter().map(Value::to_text).collect(),
        value => value.to_text(),
    };
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    })
    .filter(|item| !item.is_empty())
    .map(str::to_owned)
    .collect()
}
