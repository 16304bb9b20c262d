//! The memories of the user: how the family joins a program.

use host::settings::{Settings, SettingsError};
use host::{Extension, FamilyReport, Finding, Parts, inventory, program};
use tools::{Clause, Services, ToolContext, source};

use crate::command::MEMORY;
use crate::error::MemoryError;
use crate::keys::MemoryKeys;
use crate::memory::Memory;
use crate::scope::Scope;

inventory::submit! {
    Extension::new("memory", source!(), Parts {
        keys: || vec![Box::new(MemoryKeys::default())],
        default_grants: &["memory:read:project", "memory:read:user"],
        services: insert,
        clause_fault,
        report: Some(|_, _| Box::pin(async { Ok(report()) })),
        section: Some(("memories", section)),
        commands: &[MEMORY],
        ..Parts::NONE
    })
}

/// Adds the memories of a session, unless the program has its own.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    if services.get::<Memory>().is_some() {
        return Ok(());
    }
    match (Memory::of_settings(settings), settings.root()) {
        (Ok(memory), Some(root)) => services.insert(memory.with_project(root)),
        (Ok(memory), None) => services.insert(memory),
        (Err(error), _) => services.insert_absent::<Memory>(error.to_string()),
    }
    Ok(())
}

impl Memory {
    /// Returns the memories of the user, with the limit of the settings.
    pub(crate) fn of_settings(settings: &Settings) -> Result<Self, MemoryError> {
        let most = settings.of::<MemoryKeys>().max_entries.value;
        Ok(Self::own()?.with_max_entries(most as usize))
    }
}

fn clause_fault(clause: &Clause, _settings: &Settings) -> Option<String> {
    let scope = clause.pattern();
    let is_scope = scope == "project" || Scope::from_stored(scope).is_ok();
    (clause.scheme() == Some("memory") && !is_scope)
        .then(|| "the scopes of memories are user, project and project/NAME".to_owned())
}

fn report() -> FamilyReport {
    let mut report = FamilyReport::default();
    match Memory::own().and_then(|memory| memory.counts()) {
        Ok(counts) => {
            let mut line = format!("memories: {}", counts.all);
            if counts.unconfirmed > 0 {
                line += &format!(
                    ", {} of them not confirmed: {} memory list --unconfirmed",
                    counts.unconfirmed,
                    program::name()
                );
            }
            report.lines.push(line);
        }
        Err(error) => report
            .findings
            .push(Finding::new("memory", error.to_string()).with_fix("memory list")),
    }
    report
}

/// Returns the memories with which a session begins.
fn section(cx: &ToolContext, _has_tool: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let Some(memory) = cx.service::<Memory>() else {
        return Ok(String::new());
    };
    match memory.digest(cx) {
        Ok(digest) => Ok(digest.unwrap_or_default()),
        Err(error) => Err(format!("the session begins without memories: {error}")),
    }
}
