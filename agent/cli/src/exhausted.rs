//! The message about a run that ended at a limit.

use std::time::Duration;

use agent::{BudgetScope, Exhausted, Resource};

use host::duration;
use tools::counted;

/// Says that a run ended at a limit, and how to raise it.
pub(crate) fn message(exhausted: &Exhausted) -> String {
    let Exhausted {
        resource,
        limit,
        scope,
    } = exhausted;
    let key = match resource {
        Resource::Steps => "max_steps",
        Resource::Calls => "max_calls",
        Resource::Tokens => "max_tokens",
        _ => "max_cost",
    };
    if let BudgetScope::Window(name) = scope {
        let table = if name == "day" { "daily" } else { "monthly" };
        return format!("no answer: {exhausted}; wait for the next {name}, or raise {table}.{key}");
    }
    match resource {
        Resource::Steps => format!(
            "no answer after {}; allow more steps with --max-steps",
            counted(*limit, "step")
        ),
        Resource::Calls => format!(
            "no answer after {}; allow more calls with --max-calls",
            counted(*limit, "call")
        ),
        Resource::Tokens => format!(
            "no answer after {}; allow more with --max-tokens",
            counted(*limit, "token")
        ),
        Resource::Time => {
            let time = duration::shown(Duration::from_millis(*limit));
            format!("no answer after {time}; allow more time with --deadline")
        }
        _ => format!("no answer: {exhausted}; raise limits.{key}"),
    }
}
