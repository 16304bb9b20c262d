//! Compute: all stages at once, for a call that never waits.
//!
//! A tool that is no more than a function of its arguments touches nothing and nobody can be asked about it. Where its caller has no
//! journal, no policy and no layers either, half of the stages have nothing to do, and the others need neither a future nor a
//! context of the call's own. What comes out is what [`pass`] would give.

use std::cell::Cell;
use std::time::Duration;

use protocol::ToolResult;
use tokio::time::Instant;

use super::clock::over_at;
use super::execution::{Outcome, Passing};
use super::isolate::{Panic, guarded};
use super::overflow::Overflow;
use super::run::own_failure;
use super::{MAX_ARGUMENT_BYTES, bound, checked, pass, read, ready, validate};
use crate::handler::Computation;
use crate::resolve::Found;
use crate::{Arguments, Entry, Scope, ToolContext, ToolError};

/// Such a call, before it is polled.
pub(super) struct Computed {
    pub(super) found: Found,
    pub(super) scope: Scope,
    pub(super) caller: ToolContext,
    pub(super) arguments: Arguments,
    pub(super) computation: &'static dyn Computation,
}

/// What a call of this tool with this context computes, where it is such a one.
pub(super) fn computation(entry: &Entry, cx: &ToolContext) -> Option<&'static dyn Computation> {
    let is_alone = entry.tool().effects.is_pure() && entry.limiter().is_none() && cx.is_bare();
    entry.computation().filter(|_| is_alone)
}

impl Computed {
    /// The outcome; or the call as one that waits, where too many others run.
    pub(super) fn run(self) -> Result<Outcome, Passing> {
        let Self { found, scope, caller, arguments, computation } = self;
        let Some(entry) = found.entry(&scope) else { return Ok(Err(Found::gone())) };
        // Its place is all that it is admitted with. It is taken first, because a call that has to wait for one goes the other way.
        if let Some(_place) = entry.admission().enter(false) {
            let mut overflow = Overflow { entry, from: None };
            let outcome = stages(&mut overflow, &caller, &scope, arguments, computation);
            return Ok(outcome.map_err(|error| bound::bound_error(overflow, error)));
        }
        let entry = entry.clone();
        Err(Box::pin(pass(entry, scope, caller, arguments, None)))
    }
}

fn stages<'a>(
    overflow: &mut Overflow<'a>,
    caller: &'a ToolContext,
    scope: &'a Scope,
    arguments: Arguments,
    computation: &dyn Computation,
) -> Result<ToolResult, ToolError> {
    let entry = overflow.entry;
    let panicked = |Panic(message)| ToolError::Panicked { tool: entry.name().to_string(), message };
    ready(entry, caller)?;
    if let (Arguments::Text(text), Some(schema)) = (&arguments, entry.plain())
        && text.len() <= MAX_ARGUMENT_BYTES
        // That there is no time is told of arguments that fit alone, which has to be looked at then.
        && let Ok(term) = caller.term(entry)
    {
        overflow.from = Some((caller, scope));
        let is_read = Cell::new(false);
        match guarded(|| computation.of_text(entry, schema, text, &is_read)) {
            Ok(Some(result)) => {
                arguments.spare();
                return ended(*overflow, caller, term, result);
            }
            Err(panic) if is_read.get() => return Err(panicked(panic)),
            Ok(None) | Err(_) => overflow.from = None,
        }
    }
    let arguments = read(entry, caller, arguments)?;
    validate::validate(entry, &arguments)?;
    let term = caller.term(entry)?;
    overflow.from = Some((caller, scope));
    let result = guarded(|| computation.of_input(Some(entry), arguments)).map_err(panicked)?;
    ended(*overflow, caller, term, result)
}

/// The outcome of what was computed, if that is not too late.
#[inline]
fn ended(
    overflow: Overflow<'_>,
    caller: &ToolContext,
    (deadline, limit): (Instant, Duration),
    result: Result<ToolResult, ToolError>,
) -> Result<ToolResult, ToolError> {
    match over_at(overflow.entry, caller, deadline, limit) {
        Some(error) => Err(error),
        None => checked(overflow, result.map_err(|error| own_failure(overflow.entry, error))?),
    }
}
