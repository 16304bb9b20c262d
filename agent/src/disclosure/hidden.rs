//! [`Hidden`]: calls of tools that the model has not seen.

use serde_json::json;
use tools::protocol::canonical_json;
use tools::{Entry, ToolContext};

use super::found;
use crate::inner_call::CALLER;
use crate::{PendingCall, Run, ToolSet, WireToolSet};

/// Looks at the calls of a turn before they run.
pub(crate) struct Hidden<'a> {
    pub(crate) tools: &'a ToolSet,
    /// The form in which the model knows the tools.
    pub(crate) wire: Option<&'a WireToolSet>,
    pub(crate) cx: &'a ToolContext,
    pub(crate) found_turns: u32,
}

impl Hidden<'_> {
    /// Replaces each call of `tools.call` by the call for which it stands, and refuses calls of tools that the model has not seen, with
    /// their definitions. The conversation keeps the calls of the model.
    pub(crate) fn resolve(&self, run: &mut Run, calls: Vec<PendingCall>) -> Vec<PendingCall> {
        let mut seen = None;
        let resolved = calls.into_iter().map(|mut pending| {
            if let Some(inner) = self.tools.inner_call(&pending.call) {
                pending.call = inner;
            } else if pending.refused.is_none()
                && let Some(entry) = self.tools.hidden(&pending.call.name)
                && !seen.get_or_insert_with(|| found(run.messages(), self.found_turns)).contains(entry.name().as_str())
            {
                pending.refused = Some(self.answer(&entry));
            }
            pending
        });
        let resolved: Vec<_> = resolved.collect();
        let unseen = resolved.iter().filter_map(|pending| Some((&pending.call.id, pending.refused.clone()?)));
        unseen.for_each(|(id, answer)| run.refuse(id, answer));
        resolved
    }

    /// Returns the answer to a call of a tool that the model has not seen.
    fn answer(&self, entry: &Entry) -> String {
        let (name, caller) = (self.cx.spelling(entry.name()), self.cx.spelling(CALLER));
        format!(
            "the call of {name} was not run, because you have not seen its definition. It follows; check the arguments, and make the \
             call again, with {caller} if {name} is not among your tools:\n{}",
            definition(entry, self.wire)
        )
    }
}

/// Returns the name, the description and the parameters of a tool as JSON text, in the form in which the model knows it.
pub(crate) fn definition(entry: &Entry, wire: Option<&WireToolSet>) -> String {
    described(entry, wire, &entry.tool().description)
}

/// Returns the definition with this description.
pub(super) fn described(entry: &Entry, wire: Option<&WireToolSet>, description: &str) -> String {
    let (own, wire) = (entry.tool(), wire.and_then(|wire| wire.get(entry.name())));
    let name = wire.map_or(own.name.as_str(), |wire| &wire.name);
    let parameters = wire.map_or(&own.parameters, |wire| &wire.parameters);
    let (name, description, parameters) = (json!(name), json!(description), canonical_json(parameters));
    format!(r#"{{"name":{name},"description":{description},"parameters":{parameters}}}"#)
}
