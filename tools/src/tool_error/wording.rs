//! Texts of errors that are more than a format.

use std::time::Duration;

use protocol::Target;

use crate::{SensitivePath, Sensitivity, Violation};

/// Violations as one text.
pub(crate) fn listed(violations: &[Violation]) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}

pub(super) fn suggested(near: &[String]) -> String {
    match near {
        [] => "; list the tools to see what there is: a session has those that were selected, and a crate that nothing names is \
               not linked"
            .to_owned(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

pub(super) fn unapproved(
    tool: &str,
    needed: &[Target],
    sensitive: &[(Target, SensitivePath)],
    waited: Option<Duration>,
) -> String {
    let targets = needed.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
    let what = if targets.is_empty() { "run".to_owned() } else { format!("touch {targets}") };
    match waited {
        None if !sensitive.is_empty() => {
            let told = |(target, path): &(Target, SensitivePath)| {
                let way = match path.sensitivity() {
                    Sensitivity::Settings => "no grant allows it, so leave it to a person".to_owned(),
                    _ => format!("ask for a grant that names it, such as {}", target.to_clause()),
                };
                format!("`{}` is {}; {way}", target.value(), path.describe(target.value()))
            };
            let told: Vec<_> = sensitive.iter().map(told).collect();
            format!(
                "{tool} may {what} only when a person approves of it: {}; or call the tool with that very path where a person \
                 can be asked",
                told.join("; ")
            )
        }
        None => format!(
            "{tool} may {what} only when somebody approves of it, and nobody can be asked here; find another way, or have it \
             allowed beforehand"
        ),
        Some(waited) => format!(
            "nobody answered within {waited:?} whether {tool} may {what}, so it was not run; go on without it, or call it again \
             when somebody is there"
        ),
    }
}

pub(super) fn after(wait: Option<Duration>) -> String {
    wait.map_or_else(|| " later".to_owned(), |wait| format!(" in {wait:?}"))
}
