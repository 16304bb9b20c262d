//! [`Template`]: how a tool says what a call of it will touch.

mod part;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::part::{Part, parse};
use crate::json::{Kind, Node};
use crate::normalise::{relative, resolve};
use crate::{Access, Clause, InvalidTarget, Normaliser, Target, TargetError, canonical_json};

/// How the targets of a call follow from its arguments: `scheme:text{field|normaliser}text`.
///
/// A field is the name of a top-level argument. An argument that is a list gives one target for each of its elements. In
/// scheme `fs` the whole value is [normalised](Normaliser::Path) without being asked, and a field may not be an absolute
/// path even when text stands before it. `{{` and `}}` stand for braces.
///
/// What a template prints is what a clause is held against. When several fields meet in one value, put between them a
/// character that the first cannot contain.
///
/// ```
/// use protocol::Template;
///
/// let template: Template = "net:{url|host}".parse()?;
/// assert_eq!(template.scheme(), "net");
/// assert_eq!(template.fields().collect::<Vec<_>>(), ["url"]);
/// assert_eq!(template.to_string(), "net:{url|host}");
/// # Ok::<(), protocol::InvalidTemplate>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    scheme: String,
    parts: Vec<Part>,
}

/// Why a text is not a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTemplate {
    /// A text without a colon, or with nothing after it.
    #[error("{template:?} is not a template; write `scheme:value`, such as `fs:{{path}}` or `net:{{url|host}}`")]
    Syntax {
        /// The template, cut after 80 characters.
        template: String,
    },
    /// A scheme of the wrong form, or text that no target can have.
    #[error("{template:?} is not a template: {reason}")]
    Target {
        /// The template, cut after 80 characters.
        template: String,
        /// The fault, and what to write instead.
        reason: InvalidTarget,
    },
    /// A brace without its other half.
    #[error(
        "{template:?} is not a template: a `{brace}` stands alone; write `{{field}}`, or `{brace}{brace}` for a brace"
    )]
    Brace {
        /// The template, cut after 80 characters.
        template: String,
        /// The brace.
        brace: char,
    },
    /// Braces without a name in them.
    #[error("{template:?} is not a template: a field has no name; write the name of an argument in the braces")]
    Unnamed {
        /// The template, cut after 80 characters.
        template: String,
    },
    /// A normaliser that does not exist.
    #[error("{template:?} is not a template: there is no normaliser {normaliser:?}; use `path`, `host` or none")]
    Normaliser {
        /// The template, cut after 80 characters.
        template: String,
        /// What stands after the `|`, cut after 80 characters.
        normaliser: String,
    },
}

impl Template {
    /// The scheme of the targets.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The names of the fields, in the order of their appearance.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { name, .. } => Some(&**name),
            Part::Text(_) => None,
        })
    }

    /// Whether a value would do for a field.
    pub(crate) fn accepts(&self, field: &str, value: Node<'_>) -> Result<(), TargetError> {
        for part in &self.parts {
            if let Part::Field { name, normaliser } = part
                && name == field
            {
                self.texts(name, *normaliser, value)?;
            }
        }
        Ok(())
    }

    /// The targets of a call, where `argument` finds the value of a field. At most `limit`.
    pub(crate) fn targets<'a>(
        &self,
        access: Access,
        limit: usize,
        argument: impl Fn(&str) -> Result<Node<'a>, TargetError>,
    ) -> Result<Vec<Target>, TargetError> {
        let mut values: Option<Vec<String>> = None;
        for part in &self.parts {
            let texts = match part {
                Part::Text(text) => vec![text.clone()],
                Part::Field { name, normaliser } => self.texts(name, *normaliser, argument(name)?)?,
            };
            let count = values.as_ref().map_or(1, Vec::len).saturating_mul(texts.len());
            if count > limit {
                return Err(TargetError::TooMany { template: self.to_string() });
            }
            values = Some(match values {
                None => texts,
                Some(values) => {
                    values.iter().flat_map(|value| texts.iter().map(move |text| format!("{value}{text}"))).collect()
                }
            });
        }
        let target = |value| Target::new(access, &self.scheme, value);
        let targets: Result<_, _> = values.into_iter().flatten().map(target).collect();
        targets.map_err(|reason| {
            let mut fields = self.fields();
            match (fields.next(), fields.next()) {
                (Some(field), None) => TargetError::Argument { field: field.to_owned(), reason },
                _ => TargetError::Target { template: self.to_string(), reason },
            }
        })
    }

    /// A clause that covers every target there can be: what stands before the first field, as far as no field can step out of it.
    pub(crate) fn ceiling(&self, access: Access) -> Clause {
        let base = match &self.parts[..] {
            [Part::Text(text)] => match Target::new(access, &self.scheme, text) {
                Ok(target) => return target.to_clause(),
                // Parsing the template has made this very target.
                Err(_) => String::new(),
            },
            [Part::Text(text), Part::Field { normaliser: Some(Normaliser::Path), .. }]
                if self.scheme == "fs" && text.ends_with('/') =>
            {
                resolve(text.clone()).unwrap_or_default()
            }
            [Part::Text(text), ..] if self.scheme != "fs" => {
                text.rsplit_once('/').map(|(base, _)| base.to_owned()).unwrap_or_default()
            }
            _ => String::new(),
        };
        Clause::below(&self.scheme, access, if base == "." { "" } else { &base })
    }

    /// Returns the texts that an argument stands for: one, or one for each element of a list.
    fn texts(
        &self,
        field: &str,
        normaliser: Option<Normaliser>,
        argument: Node<'_>,
    ) -> Result<Vec<String>, TargetError> {
        let text = |value: Node<'_>| {
            let text = match value.kind() {
                Kind::String(text) => text.to_owned(),
                Kind::Null | Kind::Array | Kind::Object => {
                    return Err(TargetError::NotScalar { field: field.to_owned(), found: described(value) });
                }
                _ => canonical_json(value),
            };
            self.normalised(normaliser, text)
                .map_err(|reason| TargetError::Argument { field: field.to_owned(), reason })
        };
        match argument.kind() {
            // Many a program takes an empty list for everything.
            Kind::Array if argument.elements().len() == 0 => Err(TargetError::EmptyList { field: field.to_owned() }),
            Kind::Array => argument.elements().map(text).collect(),
            _ => Ok(vec![text(argument)?]),
        }
    }

    fn normalised(&self, normaliser: Option<Normaliser>, text: String) -> Result<String, InvalidTarget> {
        let text = match normaliser {
            Some(normaliser) => normaliser.apply(&text)?,
            None => text,
        };
        if self.scheme == "fs" {
            // `src/{path}` with `/etc` would print as `src/etc`, but joining the two makes `/etc`.
            relative(&text)?;
        }
        // Checked before it is multiplied.
        if text.len() > Target::MAX_LENGTH { Err(InvalidTarget::TooLong { length: text.len() }) } else { Ok(text) }
    }
}

crate::text_form::text_form!(Template, InvalidTemplate);

impl FromStr for Template {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, InvalidTemplate> {
        let shown = || InvalidTarget::cut(text);
        let target = |reason| InvalidTemplate::Target { template: shown(), reason };
        let (scheme, value) = text
            .split_once(':')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| InvalidTemplate::Syntax { template: shown() })?;
        InvalidTarget::check_scheme(scheme).map_err(target)?;
        InvalidTarget::refuse_control(value).map_err(target)?;
        let parts = parse(value, &shown)?;
        // Text that spoils every target, such as a `..` or an absolute path, is better found now than in each call.
        let probe: String = parts.iter().map(|part| if let Part::Text(text) = part { text } else { "xx" }).collect();
        Target::new(Access::Read, scheme, &probe).map_err(target)?;
        Ok(Self { scheme: scheme.to_owned(), parts })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        for part in &self.parts {
            match part {
                Part::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Part::Field { name, normaliser: None } => write!(f, "{{{name}}}")?,
                Part::Field { name, normaliser: Some(normaliser) } => write!(f, "{{{name}|{normaliser}}}")?,
            }
        }
        Ok(())
    }
}

fn described(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Array => "a list",
        Kind::Object => "an object",
        _ => "a single value",
    }
}
