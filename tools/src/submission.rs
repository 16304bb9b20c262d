//! [`Submission`]: the link-time registration of a tool.

use protocol::{InvalidName, InvalidTemplate, Tool, ToolName};

use crate::entry::EntryHandler;
use crate::isolate::Panic;
use crate::{Entry, Handler, RegisterError, Source};

/// A link-time registration of a tool. `#[tool]` generates one for each function.
///
/// A submission is a constant: no code runs before `main`, and the definition is built on first use.
pub struct Submission {
    /// The name of the tool, equal to the name in its definition.
    pub name: &'static str,
    /// The former names, which become part of the definition.
    pub was: &'static [&'static str],
    /// The place of the declaration.
    pub source: Source,
    /// Builds the definition, without the former names.
    pub definition: fn() -> Result<Tool, DefinitionError>,
    /// Runs the tool. It has no state of its own and takes its services from the context.
    pub handler: &'static dyn Handler,
}

inventory::collect!(Submission);

impl std::fmt::Debug for Submission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submission")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Returns all submissions of this process, sorted by name and source, because the linker's order is unspecified.
pub(crate) fn linked() -> Vec<&'static Submission> {
    let mut submissions: Vec<_> = inventory::iter::<Submission>.into_iter().collect();
    submissions.sort_by_key(|submission| (submission.name, &submission.source));
    submissions
}

impl Submission {
    /// Builds the entry of a linked tool. Skips the dialect checks of its schemas, so that listing ten thousand linked tools stays
    /// cheap.
    pub(crate) fn to_entry(&'static self) -> Result<Entry, RegisterError> {
        let tool = Panic::catch(self.definition)
            .unwrap_or_else(|Panic(message)| Err(DefinitionError::Panicked { message }))
            .map_err(|source| RegisterError::Definition {
                name: self.name.to_owned(),
                place: Box::new(self.source.clone()),
                source,
            })?;
        if tool.name.as_str() != self.name {
            return Err(RegisterError::Renamed {
                submitted: self.name.to_owned(),
                defined: tool.name,
                place: Box::new(self.source.clone()),
            });
        }
        let was = self
            .was
            .iter()
            .map(ToolName::new)
            .collect::<Result<Vec<_>, _>>()?;
        Entry::build(
            tool.with_was(was),
            EntryHandler::from_static(self.handler),
            self.source.clone(),
        )
    }
}

/// The reason why a linked tool's definition cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A target template is invalid.
    #[error(transparent)]
    Template(#[from] InvalidTemplate),
    /// The arguments' schema does not describe an object with properties.
    #[error(
        "the arguments of {tool} are not an object; take a struct with named fields as #[args]"
    )]
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// A field of the argument struct has no description.
    #[error(
        "the argument `{field}` of {tool} has no description; write a doc comment on the field"
    )]
    Undocumented {
        /// The tool.
        tool: String,
        /// The field.
        field: String,
    },
    /// The argument struct accepts unknown fields, so a model's typo in an optional field would go unnoticed.
    #[error(
        "the arguments of {tool} accept unknown fields; put #[serde(deny_unknown_fields)] on the struct"
    )]
    Open {
        /// The tool.
        tool: String,
    },
    /// The builder resolved a linked tool, which would deadlock if that is the one it builds.
    #[error("a definition resolved a tool while it was built; resolve tools when this tool runs")]
    Circular,
    /// The builder panicked.
    #[error("building the definition panicked: {message}; fix the function that builds it")]
    Panicked {
        /// The message of the panic.
        message: String,
    },
}
