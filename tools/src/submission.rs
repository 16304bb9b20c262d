//! [`Submission`]: the link-time record of a tool.

use protocol::Tool;

use crate::isolate::Panic;
use crate::{DefinitionError, Entry, Handler, HandlerFuture, Input, Need, RegisterError, Source, ToolContext};

/// What a crate contributes to the catalog by being linked. `#[tool]` writes one for each function; it is const, so
/// nothing runs before `main` and nothing is built before the tool is looked at.
pub struct Submission {
    /// The name of the tool, the same as in its definition.
    pub name: &'static str,
    /// Where it was declared.
    pub source: Source,
    /// Builds the definition.
    pub definition: fn() -> Result<Tool, DefinitionError>,
    /// Runs the tool. It holds no state of its own: what it needs it finds in the context.
    pub handler: &'static dyn Handler,
}

inventory::collect!(Submission);

impl std::fmt::Debug for Submission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submission").field("name", &self.name).field("source", &self.source).finish_non_exhaustive()
    }
}

/// All submissions of this process, in the order of name and source: the linker's own order is not one to rely on.
pub(crate) fn linked() -> Vec<&'static Submission> {
    let mut submissions: Vec<_> = inventory::iter::<Submission>.into_iter().collect();
    submissions.sort_by_key(|submission| (submission.name, &submission.source));
    submissions
}

impl Submission {
    /// Returns the entry of a linked tool. The dialects of its schemas are left unchecked as well, so that looking at ten thousand
    /// linked tools stays cheap.
    pub(crate) fn to_entry(&'static self) -> Result<Entry, RegisterError> {
        let refused = |source| RegisterError::Definition {
            name: self.name.to_owned(),
            place: Box::new(self.source.clone()),
            source,
        };
        let tool = Panic::catch(self.definition)
            .unwrap_or_else(|Panic(message)| Err(DefinitionError::Panicked { message }))
            .map_err(refused)?;
        if tool.name.as_str() != self.name {
            return Err(RegisterError::Renamed {
                submitted: self.name.to_owned(),
                defined: tool.name,
                place: Box::new(self.source.clone()),
            });
        }
        Entry::build(tool, Box::new(LinkedHandler(self.handler)), self.source.clone())
    }
}

/// A submission's handler as one of an entry.
struct LinkedHandler(&'static dyn Handler);

impl Handler for LinkedHandler {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        self.0.call(cx, arguments)
    }

    fn needs(&self) -> &[Need] {
        self.0.needs()
    }
}
