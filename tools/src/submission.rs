//! [`Submission`]: the link-time registration of a tool.

use protocol::{Tool, ToolName};

use crate::entry::{Entry, EntryHandler};
use crate::handler::Handler;
use crate::isolate::Panic;
use crate::register_error::{DefinitionError, RegisterError};
use crate::source::Source;

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

crate::debug_fields!(self: Submission { name, source });

/// Returns all submissions of this process, sorted by name and source, because the linker's order is unspecified.
pub(crate) fn list_linked() -> Vec<&'static Submission> {
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
        // Conflicts are found by the submitted names, before a definition is built.
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
