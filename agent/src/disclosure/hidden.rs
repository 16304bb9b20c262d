//! [`Hidden`]: calls of tools that the model has not seen.

use std::collections::BTreeSet;

use tools::{Entry, ToolContext, ToolName};

use super::definition::definition;
use super::own::is_of_search;
use crate::found::list_found;
use crate::inner_call::CALLER;
use crate::run::{PendingCall, Run};
use crate::tool_set::ToolSet;
use crate::wire_tool_set::WireToolSet;

/// Looks at the calls of a turn when it arrives.
pub(crate) struct Hidden<'a> {
    pub(crate) tools: &'a ToolSet,
    /// The form in which the model knows the tools.
    pub(crate) wire: Option<&'a WireToolSet>,
    pub(crate) cx: &'a ToolContext,
    pub(crate) found_turns: u32,
}

impl Hidden<'_> {
    /// Refuses calls of tools that the model has not seen, with their definitions.
    ///
    /// Decided once, when the turn arrives: a pending call of a stored run may have run already, and its journal has the outcome.
    pub(crate) fn refuse_unseen(&self, run: &mut Run, calls: Vec<PendingCall>) {
        let mut seen = None;
        for PendingCall { call, .. } in calls {
            if self.tools.inner_call(&call).is_none()
                && let Some(entry) = self
                    .tools
                    .find_hidden(&call.name)
                    .filter(|entry| !is_of_search(entry))
                && !seen
                    .get_or_insert_with(|| self.list_seen(run))
                    .contains(entry.name())
            {
                run.refuse(&call.id, self.answer(&entry));
            }
        }
    }

    /// Returns the names of the tools that the model has found. It may have called them by former names.
    fn list_seen(&self, run: &Run) -> BTreeSet<ToolName> {
        let found = list_found(run.messages(), self.found_turns).into_iter();
        found
            .filter_map(|name| Some(self.tools.get(&name).ok()?.name().clone()))
            .collect()
    }

    /// Returns the answer to a call of a tool that the model has not seen.
    fn answer(&self, entry: &Entry) -> String {
        let [name, caller] = [entry.name().as_str(), CALLER].map(|name| self.cx.spelling(name));
        format!(
            "the call of {name} was not run, because no recent search or call has shown its definition. It follows; check the arguments, and \
             make the call again. If {name} is not among your tools, make it with {caller}:\n{}",
            definition(entry, self.wire)
        )
    }
}
