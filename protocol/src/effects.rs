//! [`Effects`]: what a tool touches, declared once.

mod ceiling;
mod error;

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub use self::error::EffectsError;
use crate::json::Node;
use crate::{Access, Target, TargetError, Template, ToolName};

/// What the calls of a tool touch. Permissions, approval, parallelism and repetition follow from it.
///
/// In the JSON of a tool the field is absent when nothing is declared; otherwise it is `"pure"` or an object such as
/// `{"reads": ["fs:{path}"], "idempotent": true}`.
///
/// ```
/// use protocol::{Effects, ToolName};
/// use serde_json::json;
///
/// let tool = ToolName::new("fs.read")?;
/// let schema = json!({"type": "object", "properties": {"path": {"type": "string", "default": "README.md"}}});
/// let effects: Effects = serde_json::from_value(json!({"reads": ["fs:{path}"]}))?;
///
/// effects.check(&schema)?;
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
    /// Nobody said. Taken for the worst: a call may write anywhere.
    #[default]
    Undeclared,
    /// Nothing is touched; the result follows from the arguments.
    Pure,
    /// What the templates say.
    Declared(Declared),
}

/// Effects that are neither nothing nor unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Declared {
    /// What a call looks at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Template>,
    /// What a call creates or changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Template>,
    /// What a call removes, or does that cannot be taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destroys: Vec<Template>,
    /// Whether it deals with things outside of this machine and its user's control, such as the network. Without any
    /// template a call may then write anywhere.
    #[serde(skip_serializing_if = "is_false")]
    pub open_world: bool,
    /// Whether to do the same call twice is to do it once.
    #[serde(skip_serializing_if = "is_false")]
    pub idempotent: bool,
}

impl Effects {
    /// How many targets one call may have.
    pub const MAX_TARGETS: usize = TargetError::MAX_TARGETS;

    /// The targets of one call, sorted, each once. Arguments that are absent take the `default` of the tool's parameters
    /// schema.
    ///
    /// # Errors
    /// [`TargetError`] when an argument is missing or cannot be part of a target. The call may not run then.
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
        let mut targets = Vec::new();
        for (access, template) in declared.templates() {
            let left = Self::MAX_TARGETS - targets.len();
            targets.extend(template.targets(access, left, |field| argument(parameters, arguments, field))?);
        }
        targets.sort();
        targets.dedup();
        Ok(targets)
    }

    /// Checks that every call which is valid by the schema has targets: each field of a template is a property of the
    /// schema, and is required or has a usable `default`.
    ///
    /// # Errors
    /// [`EffectsError`] says which field of which template to change.
    pub fn check(&self, parameters: &Value) -> Result<(), EffectsError> {
        let Self::Declared(declared) = self else {
            return Ok(());
        };
        if declared.is_unbounded() && !declared.open_world {
            return Err(EffectsError::Empty);
        }
        for (_, template) in declared.templates() {
            for field in template.fields() {
                check_field(template, field, parameters)?;
            }
        }
        Ok(())
    }

    /// Whether nothing was declared.
    pub fn is_undeclared(&self) -> bool {
        matches!(self, Self::Undeclared)
    }

    /// Whether nothing is touched.
    pub fn is_pure(&self) -> bool {
        matches!(self, Self::Pure)
    }

    /// Whether nothing is changed: pure, or declared with reads and nothing else.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Undeclared => false,
            Self::Pure => true,
            Self::Declared(declared) => {
                !declared.reads.is_empty() && declared.writes.is_empty() && declared.destroys.is_empty()
            }
        }
    }

    /// Whether a call may be repeated: it changes nothing, or says that twice is as good as once.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || matches!(self, Self::Declared(declared) if declared.idempotent)
    }

    /// Whether something may be lost. So it is where no template says what is touched, for all that is known.
    pub fn is_destructive(&self) -> bool {
        match self {
            Self::Undeclared => true,
            Self::Pure => false,
            Self::Declared(declared) => !declared.destroys.is_empty() || declared.is_unbounded(),
        }
    }

    /// Whether things outside of this machine may be touched. So it is where no template says what is touched.
    pub fn is_open_world(&self) -> bool {
        match self {
            Self::Undeclared => true,
            Self::Pure => false,
            Self::Declared(declared) => declared.open_world || declared.is_unbounded(),
        }
    }
}

impl Declared {
    /// All templates with what is done to their targets: reads, writes, destroys.
    pub fn templates(&self) -> impl Iterator<Item = (Access, &Template)> {
        let all = [(Access::Read, &self.reads), (Access::Write, &self.writes), (Access::Destroy, &self.destroys)];
        all.into_iter().flat_map(|(access, templates)| templates.iter().map(move |template| (access, template)))
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

/// For people: `undeclared`, `pure`, or a list such as `reads fs:{path}, open world`.
impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = match self {
            Self::Undeclared => return f.pad("undeclared"),
            Self::Pure => return f.pad("pure"),
            Self::Declared(declared) => declared,
        };
        let mut words: Vec<String> =
            declared.templates().map(|(access, template)| format!("{access}s {template}")).collect();
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
    /// Reads them by hand, since an untagged enum would lose the reason why a template is refused.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::Undeclared),
            Value::String(word) if word == "pure" => Ok(Self::Pure),
            declared @ Value::Object(_) => {
                Declared::deserialize(declared).map(Self::Declared).map_err(D::Error::custom)
            }
            other => Err(D::Error::custom(format_args!(
                "{other} are no effects; write \"pure\", or an object with `reads`, `writes`, `destroys`, `open_world` and `idempotent`"
            ))),
        }
    }
}

/// What a call passes for a field, or would have passed by default.
fn argument<'a>(parameters: &'a Value, arguments: Node<'a>, field: &str) -> Result<Node<'a>, TargetError> {
    if !arguments.is_object() {
        return Err(TargetError::NotAnObject { field: field.to_owned() });
    }
    let default = || parameters.get("properties")?.get(field)?.get("default").map(Node::from);
    arguments.get(field).or_else(default).ok_or_else(|| TargetError::Missing { field: field.to_owned() })
}

fn check_field(template: &Template, field: &str, parameters: &Value) -> Result<(), EffectsError> {
    let template_text = || template.to_string();
    let properties = parameters.get("properties").and_then(Value::as_object);
    let Some(property) = properties.and_then(|properties| properties.get(field)) else {
        let mut known: Vec<String> = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
        known.sort();
        return Err(EffectsError::UnknownField { template: template_text(), field: field.to_owned(), known });
    };
    let required = parameters.get("required").and_then(Value::as_array);
    if required.is_some_and(|names| names.iter().any(|name| name == field)) {
        return Ok(());
    }
    let Some(default) = property.get("default") else {
        return Err(EffectsError::Optional { template: template_text(), field: field.to_owned() });
    };
    let unusable = |reason| EffectsError::Default { template: template_text(), field: field.to_owned(), reason };
    template.accepts(field, default.into()).map_err(unusable)
}

fn is_false(flag: &bool) -> bool {
    !flag
}
