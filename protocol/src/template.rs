//! [`Template`]: the declaration of a tool's targets.

mod piece;
mod words;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::piece::{Piece, fill, parse};
use crate::access::Access;
use crate::clause::Clause;
use crate::invalid_target::InvalidTarget;
use crate::json::canonical::canonical_json;
use crate::json::{Kind, Node};
use crate::normalise::{Normaliser, relative, resolve};
use crate::target::Target;
use crate::target_error::TargetError;

/// A template that makes targets from the arguments of a call: `scheme:text{field|normaliser}text`.
///
/// - A field is the name of a top-level argument. A list argument makes one target for each of its elements.
/// - In scheme `fs`, the value is always [normalised](Normaliser::Path), and a field must not be an absolute path, even after
///   text.
/// - In scheme `exec`, the value is a list of words, separated by one space. A literal word has no character that a shell would have
///   quoted. There are no fields: a function computes the words, as for `exec:{*}` or `exec:git {*}`.
/// - `{*}` stands for any value: a function of the tool computes the targets, and these templates bound them.
/// - `{{` and `}}` are literal braces.
///
/// Clauses match the whole value. Between two fields, write a character that the first cannot contain.
///
/// Each of these is a template. The second and the fourth mean something else than their authors expect:
///
/// ```text
/// fs:out/{path|path}   the argument `../a` is an error
/// fs:out/{path}        the argument `../a` is the file `a`, beside `out`
/// net:{url|host}       the value is a host, which clauses such as `net:*:example.com` name
/// net:{url}            the value is the whole URL, which no clause of a host matches
/// ```
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
    pieces: Vec<Piece>,
}

/// The error for a text that is not a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTemplate {
    /// The text has no colon, or no value after it.
    #[error(
        "{template:?} is not a template; write `scheme:value`, such as `fs:{{path}}` or `net:{{url|host}}`"
    )]
    Syntax {
        /// The template, cut after 80 characters.
        template: String,
    },
    /// The scheme is invalid, or the literal text cannot be part of a target.
    #[error("{template:?} is not a template: {reason}")]
    Target {
        /// The template, cut after 80 characters.
        template: String,
        /// The fault and its repair.
        reason: InvalidTarget,
    },
    /// A brace is unmatched.
    #[error(
        "{template:?} is not a template: it has an unmatched `{brace}`; write `{{field}}`, or `{brace}{brace}` for a brace"
    )]
    Brace {
        /// The template, cut after 80 characters.
        template: String,
        /// The brace.
        brace: char,
    },
    /// A field has no name.
    #[error(
        "{template:?} is not a template: a field has no name; write the name of an argument in its braces"
    )]
    Unnamed {
        /// The template, cut after 80 characters.
        template: String,
    },
    /// The normaliser does not exist.
    #[error(
        "{template:?} is not a template: unknown normaliser {normaliser:?}; write `path` or `host`, or remove it"
    )]
    Normaliser {
        /// The template, cut after 80 characters.
        template: String,
        /// The text after the `|`, cut after 80 characters.
        normaliser: String,
    },
    /// The template of scheme `exec` is not a list of words.
    #[error("{template:?} is not a template: {reason}")]
    Words {
        /// The template, cut after 80 characters.
        template: String,
        /// The fault and its repair.
        reason: &'static str,
    },
}

impl Template {
    /// Returns the scheme of the targets.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the names of the fields, in order of appearance.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field { name, .. } => Some(&**name),
            Piece::Text(_) | Piece::Computed => None,
        })
    }

    /// Returns true if a function of the tool computes the targets.
    pub fn is_computed(&self) -> bool {
        self.pieces.contains(&Piece::Computed)
    }

    /// Returns an error if the value cannot be used for the field.
    pub(crate) fn accepts(&self, field: &str, value: Node<'_>) -> Result<(), TargetError> {
        for piece in &self.pieces {
            if let Piece::Field { name, normaliser } = piece
                && name == field
            {
                self.texts(name, *normaliser, value)?;
            }
        }
        Ok(())
    }

    /// Returns the targets of a call, at most `limit`. `texts` returns the normalised texts of a field.
    pub(crate) fn targets(
        &self,
        access: Access,
        limit: usize,
        texts: impl Fn(&str, Option<Normaliser>) -> Result<Vec<String>, TargetError>,
    ) -> Result<Vec<Target>, TargetError> {
        let mut values: Option<Vec<String>> = None;
        for piece in &self.pieces {
            let texts = match piece {
                Piece::Text(text) => vec![text.clone()],
                Piece::Field { name, normaliser } => texts(name, *normaliser)?,
                Piece::Computed => {
                    return Err(TargetError::Computed {
                        template: self.to_string(),
                    });
                }
            };
            let count = values
                .as_ref()
                .map_or(1, Vec::len)
                .saturating_mul(texts.len());
            // Counted before the texts are made: two lists of arguments multiply.
            if count > limit {
                return Err(TargetError::TooMany {
                    template: self.to_string(),
                });
            }
            values = Some(match values {
                None => texts,
                Some(values) => values
                    .iter()
                    .flat_map(|value| texts.iter().map(move |text| format!("{value}{text}")))
                    .collect(),
            });
        }
        let targets = values.into_iter().flatten();
        let targets = targets.map(|value| Target::new(access, &self.scheme, value));
        targets.collect::<Result<_, _>>().map_err(|reason| {
            // The error of a single argument names it, so that the model knows which one to repair.
            let mut fields = self.fields();
            match (fields.next(), fields.next()) {
                (Some(field), None) => TargetError::argument(field, reason),
                _ => TargetError::Target {
                    template: self.to_string(),
                    reason,
                },
            }
        })
    }

    /// Returns a clause that covers every possible target: the longest literal prefix that no field can escape from.
    pub(crate) fn ceiling(&self, access: Access) -> Clause {
        let base = match &self.pieces[..] {
            [Piece::Text(text)] => match Target::new(access, &self.scheme, text) {
                Ok(target) => return target.to_clause(),
                // Parsing checked this target, so this arm is unreachable.
                Err(_) => String::new(),
            },
            // Only `path` keeps an argument below the text. Without it, `..` steps out of the folder.
            [
                Piece::Text(text),
                Piece::Field {
                    normaliser: Some(Normaliser::Path),
                    ..
                },
            ] if self.scheme == "fs" && text.ends_with('/') => {
                resolve(text.clone()).unwrap_or_default()
            }
            [Piece::Text(text), ..] if self.scheme == Target::COMMAND_SCHEME => {
                return words::ceiling(access, text);
            }
            // The text behind the last slash is the beginning of a segment, and a subtree begins with whole ones.
            [Piece::Text(text), ..] if self.scheme != "fs" => text
                .rsplit_once('/')
                .map(|(base, _)| base.to_owned())
                .unwrap_or_default(),
            _ => String::new(),
        };
        Clause::for_subtree(&self.scheme, access, if base == "." { "" } else { &base })
    }

    /// Returns the normalised texts of an argument: one, or one for each element of a list.
    pub(crate) fn texts(
        &self,
        field: &str,
        normaliser: Option<Normaliser>,
        argument: Node<'_>,
    ) -> Result<Vec<String>, TargetError> {
        match argument.kind() {
            // Some programs treat an empty list as everything.
            Kind::Array if argument.elements().len() == 0 => Err(TargetError::EmptyList {
                field: field.to_owned(),
            }),
            Kind::Array => argument
                .elements()
                .map(|value| self.text(field, normaliser, value))
                .collect(),
            _ => Ok(vec![self.text(field, normaliser, argument)?]),
        }
    }

    /// Returns the normalised text of a single value.
    pub(crate) fn text(
        &self,
        field: &str,
        normaliser: Option<Normaliser>,
        value: Node<'_>,
    ) -> Result<String, TargetError> {
        let text = match value.kind() {
            Kind::String(text) => text.to_owned(),
            Kind::Null | Kind::Array | Kind::Object => {
                return Err(TargetError::NotScalar {
                    field: field.to_owned(),
                    found: match value.kind() {
                        Kind::Null => "null",
                        Kind::Array => "a list",
                        _ => "an object",
                    },
                });
            }
            _ => canonical_json(value),
        };
        self.normalise(normaliser, text)
            .map_err(|reason| TargetError::argument(field, reason))
    }

    fn normalise(
        &self,
        normaliser: Option<Normaliser>,
        text: String,
    ) -> Result<String, InvalidTarget> {
        let text = match normaliser {
            Some(normaliser) => normaliser.apply(&text)?,
            None => text,
        };
        if self.scheme == "fs" {
            // `src/{path}` with `/etc` would print as `src/etc`, but joining the two makes `/etc`.
            relative(&text)?;
        }
        // Checked early, because lists multiply the text.
        if text.len() > Target::MAX_LENGTH {
            Err(InvalidTarget::TooLong { length: text.len() })
        } else {
            Ok(text)
        }
    }
}

crate::text_form::text_form!(Template, InvalidTemplate);

impl FromStr for Template {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, InvalidTemplate> {
        let shown = || InvalidTarget::excerpt(text);
        let target = |reason| InvalidTemplate::Target {
            template: shown(),
            reason,
        };
        let (scheme, value) = text
            .split_once(':')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| InvalidTemplate::Syntax { template: shown() })?;
        InvalidTarget::check_scheme(scheme).map_err(target)?;
        InvalidTarget::check_control(value).map_err(target)?;
        let pieces = parse(value, &shown)?;
        if let Some(reason) = words::fault(scheme, &pieces) {
            return Err(InvalidTemplate::Words {
                template: shown(),
                reason,
            });
        }
        // A probe with harmless field values finds literal text that no target can have, such as `../{path}`.
        let probe = fill(&pieces, "xx");
        Target::new(Access::Read, scheme, &probe).map_err(target)?;
        Ok(Self {
            scheme: scheme.to_owned(),
            pieces,
        })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Computed => f.write_str("{*}")?,
                Piece::Field {
                    name,
                    normaliser: None,
                } => write!(f, "{{{name}}}")?,
                Piece::Field {
                    name,
                    normaliser: Some(normaliser),
                } => write!(f, "{{{name}|{normaliser}}}")?,
            }
        }
        Ok(())
    }
}
