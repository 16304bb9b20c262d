//! [`AccessKeys`]: the keys that decide what tools may do, and which settings apply.

use std::path::PathBuf;

use tools::Clause;
use tools::policy::{Rule, Verdict};

use super::always::Always;
use super::key::FlagValue::{Implied, Named};
use super::key::Key;
use super::kind::{accumulated_list, boolean, items, tables, text};
use super::origin::Setting;
use super::parser::{clause, directory, non_blank};
use super::project::{GRANTS, ProjectRule};
use super::slot::Slot as _;
use crate::{declare_keys, extension};

declare_keys! {
    /// The keys that decide what tools may do, and which settings apply.
    pub struct AccessKeys;

    /// Apply this profile of the settings files
    pub profile: Option<Setting<String>> = Key::new("profile", text(non_blank), None, "\"review\"")
        .with_flag("--profile", Named("NAME"))
        .with_project(ProjectRule { label: "its own, if the user's file does not", ..ProjectRule::if_unset() });

    /// Hold the default grants: reading below the root, the clock, asking the user, asking the session's model, and searching with a configured backend
    pub default_grants: Setting<bool> = Key::new("default_grants", boolean(), Setting::from_default(true), "true")
        .with_flag("--no-default-grants", Implied(
            "false",
            "Drop the default grants (reading below the root, the clock, asking the user and the session's model, searching) and those of the settings file; only flags grant",
        ))
        .with_project(ProjectRule::new("only to drop them", GRANTS, |project, user| {
            project.set().filter(|_| project.value && !user.value).map(|project| &project.origin)
        }))
        .in_profiles();

    /// Let sessions that you start run the harmless commands without a question, such as ls and grep; `audit ceiling` lists them
    pub harmless_commands: Setting<bool> = Key::new("harmless_commands", boolean(), Setting::from_default(true), "true")
        .with_project(ProjectRule::new("only to drop them", GRANTS, |project, user| {
            project.set().filter(|_| project.value && !user.value).map(|project| &project.origin)
        }))
        .in_profiles();

    /// Permit calls on targets that match scheme:access:pattern, such as fs:write:src/**; added to the grants of other sources
    pub grants: Vec<Setting<Clause>> = Key::new("grants", items(clause), default_clauses(), r#"["fs:write:src/**"]"#)
        .with_flag("--grant", Named("CLAUSE"))
        .with_project(ProjectRule::never(GRANTS))
        .in_profiles();

    /// Limit the grants of defaults and files to these clauses; flags are not limited
    pub within: Vec<Setting<Vec<Clause>>> = Key::new("within", accumulated_list(clause), Vec::new(), r#"["fs:*:src/**"]"#)
        .with_project(ProjectRule::narrows())
        .in_profiles();

    /// Directories, with those below, whose project files are trusted once their content is approved; only in the user's file
    pub trusted: Vec<Setting<PathBuf>> = Key::new("trusted", items(directory), Vec::new(), r#"["~/work"]"#);

    /// Clauses that sessions which you start permit in the project at one root, as the answer "always in this project" writes them; only in the user's file
    pub always: Vec<Setting<Always>> = Key::new(
        "always",
        tables(),
        Vec::new(),
        r#"[{ root = "/home/me/work/project", clause = "exec:write:git add **" }]"#,
    );

    /// Rules about calls; the strictest match of all files applies
    pub policy: Vec<Setting<Rule>> = Key::new(
        "policy",
        tables(),
        Vec::new(),
        r#"[{ verdict = "deny", tool = "fs.*", target = "fs:*:**/.env" }]"#,
    )
    .with_project(ProjectRule::new("not with the verdict allow", GRANTS, |project: &Vec<Setting<Rule>>, _| {
        project.iter().find(|rule| rule.value.verdict == Verdict::Allow).map(|rule| &rule.origin)
    }));
}

/// Returns the clauses that the linked families ask for.
fn default_clauses() -> Vec<Setting<Clause>> {
    let clauses = extension::list().into_iter();
    let clauses = clauses.flat_map(|extension| extension.parts.default_grants);
    clauses
        .filter_map(|clause| clause.parse().ok())
        .map(Setting::from_default)
        .collect()
}
