//! [`Submission`]: the link-time registration of a tool.

use protocol::{Tool, ToolName};

use crate::context::Need;
use crate::handler::{ConnectFuture, KeptCall, PreviewFuture};
use crate::isolate::Panic;
use crate::{
    Concern, DefinitionError, Entry, Handler, HandlerFuture, Input, RegisterError, Source, Targets,
    ToolContext, ToolError,
};

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
        let was = self
            .was
            .iter()
            .map(ToolName::new)
            .collect::<Result<Vec<_>, _>>()?;
        Entry::build(
            tool.with_was(was),
            Box::new(LinkedHandler(self.handler)),
            self.source.clone(),
        )
    }
}

/// The handler of a submission, owned by an entry.
struct LinkedHandler(&'static dyn Handler);

impl Handler for LinkedHandler {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        self.0.call(cx, arguments)
    }

    fn needs(&self) -> &[Need] {
        self.0.needs()
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        self.0.targets(arguments)
    }

    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        self.0.check(cx, arguments)
    }

    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        self.0.concerns(cx, arguments)
    }

    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        self.0.connect(cx)
    }

    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        self.0.preview(cx, arguments)
    }

    fn is_remote(&self) -> bool {
        self.0.is_remote()
    }

    fn kept_call(&self) -> Option<KeptCall> {
        self.0.kept_call()
    }
}
