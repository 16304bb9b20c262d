//! Warnings about clauses that permit less than they seem to: those of flags that match no target, most of which are misspelt, and those
//! of programs that can do more than their name says.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Once;

use tools::{Clause, Effects, join};

use crate::config::{Origin, ProgramSettings as _, Settings};
use crate::{notice, program};

/// The schemes of tools of MCP servers, of hosts that programs reach, and of effects without targets.
const OTHER_SCHEMES: [&str; 3] = ["mcp", "net", "world"];

/// Guards the warnings, because later sessions of the process have the same flags.
static WARNED: Once = Once::new();

/// Warns once about clauses of `--grant` and `--allow` that match no target of a tool of this program or of the servers of a root.
pub(crate) fn warn_once(settings: &Settings, servers: Option<&Path>) {
    WARNED.call_once(|| {
        // A flag is given now, a setting in every session.
        narrower(settings, |origin| matches!(origin, Origin::Flag(_)))
            .iter()
            .for_each(|text| notice::warning(text));
        narrower(settings, |origin| matches!(origin, Origin::File { .. }))
            .iter()
            .for_each(|text| notice::note(text));
        let grants = settings.access().grants.iter();
        let flags: Vec<_> = grants
            .filter(|grant| matches!(grant.origin, Origin::Flag(_)))
            .collect();
        if flags.is_empty() {
            return;
        }
        let linked = tools::list().into_iter();
        let mut known = schemes(linked.map(|entry| entry.tool().effects.clone()));
        known.extend(OTHER_SCHEMES.map(str::to_owned));
        // The settings of servers are read only for a scheme that no linked tool has.
        let mut given = flags.iter().filter_map(|grant| grant.value.scheme());
        if given.any(|scheme| !known.contains(scheme)) {
            let declared = servers.map(|root| host::remote_tools().declared_effects(root));
            known.extend(schemes(declared.unwrap_or_default()));
        }
        for grant in flags {
            if let Some(reason) = fault(&grant.value, &known, settings) {
                notice::warning(&format!(
                    "{} {} permits nothing: {reason}",
                    grant.origin, grant.value
                ));
            }
        }
    });
}

/// Returns the text about clauses whose wildcards do not cover the words by which a program runs others, loads code or writes files.
/// Returns `None` if there are no such clauses.
fn narrower(settings: &Settings, is_from: impl Fn(&Origin) -> bool) -> Option<String> {
    let mut texts = BTreeSet::new();
    let grants = settings.access().grants.iter();
    for grant in grants.filter(|grant| is_from(&grant.origin)) {
        let words = grant.value.unpermitted_words();
        if !words.is_empty() {
            let words = words.join(", ");
            texts.insert(format!("`{}` does not cover {words}", grant.value));
        }
    }
    let others = texts.len().saturating_sub(MOST_SHOWN);
    let mut shown: Vec<_> = texts.into_iter().take(MOST_SHOWN).collect();
    if others > 0 {
        shown.push(format!("the same is true of {others} more"));
    }
    let all = shown.join("; ");
    (!all.is_empty()).then(|| {
        format!(
            "{all} and other words that run a program, load code or write a file: only a clause that spells the word covers it; \
             `{} why` explains a call",
            program::name()
        )
    })
}

/// The most clauses that the text about narrower clauses names.
const MOST_SHOWN: usize = 3;

/// Returns the reason why no target matches the clause. `known` are the schemes of all targets.
fn fault(clause: &Clause, known: &BTreeSet<String>, settings: &Settings) -> Option<String> {
    let scheme = clause.scheme()?;
    if !known.contains(scheme) {
        let known = join(known, ", ");
        return Some(format!("no tool has this scheme; the schemes are {known}"));
    }
    let pattern = clause.pattern();
    if pattern.contains(['*', '?', '[', '{', '\\']) {
        return None;
    }
    host::clause_fault(clause, settings)
}

/// Returns the schemes of the targets of these effects.
fn schemes(effects: impl IntoIterator<Item = Effects>) -> BTreeSet<String> {
    let schemes = effects.into_iter().flat_map(|effects| match effects {
        Effects::Declared(declared) => declared
            .templates()
            .map(|(_, template)| template.scheme().to_owned())
            .collect(),
        _ => Vec::new(),
    });
    schemes.collect()
}
