//! The settings of programs, and the sandbox that they describe: how the family joins a program.

mod aside;
mod harmless;
mod keys;
mod path_programs;
mod report;
mod reserved_files;
mod typed;

use std::path::PathBuf;

use host::settings::{FileState, Settings, SettingsError};
use host::{Extension, Parts, folders, inventory, program};
use tools::policy::{Rule, Verdict};
use tools::{Access, Clause, Host, Services, source};
use tools_workspace::Workspace;

use self::keys::SandboxKeys;
use crate::enter::enter;
use crate::sandbox::Sandbox;
use crate::teller::Teller;

inventory::submit! {
    Extension::new("exec", source!(), Parts {
        default_grants: &["program:read:**", "program:write:**"],
        harmless: &harmless::COMMANDS,
        // Without walls, `cat` reads the keys of the user.
        is_harmless: |settings| {
            !settings.of::<SandboxKeys>().unconfined.value
                && !settings.rules().any(|rule| restricts_reads(&rule))
        },
        keys: || vec![Box::new(SandboxKeys::default())],
        start: enter,
        recovery: aside::recover,
        after: &["fs"],
        services: insert,
        host: prepare,
        access: check_files,
        typed_call: Some(typed::call),
        report: Some(|settings, _| Box::pin(async { Ok(report::report(settings)) })),
        ..Parts::NONE
    })
}

/// Adds the sandbox of a session, with the toolchains of the user. One that the program adds itself stays.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    if services.get::<Sandbox>().is_some() {
        return Ok(());
    }
    let keys: &SandboxKeys = settings.of();
    let reserved = settings.reserved.iter().cloned();
    // Where the call has no observer that shows it, such as behind `serve`.
    let teller = Teller::new(|files| {
        for file in files {
            program::warn(&file.to_string());
        }
    });
    let mut sandbox = Sandbox {
        may_run_unconfined: keys.unconfined.value,
        reserved: folders::own_folders().chain(reserved).collect(),
        teller: Some(teller),
        aside: aside::folder(),
        private_homes: folders::state().map(|state| state.join("homes")),
        ..Sandbox::default()
    };
    if let Some((home, cache)) = folders::toolchains() {
        let names = keys.toolchains.iter();
        sandbox.toolchains = names.filter_map(|name| name.value.parse().ok()).collect();
        (sandbox.home, sandbox.cache) = (home, cache);
    }
    services.insert(sandbox);
    Ok(())
}

/// Returns true for a rule that denies or asks about reads of files, which programs would make without a question.
fn restricts_reads(rule: &Rule) -> bool {
    let of_reads = |clause: &Clause| {
        clause.scheme().is_none_or(|scheme| scheme == "fs")
            && clause.access().is_none_or(|access| access == Access::Read)
    };
    rule.verdict != Verdict::Allow && rule.target().is_some_and(of_reads)
}

/// Refuses a file of settings that a program of another session makes while it runs. A person may have approved its content in other times.
fn check_files(settings: Settings) -> Result<Settings, SettingsError> {
    let Some(aside) = aside::folder() else {
        return Ok(settings);
    };
    let planted = settings.files().iter().find(|file| {
        matches!(file.state, FileState::Trusted(_)) && aside.is_left_by_running(&file.path)
    });
    match planted {
        Some(file) => Err(SettingsError::service(LeftByRunning(file.path.clone()))),
        None => Ok(settings),
    }
}

/// A file of settings that was not there when a program of another session began.
#[derive(Debug, thiserror::Error)]
#[error("a program that still runs may have written {}; look at it, and start again when that program has ended", .0.display())]
struct LeftByRunning(PathBuf);

/// Creates the files that no program may create, and protects the programs on the `PATH`, and what sessions of programs that run
/// know as protected.
fn prepare(settings: &Settings, host: Host) -> Result<Host, SettingsError> {
    let Some(workspace) = host.service::<Workspace>() else {
        return Ok(host);
    };
    reserved_files::create(&workspace, &settings.secret_files()).map_err(SettingsError::service)?;
    let host = workspace.protect(host, &path_programs::places(&workspace));
    let Some(aside) = aside::folder() else {
        return Ok(host);
    };
    let table = aside.with_known(workspace.root(), host.sensitive_paths().clone());
    Ok(host.with_sensitive_paths(table))
}
