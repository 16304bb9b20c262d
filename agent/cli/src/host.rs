//! The context of calls: services, grant, policy and approver.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "builtin")]
use agent::WorkspaceDomain;
use agent::{Direct, Models, Plan, SessionConsent, SubAgents};
use clap::Args;
use tools::protocol::ApprovalDefault;
use tools::{CancellationToken, Grant, OutputStore, Services, Target, Tasks, ToolContext};

use crate::approver::TerminalAsker;
use crate::config::{ConfigOptions, KeyFlags, Setting, Settings, ToolFlags, Values};
use crate::console::Console;
use crate::dialogue::Dialogue;
use crate::error::Error;
use crate::folders;
use crate::mcp;
use crate::person::TerminalPerson;
use crate::policy::{self, PolicyOptions};
use crate::program;
use crate::refusal;
use crate::web;

/// The options of commands that run tools.
#[derive(Args, Debug)]
pub(crate) struct HostOptions {
    #[command(flatten)]
    pub(crate) root: RootOption,

    #[command(flatten)]
    keys: KeyFlags<ToolFlags>,

    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    #[command(flatten)]
    config: ConfigOptions,
}

/// Files of a session that are protected from its tools, inside or outside the root.
#[derive(Debug, Default)]
pub(crate) struct ProtectedFiles {
    /// Files that no tool can reach.
    pub(crate) hidden: Vec<PathBuf>,
    /// Files that decide what tools may do: each write or removal needs approval.
    pub(crate) control: Vec<PathBuf>,
}

/// The option of commands that open the workspace.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RootOption {
    /// The directory that confines file tools [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl HostOptions {
    /// Returns the root whose MCP servers a session has. Returns `None` if no file is to be read.
    pub(crate) fn servers_root(&self) -> Option<&RootOption> {
        self.config.reads_files().then_some(&self.root)
    }

    /// Returns the effective settings: these options together with the other flags and the files.
    pub(crate) fn settings(&self, mut flags: Values) -> Result<Settings, Error> {
        flags.merge(self.keys.values()?);
        flags.grants.extend(self.policy.allowed());
        flags.policy = self.policy.rules()?;
        Ok(web::access(self.config.settings(flags)?)?)
    }

    /// Returns the context for the calls of a session. If standard input and error are terminals, a person can approve calls
    /// beyond the grant there, and answer questions.
    pub(crate) fn context(
        &self,
        settings: &Settings,
        protected: &ProtectedFiles,
        cancellation: CancellationToken,
        console: &Arc<Console>,
    ) -> Result<ToolContext, Error> {
        let context = self.unattended_context(settings, protected, cancellation)?;
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            let dialogue = Arc::new(Dialogue::new(console.clone()));
            let context = context.with_person(Arc::new(TerminalPerson::new(dialogue.clone())));
            return Ok(context.with_approver(Arc::new(SessionConsent::new(TerminalAsker::new(dialogue)))));
        }
        Ok(context)
    }

    /// Returns the context for calls that no person at the terminal approves.
    pub(crate) fn unattended_context(
        &self,
        settings: &Settings,
        protected: &ProtectedFiles,
        cancellation: CancellationToken,
    ) -> Result<ToolContext, Error> {
        let hidden = protected.hidden.iter().map(PathBuf::as_path).chain(settings.secret_files());
        let mut services = self.root.services_hiding(hidden, settings)?;
        web::insert(&mut services, settings)?;
        web::warn_missing(settings)?;
        let of_servers = self.servers_root().map(mcp::control_files).unwrap_or_default();
        let control = settings
            .sources()
            .chain(of_servers.iter().map(PathBuf::as_path))
            .chain(self.policy.policy.as_deref())
            .chain(protected.control.iter().map(PathBuf::as_path));
        let mut context = in_workspace(ToolContext::new().with_services(services), control)
            .with_grant(settings.grant())
            .with_policy(self.policy.session_policy(settings))
            .with_approval_timeout(settings.approval_timeout.value)
            .with_cancellation(cancellation)
            .with_recorded_content(settings.telemetry_content.value);
        if let Some(timeout) = &settings.call_timeout {
            context = context.with_timeout(timeout.value);
        }
        Ok(context)
    }

    /// Returns the context for one call typed by a person. Typing the call consents to it, within the grant.
    pub(crate) fn call_context(
        &self,
        settings: &Settings,
        typed: &[Target],
        cancellation: CancellationToken,
        console: &Arc<Console>,
    ) -> Result<ToolContext, Error> {
        // No later call could use an output handle, so none is stored.
        let outputs = OutputStore::new().with_max_bytes(0);
        let context = self.context(settings, &ProtectedFiles::default(), cancellation, console)?;
        Ok(for_one_call(context).with_service(outputs).with_policy(policy::call_policy(settings, typed)))
    }
}

impl RootOption {
    /// Returns the root, as an absolute path if the current directory is known.
    pub(crate) fn setting(&self) -> Setting<PathBuf> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match &self.root {
            Some(root) => Setting::from_flag("--root", absolute(root)),
            None => Setting::from_default(absolute(Path::new("."))),
        }
    }

    /// Returns the path of the root that names the workspace of a recorded session, with links resolved.
    pub(crate) fn workspace(&self) -> String {
        let root = self.setting().value;
        root.canonicalize().unwrap_or(root).to_string_lossy().into_owned()
    }

    /// Returns the services of a session that makes no calls.
    pub(crate) fn services(&self, settings: &Settings) -> Result<Services, Error> {
        let mut services = self.services_hiding(std::iter::empty(), settings)?;
        web::insert(&mut services, settings)?;
        services.insert(Plan::new());
        services.insert(unused_models());
        Ok(services)
    }

    /// Returns the services for tools, which hide these files and the program's own folders.
    fn services_hiding<'a>(
        &self,
        hidden: impl Iterator<Item = &'a Path>,
        settings: &Settings,
    ) -> Result<Services, Error> {
        let mut services = program::services();
        if services.get::<SubAgents>().is_none() {
            services.insert(SubAgents::new());
        }
        services.insert(OutputStore::new());
        Tasks::offer(&mut services);
        let hidden = folders::own().into_iter().chain(hidden.map(Path::to_owned));
        insert_workspace(&mut services, self.root.as_deref().unwrap_or(Path::new(".")), hidden)?;
        insert_sandbox(&mut services, settings);
        Ok(services)
    }
}

/// Returns the models of a session that makes no calls: the provider without a model stands for its own.
pub(crate) fn unused_models() -> Models {
    Models::new(Arc::new(Direct))
}

/// Returns the hint with the flags that grant the targets of a refused call. `first` is the grant that a resumed session began with.
pub(crate) fn how_to_grant(needed: &[Target], first: Option<&Grant>) -> String {
    // With --grant alone, a target that always asks would be refused again for lack of approval.
    let flag =
        |target: &Target| if target.approval_default() == ApprovalDefault::AlwaysAsk { "--allow" } else { "--grant" };
    let flags = policy::flags(needed, flag);
    match refusal::is_beyond(first, needed) {
        false => format!("to allow it, add {flags}"),
        true => format!("the session keeps to the grant that it began with; to allow it, start a new one with {flags}"),
    }
}

/// Puts the context into the domain of its workspace, with the control files.
#[cfg(feature = "builtin")]
pub(crate) fn in_workspace<'a>(cx: ToolContext, control: impl Iterator<Item = &'a Path>) -> ToolContext {
    let Some(workspace) = cx.service::<tools_builtin::fs::Workspace>() else { return cx };
    let files = control.flat_map(|file| workspace.paths_to(file));
    // The built-in table has the settings files of `toolcrib` alone.
    let domain = WorkspaceDomain::new(workspace.identity()).with_control_files(files);
    domain.with_control_name(folders::settings_name()).enter(cx)
}

#[cfg(not(feature = "builtin"))]
pub(crate) fn in_workspace<'a>(cx: ToolContext, _control: impl Iterator<Item = &'a Path>) -> ToolContext {
    cx
}

/// Returns the context of a call without a session.
fn for_one_call(cx: ToolContext) -> ToolContext {
    let mut services = cx.services().clone();
    Tasks::offer_for_one_call(&mut services);
    cx.with_services(services)
}

#[cfg(feature = "builtin")]
fn insert_workspace(services: &mut Services, root: &Path, hidden: impl Iterator<Item = PathBuf>) -> Result<(), Error> {
    let workspace = tools_builtin::fs::Workspace::open(root).and_then(|workspace| workspace.with_hidden(hidden));
    services.insert(workspace.map_err(|error| Error::Root { path: root.to_owned(), reason: error.to_string() })?);
    Ok(())
}

/// Adds the sandbox of programs, with the toolchains of the user.
#[cfg(feature = "builtin")]
fn insert_sandbox(services: &mut Services, settings: &Settings) {
    use tools_builtin::exec::Sandbox;

    if services.get::<Sandbox>().is_some() {
        return;
    }
    let mut sandbox = Sandbox::new().with_unconfined(settings.unconfined.value);
    if let Some((home, cache)) = folders::toolchains() {
        let toolchains = settings.toolchains.iter().filter_map(|name| name.value.parse().ok());
        sandbox = sandbox.with_toolchains(toolchains, &home, &cache);
    }
    services.insert(sandbox);
}

#[cfg(not(feature = "builtin"))]
fn insert_sandbox(_services: &mut Services, _settings: &Settings) {}

#[cfg(not(feature = "builtin"))]
fn insert_workspace(
    _services: &mut Services,
    root: &Path,
    _hidden: impl Iterator<Item = PathBuf>,
) -> Result<(), Error> {
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
            let services = RootOption { root: Some(root) }.services(&Settings::default()).unwrap();
            in_workspace(ToolContext::new().with_services(services), std::iter::empty()).domain("fs").to_owned()
        };
        let [domain, again] = [(); 2].map(|()| domain_of(one.path().join(".")));
        assert_eq!(domain, again);
        assert_ne!(domain, domain_of(other.path().to_owned()));
    }
}
