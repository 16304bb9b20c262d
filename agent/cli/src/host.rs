//! What the program offers to tools: the root directory, the grant, the policy, and somebody to ask.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
#[cfg(feature = "builtin")]
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::protocol::ApprovalDefault;
use tools::{CancellationToken, Clause, OutputStore, Services, Target, ToolContext};

use crate::approver::TerminalApprover;
use crate::config::{ConfigOptions, Layer, Setting, Settings};
use crate::error::Error;
use crate::folders;
use crate::output::Console;
use crate::policy::{self, PolicyOptions};

/// The note on a file that steers the program.
#[cfg(feature = "builtin")]
const STEERING: &str = "a file that this session was begun with, which decides what tools may do";

/// The options of every command that runs tools.
#[derive(Args, Debug)]
pub(crate) struct HostOptions {
    #[command(flatten)]
    pub(crate) root: RootOption,

    /// Lets calls touch what the clause `scheme:access:pattern` covers, such as `fs:write:src/**`; repeatable
    #[arg(long, value_name = "CLAUSE")]
    grant: Vec<Clause>,

    /// Grants nothing but what --grant says; by default reading below the root and the clock is granted, and what
    /// toolcrib.toml says
    #[arg(long)]
    no_default_grants: bool,

    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    #[command(flatten)]
    config: ConfigOptions,
}

/// Files of a session that tools are kept from, wherever they lie.
#[derive(Debug, Default)]
pub(crate) struct OwnFiles {
    /// No tool reaches them.
    pub(crate) hidden: Vec<PathBuf>,
    /// They decide what the next session does, so a person is asked each time one is written.
    pub(crate) steering: Vec<PathBuf>,
}

/// The option of every command that looks at the services that tools find.
#[derive(Args, Debug, Default)]
pub(crate) struct RootOption {
    /// The directory that file tools are confined to [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl HostOptions {
    /// What holds where the command line says this as well.
    pub(crate) fn settings(&self, mut flags: Layer) -> Result<Settings, Error> {
        let grant = |clause: &Clause| Setting::of_flag("--grant", clause.clone());
        let allow = |clause: &Clause| Setting::of_flag("--allow", clause.clone());
        flags.bounds.grants = self.grant.iter().map(grant).chain(self.policy.allow.iter().map(allow)).collect();
        flags.bounds.default_grants = self.no_default_grants.then(|| Setting::of_flag("--no-default-grants", false));
        flags.policy = self.policy.rules()?;
        Ok(self.config.settings(flags)?)
    }

    /// The context for calls. Beyond the grant it asks on the terminal, where there is one.
    pub(crate) fn context(
        &self,
        settings: &Settings,
        own: &OwnFiles,
        cancellation: CancellationToken,
        console: &Arc<Console>,
    ) -> Result<ToolContext, Error> {
        let services = self.root.services_beside(&own.hidden)?;
        let steering =
            settings.sources().chain(self.policy.policy.as_deref()).chain(own.steering.iter().map(PathBuf::as_path));
        let mut context = at_root(ToolContext::new().with_services(services), steering)
            .with_grant(settings.grant())
            .with_policy(self.policy.of_session(settings))
            .with_cancellation(cancellation);
        if let Some(timeout) = &settings.call_timeout {
            context = context.with_timeout(timeout.value);
        }
        if let Some(patience) = self.policy.approval_timeout {
            context = context.with_approval_timeout(patience);
        }
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return Ok(context.with_approver(Arc::new(TerminalApprover::new(console.clone()))));
        }
        Ok(context)
    }

    /// The context for one call that a person has typed, which is their consent to it as far as it is granted.
    pub(crate) fn context_of_call(
        &self,
        settings: &Settings,
        typed: &[Target],
        cancellation: CancellationToken,
        console: &Arc<Console>,
    ) -> Result<ToolContext, Error> {
        // Nothing can be read after the one call, so no handle is told.
        let outputs = OutputStore::new().with_max_bytes(0);
        let context = self.context(settings, &OwnFiles::default(), cancellation, console)?;
        Ok(context.with_service(outputs).with_policy(policy::of_call(settings, typed)))
    }
}

impl RootOption {
    /// The directory, as an absolute path where that can be told.
    pub(crate) fn setting(&self) -> Setting<PathBuf> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match &self.root {
            Some(root) => Setting::of_flag("--root", absolute(root)),
            None => Setting::by_default(absolute(Path::new("."))),
        }
    }

    /// The services that tools find here.
    pub(crate) fn services(&self) -> Result<Services, Error> {
        self.services_beside(&[])
    }

    /// The services that tools find here. They reach neither these files nor the program's own folders.
    fn services_beside(&self, hidden: &[PathBuf]) -> Result<Services, Error> {
        let mut services = Services::new();
        services.insert(OutputStore::new());
        let hidden = folders::own().into_iter().chain(hidden.iter().cloned());
        furnish(&mut services, self.root.as_deref().unwrap_or(Path::new(".")), hidden)?;
        Ok(services)
    }
}

/// The flags that would have let a refused call touch its targets.
pub(crate) fn how_to_grant(needed: &[Target]) -> String {
    // What always asks would be asked about next.
    let flag =
        |target: &Target| if target.approval_default() == ApprovalDefault::AlwaysAsk { "--allow" } else { "--grant" };
    format!("to allow it, add {}", policy::flags(needed, flag))
}

/// The context in the domain of its workspace, in which files that steer the program are settings. Calls in other roots do not
/// wait for those that are made with it.
#[cfg(feature = "builtin")]
fn at_root<'a>(cx: ToolContext, steering: impl Iterator<Item = &'a Path>) -> ToolContext {
    let Some(workspace) = cx.service::<tools_builtin::fs::Workspace>() else { return cx };
    let setting = |path| SensitivePath::new(format!("/{path}"), Sensitivity::Settings, STEERING);
    let paths = steering.flat_map(|file| workspace.paths_to(file)).filter_map(|path| setting(path).ok());
    let paths = SensitivePaths::default().with_paths(paths);
    cx.with_domain("fs", workspace.identity()).with_sensitive_paths(paths)
}

#[cfg(not(feature = "builtin"))]
fn at_root<'a>(cx: ToolContext, _steering: impl Iterator<Item = &'a Path>) -> ToolContext {
    cx
}

#[cfg(feature = "builtin")]
fn furnish(services: &mut Services, root: &Path, hidden: impl Iterator<Item = PathBuf>) -> Result<(), Error> {
    let workspace = tools_builtin::fs::Workspace::open(root).and_then(|workspace| workspace.with_hidden(hidden));
    services.insert(workspace.map_err(|error| Error::Root { path: root.to_owned(), reason: error.to_string() })?);
    Ok(())
}

#[cfg(not(feature = "builtin"))]
fn furnish(_services: &mut Services, root: &Path, _hidden: impl Iterator<Item = PathBuf>) -> Result<(), Error> {
    let refused = |reason: String| Error::Root { path: root.to_owned(), reason };
    std::fs::read_dir(root).map(drop).map_err(|error| refused(error.to_string()))
}

#[cfg(all(test, feature = "builtin"))]
mod tests {
    use super::*;

    #[test]
    fn calls_in_different_roots_do_not_wait_for_each_other() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let domain_of = |root: PathBuf| {
            let services = RootOption { root: Some(root) }.services().unwrap();
            at_root(ToolContext::new().with_services(services), std::iter::empty()).domain("fs").to_owned()
        };
        let [domain, again] = [(); 2].map(|()| domain_of(one.path().join(".")));
        assert_eq!(domain, again);
        assert_ne!(domain, domain_of(other.path().to_owned()));
    }
}
