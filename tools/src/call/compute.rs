//! Compute: all stages at once, for a call that never waits.
//!
//! A tool that is no more than a function of its arguments touches nothing and nobody can be asked about it. Where its caller has no
//! journal, no policy and no layers either, half of the stages have nothing to do, and the others need neither a future nor a
//! context of the call's own. What comes out is what [`pass`] would give.

use protocol::ToolResult;

use super::clock::over_at;
use super::execution::{Outcome, Passing};
use super::isolate::{Panic, guarded};
use super::overflow::Overflow;
use super::run::own_failure;
use super::{MAX_ARGUMENT_BYTES, bound, checked, pass, read, ready, validate};
use crate::handler::Computation;
use crate::resolve::Found;
use crate::{Arguments, Entry, Scope, ToolContext, ToolError};

/// A call that may be such a one, before it is polled.
pub(super) struct Computed {
    pub(super) found: Found,
    pub(super) scope: Scope,
    pub(super) caller: ToolContext,
    pub(super) arguments: Arguments,
}

/// Whether a call with this context may be such a one. What its tool is shows when it is polled.
pub(super) fn is_fit(entry: &Entry, cx: &ToolContext) -> bool {
    entry.tool().effects.is_pure() && entry.limiter().is_none() && cx.is_bare()
}

impl Computed {
    /// The outcome; or the call as one that waits, where its tool does more than to compute or too many others run.
    pub(super) fn run(self) -> Result<Outcome, Passing> {
        let Self { found, scope, caller, arguments } = self;
        let Some(entry) = found.entry(&scope) else { return Ok(Err(Found::gone())) };
        // Its place is all that it is admitted with. It is taken first, because a call that has to wait for one goes the other way.
        if let (Some(computation), Some(_place)) = (entry.handler().computation(), entry.admission().enter(false)) {
            let overflow = Overflow { entry, from: Some((&caller, &scope)) };
            let outcome = stages(overflow, &caller, arguments, computation);
            return Ok(outcome.map_err(|error| bound::bound_error(overflow, error)));
        }
        let entry = entry.clone();
        Err(Box::pin(pass(entry, scope, caller, arguments, None)))
    }
}

fn stages(
    overflow: Overflow<'_>,
    caller: &ToolContext,
    arguments: Arguments,
    computation: &dyn Computation,
) -> Result<ToolResult, ToolError> {
    let entry = overflow.entry;
    ready(entry, caller)?;
    let (deadline, limit) = caller.term(entry)?;
    let panicked = |Panic(message)| ToolError::Panicked { tool: entry.name().to_string(), message };
    let at_once = match (&arguments, entry.plain()) {
        (Arguments::Text(text), Some(schema)) if text.len() <= MAX_ARGUMENT_BYTES => {
            guarded(|| computation.of_text(entry, schema, text)).map_err(panicked)?
        }
        _ => None,
    };
    let result = match at_once {
        Some(result) => {
            arguments.spare();
            result
        }
        None => {
            let arguments = read(entry, caller, arguments)?;
            validate::validate(entry, &arguments)?;
            guarded(|| computation.of_input(Some(entry), arguments)).map_err(panicked)?
        }
    };
    if let Some(error) = over_at(entry, caller, deadline, limit) {
        return Err(error);
    }
    checked(overflow, result.map_err(|error| own_failure(entry, error))?)
}
