//! [`Effects`]: the declared effects of a tool.

mod error;
mod foreign;

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub use self::error::EffectsError;
use crate::access::Access;
use crate::clause::Clause;
use crate::json::Node;
use crate::name::ToolName;
use crate::target::Target;
use crate::target_error::TargetError;
use crate::template::Template;

/// The effects of a tool: the targets that its calls touch. Permissions, approval, parallelism and retries follow from them.
///
/// The JSON form is `"pure"` or an object such as `{"reads": ["fs:{path}"], "idempotent": true}`. Undeclared effects are an
/// absent field in the JSON of a tool.
///
/// ```
/// use protocol::{Effects, ToolName};
/// use serde_json::json;
///
/// let tool = ToolName::new("fs.read")?;
/// let schema = json!({"type": "object", "properties": {"path": {"type": "string", "default": "README.md"}}});
/// let effects: Effects = serde_json::from_value(json!({"reads": ["fs:{path}"]}))?;
///
/// effects.check(&schema, &[])?;
/// assert!(effects.is_read_only());
/// assert_eq!(effects.targets(&tool, &schema, &json!({"path": "./src/"}))?[0].to_string(), "fs:read:src");
/// assert_eq!(effects.targets(&tool, &schema, &json!({}))?[0].to_string(), "fs:read:README.md");
/// assert!(effects.targets(&tool, &schema, &json!({"path": "../x"})).is_err());
///
/// assert_eq!(Effects::Undeclared.targets(&tool, &schema, &json!({}))?[0].to_string(), "world:write:fs.read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effects {
    /// No effects are declared. Treated as the worst case: a call may write anywhere.
    #[default]
    Undeclared,
    /// A call touches nothing. Its result depends on the arguments alone.
    Pure,
    /// A call touches the targets of these templates.
    Declared(Declared),
}

/// Declared effects: templates for the targets of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Declared {
    /// The targets that a call reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Template>,
    /// The targets that a call creates or changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Template>,
    /// The targets that a call removes or changes irreversibly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destroys: Vec<Template>,
    /// True if a call may reach beyond this machine and the places that its user has configured, such as any page of the web.
    /// Without templates, an open-world call counts as a write anywhere.
    #[serde(skip_serializing_if = "is_false")]
    pub open_world: bool,
    /// True if repeating a call has no further effect.
    #[serde(skip_serializing_if = "is_false")]
    pub idempotent: bool,
    /// True if another party declared the effects than the one that wrote the schema, such as the user of a remote server.
    ///
    /// Fields may then name optional and nested arguments, such as `{attachments[].to}`. A template whose arguments are all absent, null or
    /// empty has no target. A call without any target counts as a write anywhere, and so does a writing call with an argument that no
    /// template names and that looks like an address, a URL or a path.
    #[serde(skip_serializing_if = "is_false")]
    pub foreign: bool,
}

impl Effects {
    /// The maximum number of targets of one call.
    pub const MAX_TARGETS: usize = TargetError::MAX_TARGETS;

    /// Returns the targets of one call, sorted and without duplicates. An absent argument takes its `default` from the parameters
    /// schema.
    ///
    /// # Errors
    /// Returns [`TargetError`] if an argument is missing or cannot be part of a target, or if the targets
    /// [are computed](Self::are_computed). Such a call must not run.
    pub fn targets<'a>(
        &self,
        tool: &ToolName,
        parameters: &'a Value,
        arguments: impl Into<Node<'a>>,
    ) -> Result<Vec<Target>, TargetError> {
        let declared = match self {
            Self::Pure => return Ok(Vec::new()),
            Self::Declared(declared) if !declared.is_unbounded() => declared,
            Self::Undeclared | Self::Declared(_) => return Ok(vec![Target::unbounded(tool)]),
        };
        let arguments = arguments.into();
        let mut targets = if declared.foreign {
            declared.foreign_targets(tool, parameters, arguments)?
        } else {
            declared.own_targets(parameters, arguments)?
        };
        targets.sort();
        targets.dedup();
        Ok(targets)
    }

    /// Checks that every valid call has targets: each field of a template is a property of the schema, and is required or has a
    /// usable `default`, or the handler supplies it from a service.
    ///
    /// # Errors
    /// Returns [`EffectsError`] with the template and the field to change.
    pub fn check(&self, parameters: &Value, supplied: &[&str]) -> Result<(), EffectsError> {
        let Self::Declared(declared) = self else {
            return Ok(());
        };
        if declared.is_unbounded() && !declared.open_world {
            return Err(EffectsError::Empty);
        }
        for (_, template) in declared.templates() {
            for field in template.fields().filter(|field| !supplied.contains(field)) {
                check_field(template, field, parameters, declared.foreign)?;
            }
        }
        Ok(())
    }

    /// Returns true if a function of the tool computes the targets of a call, because a template has `{*}`.
    pub fn are_computed(&self) -> bool {
        matches!(self, Self::Declared(declared) if declared.templates().any(|(_, template)| template.is_computed()))
    }

    /// Returns true if no effects are declared.
    pub fn is_undeclared(&self) -> bool {
        matches!(self, Self::Undeclared)
    }

    /// Returns true if a call touches nothing.
    pub fn is_pure(&self) -> bool {
        matches!(self, Self::Pure)
    }

    /// Returns true if a call changes nothing: the tool is pure or declares only reads.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Undeclared => false,
            Self::Pure => true,
            Self::Declared(declared) => {
                !declared.reads.is_empty()
                    && declared.writes.is_empty()
                    && declared.destroys.is_empty()
            }
        }
    }

    /// Returns true if a call may be repeated: it is read-only or declared idempotent.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || matches!(self, Self::Declared(declared) if declared.idempotent)
    }

    /// Returns true if a call may destroy data. Effects without templates count as destructive.
    pub fn is_destructive(&self) -> bool {
        match self {
            Self::Undeclared => true,
            Self::Pure => false,
            Self::Declared(declared) => !declared.destroys.is_empty() || declared.is_unbounded(),
        }
    }

    /// Returns true if a call may reach beyond this machine and the places that its user has configured. Effects without templates count
    /// as open-world.
    pub fn is_open_world(&self) -> bool {
        match self {
            Self::Undeclared => true,
            Self::Pure => false,
            Self::Declared(declared) => declared.open_world || declared.is_unbounded(),
        }
    }

    /// Returns clauses that cover the targets of every possible call, sorted and without duplicates. A template with fields gives
    /// the subtree below the text before its first field: `fs:{path}` gives `fs:read:**`.
    ///
    /// ```
    /// use protocol::{Effects, ToolName};
    /// use serde_json::json;
    ///
    /// let effects: Effects = serde_json::from_value(json!({"reads": ["clock:now", "db:main/{table}"]}))?;
    /// let ceiling = effects.ceiling(&ToolName::new("report")?);
    /// assert_eq!(ceiling.iter().map(|clause| clause.as_str()).collect::<Vec<_>>(), ["clock:read:now", "db:read:main/**"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ceiling(&self, tool: &ToolName) -> Vec<Clause> {
        let declared = match self {
            Self::Pure => return Vec::new(),
            Self::Declared(declared) if !declared.is_unbounded() => declared,
            Self::Undeclared | Self::Declared(_) => {
                return vec![Target::unbounded(tool).to_clause()];
            }
        };
        let mut clauses: Vec<Clause> = declared
            .templates()
            .map(|(access, template)| template.ceiling(access))
            .collect();
        clauses.sort();
        clauses.dedup();
        clauses
    }
}

impl Declared {
    /// Returns all templates with their access: reads, then writes, then destroys.
    pub fn templates(&self) -> impl Iterator<Item = (Access, &Template)> {
        let all = [
            (Access::Read, &self.reads),
            (Access::Write, &self.writes),
            (Access::Destroy, &self.destroys),
        ];
        all.into_iter().flat_map(|(access, templates)| {
            templates.iter().map(move |template| (access, template))
        })
    }

    /// Returns the targets of one call. Each argument of a template is there or has a default.
    fn own_targets(
        &self,
        parameters: &Value,
        arguments: Node<'_>,
    ) -> Result<Vec<Target>, TargetError> {
        let mut targets = Vec::new();
        for (access, template) in self.templates() {
            // All templates of a call share one limit.
            let remaining = Effects::MAX_TARGETS - targets.len();
            targets.extend(template.targets(access, remaining, |field, normaliser| {
                let value = argument(parameters, arguments, field)?.ok_or_else(|| {
                    TargetError::Missing {
                        field: field.to_owned(),
                    }
                })?;
                template.texts(field, normaliser, value)
            })?);
        }
        Ok(targets)
    }

    fn is_unbounded(&self) -> bool {
        self.templates().next().is_none()
    }
}

impl From<Declared> for Effects {
    fn from(declared: Declared) -> Self {
        Self::Declared(declared)
    }
}

/// Writes `undeclared`, `pure`, or a list such as `reads fs:{path}, open world`.
impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = match self {
            Self::Undeclared => return f.pad("undeclared"),
            Self::Pure => return f.pad("pure"),
            Self::Declared(declared) => declared,
        };
        let mut words: Vec<String> = declared
            .templates()
            .map(|(access, template)| format!("{access}s {template}"))
            .collect();
        words.extend(declared.open_world.then(|| "open world".to_owned()));
        words.extend(declared.idempotent.then(|| "idempotent".to_owned()));
        f.pad(&words.join(", "))
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Undeclared => serializer.serialize_unit(),
            Self::Pure => serializer.serialize_str("pure"),
            Self::Declared(declared) => declared.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Effects {
    /// Implemented by hand, because an untagged enum would lose the error of an invalid template.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EffectsVisitor)
    }
}

struct EffectsVisitor;

impl<'de> Visitor<'de> for EffectsVisitor {
    type Value = Effects;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"pure\", or an object with `reads`, `writes`, `destroys`, `open_world` and `idempotent`")
    }

    fn visit_unit<E: Error>(self) -> Result<Effects, E> {
        Ok(Effects::Undeclared)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Effects, E> {
        if text == "pure" {
            Ok(Effects::Pure)
        } else {
            Err(E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    /// Reads the map itself, so that a repeated key is an error: of two `writes`, the last would count.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Effects, A::Error> {
        Declared::deserialize(MapAccessDeserializer::new(map)).map(Effects::Declared)
    }
}

/// Returns the argument of a field, or its default. Returns `None` if there is neither.
fn argument<'a>(
    parameters: &'a Value,
    arguments: Node<'a>,
    field: &str,
) -> Result<Option<Node<'a>>, TargetError> {
    if !arguments.is_object() {
        return Err(TargetError::NotAnObject {
            field: field.to_owned(),
        });
    }
    Ok(arguments.get(field).or_else(|| {
        let property = parameters.get("properties")?.get(field)?;
        property.get("default").map(Node::from)
    }))
}

fn check_field(
    template: &Template,
    field: &str,
    parameters: &Value,
    is_foreign: bool,
) -> Result<(), EffectsError> {
    let template_text = || template.to_string();
    let properties = parameters.get("properties").and_then(Value::as_object);
    let unusable = |reason| EffectsError::Default {
        template: template_text(),
        field: field.to_owned(),
        reason,
    };
    if is_foreign && foreign::is_field(parameters, field) {
        let default = properties.and_then(|properties| properties.get(field)?.get("default"));
        return default.map_or(Ok(()), |default| {
            template
                .accepts_or_skips(field, default.into())
                .map_err(unusable)
        });
    }
    let Some(property) = properties.and_then(|properties| properties.get(field)) else {
        let mut known: Vec<String> = properties
            .into_iter()
            .flat_map(|properties| properties.keys().cloned())
            .collect();
        known.sort();
        return Err(EffectsError::UnknownField {
            template: template_text(),
            field: field.to_owned(),
            known,
        });
    };
    let required = parameters.get("required").and_then(Value::as_array);
    if required.is_some_and(|names| names.iter().any(|name| name == field)) {
        return Ok(());
    }
    let Some(default) = property.get("default") else {
        return Err(EffectsError::Optional {
            template: template_text(),
            field: field.to_owned(),
        });
    };
    template.accepts(field, default.into()).map_err(unusable)
}

fn is_false(flag: &bool) -> bool {
    !flag
}
