//! [`Fault`]: a tool that breaks a house rule.

use std::fmt;

use protocol::ToolName;
use serde::Serialize;

use crate::conflict::Problem;
use crate::entry::Entry;
use crate::register_error::{DefinitionError, RegisterError};
use crate::source::Source;

/// A house rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LintRule {
    /// The name is unique, consists of a group, a dot and a word in lower case, such as `text.count`, and has the expected prefix.
    /// No other name differs only in case and separators.
    Name,
    /// The definition can be built.
    Definition,
    /// The description is in sentences, has at most 1,024 characters, and at most 160 in its first sentence. It names no other tool.
    Description,
    /// Both schemas compile. The parameter schema refuses unknown arguments and has at most 4,096 bytes, because each request to the
    /// model contains it.
    Schema,
    /// Each parameter is described in sentences, and each field of a nested object is described.
    Parameter,
    /// The effects are declared and fit the schema. Two runs of a pure tool have the same result.
    Effects,
    /// The limits let calls run. Examples of a pure tool do not hold their thread.
    Limits,
    /// There is an example, and each one fits its schema. Examples of a pure tool succeed and have their declared results.
    Example,
    /// The results of a pure tool's examples fit the output schema.
    Output,
    /// Each [format](protocol::wire::Format) of a service has a form of the definition.
    Wire,
}

/// The weight of a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Models choose or call the tool worse than they could.
    Warning,
    /// The tool cannot be used as it is declared, or its declaration is wrong.
    Error,
}

/// A tool that breaks a [`LintRule`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The broken rule.
    pub rule: LintRule,
    /// The weight.
    pub severity: Severity,
    /// The name of the tool, which may be invalid.
    pub tool: String,
    /// The place of the declaration. `None` if a `register` function failed without it.
    pub source: Option<Source>,
    /// The fault, and the next step.
    pub message: String,
}

impl Fault {
    pub(super) fn error(entry: &Entry, rule: LintRule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: Severity::Error,
            tool: entry.name().to_string(),
            source: Some(entry.source().clone()),
            message: message.into(),
        }
    }

    pub(super) fn warning(entry: &Entry, rule: LintRule, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(entry, rule, message)
        }
    }

    pub(super) fn from_conflict(name: &ToolName, sources: &[Source], message: String) -> Self {
        Self {
            rule: LintRule::Name,
            severity: Severity::Error,
            tool: name.to_string(),
            source: sources.first().cloned(),
            message,
        }
    }

    pub(super) fn from_problem(problem: &Problem) -> Self {
        Self {
            tool: problem.name.clone(),
            source: Some(problem.source.clone()),
            ..Self::from_error(&problem.error)
        }
    }

    /// Returns the fault of a tool that could not be registered.
    pub fn from_error(error: &RegisterError) -> Self {
        let (rule, tool, source) = match error {
            RegisterError::Exists { name, refused, .. } => {
                (LintRule::Name, name.as_str(), Some(&**refused))
            }
            RegisterError::FormerName { name, .. } => (LintRule::Name, name.as_str(), None),
            RegisterError::Renamed {
                submitted, place, ..
            } => (LintRule::Name, submitted.as_str(), Some(&**place)),
            RegisterError::Description { name } => (LintRule::Description, name.as_str(), None),
            RegisterError::Schema { name, .. } => (LintRule::Schema, name.as_str(), None),
            RegisterError::Effects { name, .. } | RegisterError::SecretTarget { name, .. } => {
                (LintRule::Effects, name.as_str(), None)
            }
            RegisterError::Limits { name, .. } => (LintRule::Limits, name.as_str(), None),
            RegisterError::Example { name, .. } => (LintRule::Example, name.as_str(), None),
            RegisterError::Definition {
                name,
                place,
                source,
            } => (rule(source), name.as_str(), Some(&**place)),
            RegisterError::Name(_) => (LintRule::Name, "", None),
        };
        Self {
            rule,
            severity: Severity::Error,
            tool: tool.to_owned(),
            source: source.cloned(),
            message: error.to_string(),
        }
    }
}

fn rule(error: &DefinitionError) -> LintRule {
    match error {
        DefinitionError::Name(_) => LintRule::Name,
        DefinitionError::Template(_) => LintRule::Effects,
        DefinitionError::NotAnObject { .. } | DefinitionError::Open { .. } => LintRule::Schema,
        DefinitionError::Undocumented { .. } => LintRule::Parameter,
        _ => LintRule::Definition,
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{} of {source}: {}", self.tool, self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
