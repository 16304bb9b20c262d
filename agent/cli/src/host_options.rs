//! The host of calls: services, grant, policy and approver.

use host::settings::AccessKeys;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::SessionConsent;
use clap::Args;
use tools::context::Exposure;
use tools::policy::{Rule, Verdict};
use tools::{CancellationToken, Clause, Host, OutputStore, Target, Tasks};

use crate::config::{
    ConfigOptions, KeyFlags, Origin, ProgramSettings as _, Setting, Settings, SettingsError,
    ToolFlags, Values,
};
use crate::error::Error;
use crate::person::TerminalPerson;
use crate::policy::{self, PolicyOptions};
use crate::root::RootOption;
use crate::session_view::SessionView;
use crate::terminal_asker::{Always, TerminalAsker};
use crate::{ineffective, notice, program};
use host::shell::path_flag;
use host::trust::Content;
use host::ungranted::Ungranted;

/// The options of commands that run tools.
#[derive(Args, Clone, Debug)]
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

impl HostOptions {
    /// Returns the given flags as words of a shell.
    pub(crate) fn words(&self) -> Vec<String> {
        let root = self.root.given();
        let mut words: Vec<_> = root.iter().map(|root| path_flag("--root", root)).collect();
        words.extend(self.keys.words());
        words.extend(self.policy.words());
        let config = self.config.config.iter();
        words.extend(config.map(|file| path_flag("--config", file)));
        words.extend(self.config.no_config.then(|| "--no-config".to_owned()));
        words
    }

    /// Returns the options for this root, with the settings of the project there.
    pub(crate) fn at(mut self, root: PathBuf) -> Self {
        self.root = RootOption::at(&root);
        self.config.directory = Some(root);
        self
    }

    /// Returns the root whose MCP servers a session has. Returns `None` if no file is to be read.
    pub(crate) fn servers_root(&self) -> Option<PathBuf> {
        self.config.reads_files().then(|| self.root.setting().value)
    }

    /// Returns the contents of the project's settings files, the nearest first, and whether the user's file trusts the directory of each.
    pub(crate) fn project_contents(&self) -> Result<Vec<(Content, bool)>, SettingsError> {
        self.config.project_contents()
    }

    /// Returns the effective settings: these options together with the other flags and the files.
    pub(crate) fn settings(&self, mut flags: Values) -> Result<Settings, Error> {
        // Before any file of the workspace is read.
        let root = self.root.workspace().ok().map(PathBuf::from);
        host::recover(root.as_deref());
        flags.merge(self.keys.values()?);
        let access: &mut AccessKeys = flags.of_mut();
        access.grants.extend(self.policy.clauses());
        access.policy = self.policy.rules()?;
        let default_grants = &access.default_grants;
        let drops_defaults = default_grants.origin != Origin::Default && !default_grants.value;
        let (_, allowed) = self.clauses();
        for clause in allowed.into_iter().filter(|_| !drops_defaults) {
            let origin = Origin::Flag("allow in mcp.json");
            let rule = Rule::for_target(Verdict::Allow, clause.clone().with_origin("mcp.json"));
            access.grants.push(Setting::new(clause, origin.clone()));
            access.policy.push(Setting::new(rule, origin));
        }
        let settings = host::with_access(self.config.settings(flags)?)?;
        let settings = root.into_iter().fold(settings, Settings::with_root);
        // In the settings, so that the walls of MCP servers protect it as well.
        let settings = settings.with_control_files(self.policy.policy.clone());
        let settings = self.with_reads(settings);
        ineffective::warn_once(&settings, self.servers_root().as_deref());
        Ok(settings)
    }

    /// Returns the settings with the reads of tools that the user declared as read-only. The first list of a server tells which these are.
    pub(crate) fn with_reads(&self, settings: Settings) -> Settings {
        let reads = self.clauses().0.into_iter().map(Setting::from_default);
        reads.fold(settings, Settings::with_default_grant)
    }

    fn clauses(&self) -> (Vec<Clause>, Vec<Clause>) {
        self.servers_root()
            .map(|root| host::remote_tools().clauses(&root))
            .unwrap_or_default()
    }

    /// Returns the host for the calls of a session. If standard input and error are terminals, a person can approve calls
    /// beyond the grant there, and answer questions.
    pub(crate) fn attended_host(
        &self,
        settings: &Settings,
        cancellation: CancellationToken,
        view: &Arc<SessionView>,
    ) -> Result<Host, Error> {
        let host = self.unattended_host(settings, cancellation)?;
        if !terminal::has_person() {
            return Ok(host);
        }
        let asker = TerminalAsker {
            view: view.clone(),
            servers: self.servers_root(),
            always: self
                .servers_root()
                .and_then(|_| Always::new(settings, &self.policy)),
        };
        Ok(host
            .with_person(Arc::new(TerminalPerson(view.clone())))
            .with_approver(Arc::new(SessionConsent::new(asker))))
    }

    /// Returns the host for calls that no person at the terminal approves.
    pub(crate) fn unattended_host(
        &self,
        settings: &Settings,
        cancellation: CancellationToken,
    ) -> Result<Host, Error> {
        let host = self.root.host(self.config.reads_files(), settings)?;
        warn_once(settings)?;
        let mut host = host
            .with_service(Exposure::new())
            .with_grant(settings.grant())
            .with_policy(self.policy.session_policy(settings))
            .with_approval_timeout(settings.program().approval_timeout.value)
            .with_cancellation(cancellation);
        if let Some(timeout) = &settings.program().call_timeout {
            host = host.with_timeout(timeout.value);
        }
        Ok(host)
    }

    /// Returns the host for one call typed by a person. Typing the call consents to it, within the grant.
    pub(crate) fn call_host(
        &self,
        settings: &Settings,
        typed: &[Target],
        cancellation: CancellationToken,
        view: &Arc<SessionView>,
    ) -> Result<Host, Error> {
        // No later call could use an output handle, so none is stored.
        let outputs = OutputStore::default().with_max_bytes(0);
        let host = self.attended_host(settings, cancellation, view)?;
        Ok(for_one_call(host)
            .with_service(outputs)
            .with_policy(policy::call_policy(settings, typed)))
    }
}

/// Returns the hint with the flags or the command that grant the targets of a refused call.
pub(crate) fn how_to_grant(refused: &Ungranted<'_>) -> String {
    let flags = refused.consenting_flags(refused.needed);
    match refused.answered {
        _ if refused.is_beyond(refused.needed) => {
            format!(
                "the session keeps to the grant that it began with; to allow it, start a new one with {flags}"
            )
        }
        Some(resume) => format!(
            "the session is answered; to allow it, ask again in a chat: {} chat {resume} {flags}",
            program::name()
        ),
        None => format!("to allow it, add {flags}"),
    }
}

/// Returns the host of a call without a session.
fn for_one_call(host: Host) -> Host {
    let mut services = host.services().clone();
    Tasks::offer_for_one_call(&mut services);
    host.with_services(services)
}

/// Prints the warnings of the families, once in a process: `listen` and `cron run` open many sessions.
fn warn_once(settings: &Settings) -> Result<(), Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        host::notices(settings)?
            .iter()
            .for_each(|warning| notice::warning(warning));
    }
    Ok(())
}
