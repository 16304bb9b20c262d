//! The functions that loop over the linked families.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tools::{Clause, Digest, Entry, Host, Services, ToolContext, linked};

use super::{Command, CommandContext, CommandError, Extension, Parts, Trace};
use crate::finding::{FamilyReport, Finding};
use crate::remote_tools::{NoServers, RemoteTools};
use crate::session_record::SessionRecords;
use crate::settings::{Settings, SettingsError};
use crate::written_file::WrittenFile;

/// Returns the usable linked extensions, sorted by name.
pub fn list() -> Vec<&'static Extension> {
    linked::list()
}

fn parts() -> impl Iterator<Item = &'static Parts> {
    list().into_iter().map(|extension| &extension.parts)
}

/// The folders of families that decide what later sessions do: a service that is there before those of families.
#[derive(Clone, Debug, Default)]
pub struct ControlFolders(pub Vec<PathBuf>);

/// Adds and returns the [`ControlFolders`] of all linked families for a session with these settings.
pub fn insert_control_folders(settings: &Settings, services: &mut Services) -> Vec<PathBuf> {
    let folders: Vec<_> = parts()
        .flat_map(|parts| (parts.control_folders)(settings, services))
        .collect();
    // Before those of families, whose services read it.
    services.insert(ControlFolders(folders.clone()));
    folders
}

/// The protection of a session: a service. What settings of git and links lead to can change, so each session looks for it, also one of a client
/// of a server that runs for long.
#[derive(Clone, Debug)]
pub struct Protection(Settings);

impl Protection {
    /// Creates the protection of a session with these settings.
    pub fn new(settings: Settings) -> Self {
        Self(settings)
    }

    /// Prepares the host of calls for all linked families, with the paths that they protect now.
    ///
    /// # Errors
    /// Returns the first mistake in the settings.
    pub fn prepare(&self, host: Host) -> Result<Host, SettingsError> {
        let settings = self.0.clone();
        let settings = parts().fold(settings, |settings, parts| (parts.protection)(settings));
        parts().try_fold(host, |host, parts| (parts.host)(&settings, host))
    }

    /// Returns the host of calls with the paths that the linked families protect now, in place of those that it has. Looks at the workspace
    /// as [`recover`] does.
    ///
    /// # Errors
    /// Returns an error if a family cannot protect them, such as on a full disk.
    pub fn renew(&self, host: Host) -> Result<Host, SettingsError> {
        recover(self.0.root());
        let fresh = self.prepare(Host::new().with_services(host.services().clone()))?;
        Ok(host.with_sensitive_paths(fresh.sensitive_paths().clone()))
    }
}

/// Returns the warnings of all linked families for a session in this context, or for a call of the tool alone.
pub fn warnings(cx: &ToolContext, tool: Option<&Entry>) -> Vec<String> {
    parts()
        .flat_map(|parts| (parts.warnings)(cx, tool))
        .collect()
}

/// Runs the first code of all linked families. Call it before anything else in the process.
///
/// Families whose names are in conflict run too: a process that one of them started is not to go on as a program.
pub fn start() {
    // All records, even two of one name: a process that a family has started must not run on as the program.
    inventory::iter::<Extension>
        .into_iter()
        .for_each(|extension| (extension.parts.start)());
}

/// Runs the last code of all linked families. Call it before the process ends.
pub fn end() {
    parts().for_each(|parts| (parts.end)());
}

/// Repairs the workspace after processes that died. Call it before a file of the workspace is read.
pub fn recover(root: Option<&Path>) {
    parts().for_each(|parts| (parts.recovery)(root));
}

/// Adds the services of all linked families for a session with these settings.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn insert_services(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let mut waiting = list();
    while !waiting.is_empty() {
        let ready = waiting.iter().filter(|extension| {
            let mut others = waiting.iter();
            !others.any(|other| extension.parts.after.contains(&other.name))
        });
        // Families that wait for each other are taken in the order of their names.
        let ready: Vec<_> = match ready.copied().collect::<Vec<_>>() {
            none if none.is_empty() => waiting.clone(),
            ready => ready,
        };
        ready
            .iter()
            .try_for_each(|extension| (extension.parts.services)(settings, services))?;
        waiting.retain(|extension| !ready.iter().any(|ready| ready.name == extension.name));
    }
    Ok(())
}

/// Opens a file of the workspace as tools do. Returns `None` if they cannot read it.
pub fn open_file(cx: &ToolContext, path: &str) -> Option<File> {
    parts().find_map(|parts| (parts.open_file)(cx, path))
}

/// Returns the settings with the grants and rules that follow from those of the linked families.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn with_access(settings: Settings) -> Result<Settings, SettingsError> {
    parts().try_fold(settings, |settings, parts| (parts.access)(settings))
}

/// Returns the warnings of all linked families for the start of a session.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn notices(settings: &Settings) -> Result<Vec<String>, SettingsError> {
    parts().try_fold(Vec::new(), |mut all, parts| {
        all.extend((parts.notices)(settings)?);
        Ok(all)
    })
}

/// Returns the clauses of the commands that are harmless with these settings.
pub fn harmless(settings: &Settings) -> Vec<Clause> {
    let parts = parts().filter(|parts| (parts.is_harmless)(settings));
    let clauses = parts.flat_map(|parts| parts.harmless);
    clauses
        .filter_map(|(clause, _)| clause.parse().ok())
        .collect()
}

/// Returns the harmless commands of all linked families: the name of the family, the clause, and the reason why it is harmless.
pub fn harmless_commands() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let families = list().into_iter();
    families.flat_map(|family| {
        let commands = family.parts.harmless.iter();
        commands.map(|(clause, reason)| (family.name, *clause, *reason))
    })
}

/// Returns why a clause permits nothing, if its family knows a reason.
pub fn clause_fault(clause: &Clause, settings: &Settings) -> Option<String> {
    parts().find_map(|parts| (parts.clause_fault)(clause, settings))
}

/// Returns the call that a typed command line becomes. Returns `None` if no linked family runs programs.
pub fn typed_call(line: &str) -> Option<Result<(&'static str, Value), String>> {
    parts()
        .find_map(|parts| parts.typed_call)
        .map(|call| call(line))
}

/// Returns the tools of servers of the linked families. A program has one kind of servers.
pub fn remote_tools() -> &'static dyn RemoteTools {
    parts()
        .find_map(|parts| parts.remote_tools)
        .unwrap_or(&NoServers)
}

/// Returns the reports of all linked families, in the order of their names.
///
/// # Errors
/// Returns the first mistake in the settings.
pub async fn reports(
    settings: &Settings,
    services: Option<&Services>,
) -> Result<Vec<FamilyReport>, SettingsError> {
    let mut reports = Vec::new();
    for report in parts().filter_map(|parts| parts.report) {
        reports.push(report(settings, services).await?);
    }
    Ok(reports)
}

/// Returns the faults of the linked extensions and of the records of their families.
pub fn faults() -> Vec<Finding> {
    let of_families = parts().flat_map(|parts| (parts.faults)());
    let own = Finding::of_linked::<Extension>();
    own.into_iter().chain(of_families).collect()
}

/// Returns the sections of the system text of all linked families, in the order of the families' names.
pub fn sections(
    cx: &ToolContext,
    has_tool: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Result<String, String>)> {
    parts()
        .filter_map(|parts| parts.section)
        .map(|(name, section)| (name, section(cx, has_tool)))
        .collect()
}

/// Returns the records of sessions. A program has one kind of them. Returns `None` if its sessions cannot be recorded.
pub fn session_records() -> Option<SessionRecords> {
    parts().find_map(|parts| parts.session_records)
}

/// Starts to export the spans of a session for all linked families that do. Drop the exports after the session.
pub fn start_traces(settings: &Settings) -> Vec<Trace> {
    parts()
        .filter_map(|parts| (parts.trace)(settings))
        .collect()
}

/// Returns the commands of all linked families, in the order of the families' names.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    parts().flat_map(|parts| parts.commands)
}

/// Asks for the approvals of all linked families, for the command `trust`. Returns true if none is missing.
///
/// # Errors
/// Returns the first error of a family.
pub async fn approve(cx: &dyn CommandContext, digests: &[Digest]) -> Result<bool, CommandError> {
    let mut is_approved = true;
    for approval in parts().filter_map(|parts| parts.approval) {
        // A refusal of one does not hide the questions of the others.
        is_approved &= approval(cx, digests).await?;
    }
    Ok(is_approved)
}

/// Returns the files that sessions wrote below those of their roots for which the function returns true, by root.
///
/// # Errors
/// Returns an error if the record of the files cannot be read.
pub fn written_files(
    is_wanted: &dyn Fn(&Path) -> bool,
) -> io::Result<Vec<(PathBuf, Vec<WrittenFile>)>> {
    parts().try_fold(Vec::new(), |mut all, parts| {
        all.extend((parts.written_files)(is_wanted)?);
        Ok(all)
    })
}
