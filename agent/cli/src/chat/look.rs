//! `/last`, `/diff` and `/cost`: what a session did.

use agent::Cost;
use terminal::stderr;
use tools::protocol::{Message, Part};
use tools::{Preview, counted};

use super::Chat;
use crate::notice;
use crate::observer::effect_lines::whole_call;
use crate::terminal_asker::preview;

impl Chat {
    /// Shows the last call of the conversation whole.
    pub(super) fn show_last(&self) {
        let session = &self.opened.session;
        let messages = session.messages();
        let Some(call) = messages.iter().flat_map(Message::calls).last() else {
            return notice::note("the conversation has no call yet");
        };
        let mut parts = messages.iter().rev().flat_map(|message| &message.parts);
        let result = parts.find_map(|part| match part {
            Part::ToolResult { id, result, .. } if *id == call.id => Some(result),
            _ => None,
        });
        let arguments = session.tools().masked_arguments(call);
        stderr::write(&whole_call(&call.name, &arguments, result));
    }

    /// Shows all changes of files since the first call that could change some.
    pub(super) fn show_diff(&self) {
        let effects = &self.opened.runner.view.effects;
        let (diff, is_partial) = effects.with_originals(|originals| originals.diff(&self.root));
        if diff.is_empty() {
            notice::note(
                "no file has changed since this session's first call that could change one",
            );
        } else {
            stderr::write(&preview::lines(&Preview::diff(diff), true, stderr::width(), "").text);
        }
        if is_partial {
            notice::note(
                "the workspace has more files than are compared, so changes by programs can be missing",
            );
        }
    }

    /// Shows the amounts that the runs of this chat used.
    pub(super) fn show_cost(&self) {
        let spent = self.opened.runner.view.effects.spent();
        let (all, usage) = (spent.all, spent.usage);
        let mut text = format!(
            "{}, {}, {} in ({} cached), {} out",
            counted(all.steps, "step"),
            counted(all.calls, "call"),
            counted(usage.input_tokens, "token"),
            usage.cached_input_tokens,
            usage.output_tokens
        );
        if all.tokens > usage.total() {
            text += &format!(
                "; with sub-agents and estimates {}",
                counted(all.tokens, "token")
            );
        }
        if all.cost > Cost::default() {
            text += &format!("; cost {}", all.cost);
        } else if all.tokens > 0 {
            text += "; no cost is known, because the settings have no price of the model";
        }
        notice::note(&text);
    }
}
