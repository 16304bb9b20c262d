//! [`Submission`]: the link-time record of a tool.

use protocol::Tool;

use crate::{DefinitionError, Handler, Source};

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
