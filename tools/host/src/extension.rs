//! [`Extension`]: the link-time record of a family of tools.

mod command;
mod linked;

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use tools::linked::NamedSubmission;
use tools::{Clause, Digest, Entry, Host, Services, Source, ToolContext};

use crate::finding::{FamilyReport, Finding};
use crate::remote_tools::RemoteTools;
use crate::session_record::SessionRecords;
use crate::settings::{KeySet, Settings, SettingsError, Values};
use crate::written_file::WrittenFiles;

pub use command::{
    Argument, ArgumentRule, Arguments, Command, CommandContext, CommandError, CommandFuture,
    FoundTool, Run, ValueForm, ValueKind,
};
pub use linked::{
    ControlFolders, approve, clause_fault, commands, end, faults, insert_control_folders,
    insert_services, list, notices, open_file, prepare_host, protect, recover, remote_tools,
    reports, sections, session_records, start, start_traces, warnings, with_access, written_files,
};

/// The link-time record of a family of tools: everything by which it joins a program, besides its tools. Register it with
/// [`inventory::submit!`](inventory::submit). A program that links the family's crate has its settings and grants.
///
/// ```
/// use host::settings::{Key, Setting, declare_keys, filled, text};
/// use host::{Extension, inventory};
/// use tools::source;
///
/// declare_keys! {
///     /// The keys of the table `[fan]`.
///     pub struct FanKeys;
///
///     /// The room of the fan that is switched without a name
///     pub room: Option<Setting<String>> = Key::new("fan.room", text(filled), None, "\"kitchen\"");
/// }
///
/// inventory::submit! {
///     Extension::new("fan", source!())
///         .with_default_grants(&["fan:read:**"])
///         .with_keys(|| vec![Box::new(FanKeys::default())])
/// }
///
/// assert!(host::settings::Values::keys().any(|key| key.name == "fan.room"));
/// ```
///
/// # When each part is used
///
/// A session uses them in this order, and of one part the families in the order of their names:
///
/// | moment | part |
/// |---|---|
/// | the process begins | [`start`](Self::with_start) |
/// | the command line is read | [`commands`](Self::with_commands), and the flags of [`keys`](Self::with_keys) |
/// | before a file of the workspace is read | [`recovery`](Self::with_recovery) |
/// | files and variables are read and merged | [`keys`](Self::with_keys), [`default_grants`](Self::with_default_grants) |
/// | the settings are merged | [`access`](Self::with_access), then [`clause_fault`](Self::with_clause_fault) for each clause |
/// | servers are attached | [`remote_tools`](Self::with_remote_tools), [`written_files`](Self::with_written_files) |
/// | the session gets its services | [`control_folders`](Self::with_control_folders), then [`services`](Self::with_services) in the order of their `after`, which may ask the settings for the [`secret_files`](Self::with_secret_files) |
/// | calls get their host | [`protection`](Self::with_protection), then [`host`](Self::with_host) |
/// | the person is warned | [`notices`](Self::with_notices) once in a process, then [`warnings`](Self::with_warnings) for each session or single call |
/// | texts of the project are read | [`open_file`](Self::with_open_file) |
/// | the session is recorded | [`session_records`](Self::with_session_records); one to resume is opened before its settings are merged |
/// | spans begin | [`trace`](Self::with_trace) |
/// | the system text is made | [`section`](Self::with_section) |
/// | the process ends | [`end`](Self::with_end) |
///
/// `doctor` uses [`faults`](Self::with_faults) and [`report`](Self::with_report), and `trust` uses [`approval`](Self::with_approval). Commands
/// that open no session stop at the part that they need.
pub struct Extension {
    name: &'static str,
    source: Source,
    pub(crate) default_grants: &'static [&'static str],
    pub(crate) keys: fn() -> Vec<Box<dyn KeySet>>,
    pub(crate) secret_files: fn(&Values) -> Vec<PathBuf>,
    start: fn(),
    end: fn(),
    recovery: fn(Option<&Path>),
    after: &'static [&'static str],
    services: fn(&Settings, &mut Services) -> Result<(), SettingsError>,
    host: fn(&Settings, Host) -> Result<Host, SettingsError>,
    open_file: fn(&ToolContext, &str) -> Option<File>,
    access: fn(Settings) -> Result<Settings, SettingsError>,
    protection: fn(Settings) -> Settings,
    notices: fn(&Settings) -> Result<Vec<String>, SettingsError>,
    clause_fault: fn(&Clause, &Settings) -> Option<String>,
    remote_tools: Option<&'static dyn RemoteTools>,
    report: Option<Report>,
    faults: fn() -> Vec<Finding>,
    control_folders: fn(&Settings, &mut Services) -> Vec<PathBuf>,
    warnings: fn(&ToolContext, Option<&Entry>) -> Vec<String>,
    section: Option<(&'static str, Section)>,
    commands: &'static [Command],
    trace: fn(&Settings) -> Option<Trace>,
    session_records: Option<SessionRecords>,
    approval: Option<Approval>,
    written_files: WrittenFiles,
}

/// The question about what only a person can approve, such as commits that a session may have forged, for the command `trust`. The digests
/// of the command line approve without a question. Returns true if nothing is left to approve.
pub type Approval = for<'a> fn(&'a dyn CommandContext, &'a [Digest]) -> CommandFuture<'a, bool>;

/// The export of spans. Dropping it sends the remaining ones.
pub type Trace = Box<dyn Any + Send + Sync>;

/// The text of a section of the system text, for a session in this context whose tools have these names. An error is a warning.
pub type Section = fn(&ToolContext, &dyn Fn(&str) -> bool) -> Result<String, String>;

/// The report of a family for `doctor`: its settings, and the services of a session, unless these cannot be made.
pub type Report = for<'a> fn(&'a Settings, Option<&'a Services>) -> ReportFuture<'a>;

/// The future of a [`Report`].
pub type ReportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<FamilyReport, SettingsError>> + Send + 'a>>;

inventory::collect!(Extension);

impl Extension {
    /// Creates the record of a family without grants and keys. The name has letters, digits, `-`, `_` and `.`.
    pub const fn new(name: &'static str, source: Source) -> Self {
        Self {
            name,
            source,
            default_grants: &[],
            keys: Vec::new,
            secret_files: |_| Vec::new(),
            start: || {},
            end: || {},
            recovery: |_| {},
            after: &[],
            services: |_, _| Ok(()),
            host: |_, host| Ok(host),
            open_file: |_, _| None,
            access: Ok,
            protection: |settings| settings,
            notices: |_| Ok(Vec::new()),
            clause_fault: |_, _| None,
            remote_tools: None,
            report: None,
            faults: Vec::new,
            control_folders: |_, _| Vec::new(),
            warnings: |_, _| Vec::new(),
            section: None,
            commands: &[],
            trace: |_| None,
            session_records: None,
            approval: None,
            written_files: |_| Ok(Vec::new()),
        }
    }

    /// Sets the grants that a session has unless its user drops them, such as `clock:read:now`. A clause that cannot be parsed is left out.
    ///
    /// Nobody is asked about them, so they are for reads of the family's own things that cost nothing and reach no other machine.
    /// A write is among them only if its effect ends with the session, as that of `program:write:**`, which means background programs.
    #[must_use]
    pub const fn with_default_grants(mut self, grants: &'static [&'static str]) -> Self {
        self.default_grants = grants;
        self
    }

    /// Sets the function that returns the values of the family's keys in a layer that sets none.
    #[must_use]
    pub const fn with_keys(mut self, keys: fn() -> Vec<Box<dyn KeySet>>) -> Self {
        self.keys = keys;
        self
    }

    /// Sets the function that returns the files with secrets that the values of a layer name, besides those of
    /// [keys of secret files](crate::settings::Key::of_secret_file). No tool reads them.
    #[must_use]
    pub const fn with_secret_files(mut self, files: fn(&Values) -> Vec<PathBuf>) -> Self {
        self.secret_files = files;
        self
    }

    /// Sets the function that runs before anything else in the process, such as for a process that the family has started as its own. It may
    /// end the process.
    #[must_use]
    pub const fn with_start(mut self, start: fn()) -> Self {
        self.start = start;
        self
    }

    /// Sets the function that runs before the process ends. It may wait for a few seconds.
    #[must_use]
    pub const fn with_end(mut self, end: fn()) -> Self {
        self.end = end;
        self
    }

    /// Sets the function that repairs the workspace after processes that died. It runs before a file of the workspace is read, and gets the
    /// root if there is one.
    #[must_use]
    pub const fn with_recovery(mut self, recovery: fn(Option<&Path>)) -> Self {
        self.recovery = recovery;
        self
    }

    /// Sets the function that adds the services of a session. Those of the families named in `after` are there already, and a service
    /// that the program brings itself stays.
    #[must_use]
    pub const fn with_services(
        mut self,
        after: &'static [&'static str],
        services: fn(&Settings, &mut Services) -> Result<(), SettingsError>,
    ) -> Self {
        (self.after, self.services) = (after, services);
        self
    }

    /// Sets the function that prepares the host of calls, which has the services of all families.
    #[must_use]
    pub const fn with_host(
        mut self,
        host: fn(&Settings, Host) -> Result<Host, SettingsError>,
    ) -> Self {
        self.host = host;
        self
    }

    /// Sets the function that opens a file of the workspace as tools do: links do not lead out, and the grant must cover reading it.
    #[must_use]
    pub const fn with_open_file(
        mut self,
        open_file: fn(&ToolContext, &str) -> Option<File>,
    ) -> Self {
        self.open_file = open_file;
        self
    }

    /// Sets the function that adds the grants and rules that follow from settings, such as those for the host of a service.
    #[must_use]
    pub const fn with_access(
        mut self,
        access: fn(Settings) -> Result<Settings, SettingsError>,
    ) -> Self {
        self.access = access;
        self
    }

    /// Sets the function that adds the files and places which no tool changes without a question, such as those that settings of git name.
    #[must_use]
    pub const fn with_protection(mut self, protection: fn(Settings) -> Settings) -> Self {
        self.protection = protection;
        self
    }

    /// Sets the function that returns warnings for the start of a session, such as that a secret is missing.
    #[must_use]
    pub const fn with_notices(
        mut self,
        notices: fn(&Settings) -> Result<Vec<String>, SettingsError>,
    ) -> Self {
        self.notices = notices;
        self
    }

    /// Sets the function that returns why a clause of the family's scheme permits nothing, such as one that names no channel. Returns `None`
    /// for others.
    #[must_use]
    pub const fn with_clause_fault(
        mut self,
        fault: fn(&Clause, &Settings) -> Option<String>,
    ) -> Self {
        self.clause_fault = fault;
        self
    }

    /// Sets the tools of servers.
    #[must_use]
    pub const fn with_remote_tools(mut self, remote_tools: &'static dyn RemoteTools) -> Self {
        self.remote_tools = Some(remote_tools);
        self
    }

    /// Sets the part of `doctor`.
    #[must_use]
    pub const fn with_report(mut self, report: Report) -> Self {
        self.report = Some(report);
        self
    }

    /// Sets the function that returns the faults of the family's own link-time records.
    #[must_use]
    pub const fn with_faults(mut self, faults: fn() -> Vec<Finding>) -> Self {
        self.faults = faults;
        self
    }

    /// Sets the function that returns the folders that decide what later sessions do, such as those of skills. A tool asks before it changes
    /// them, and programs cannot. The function may add services that those of [`with_services`](Self::with_services) are made of.
    #[must_use]
    pub const fn with_control_folders(
        mut self,
        folders: fn(&Settings, &mut Services) -> Vec<PathBuf>,
    ) -> Self {
        self.control_folders = folders;
        self
    }

    /// Sets the function that returns warnings for a session in this context, or for a call of the tool alone.
    #[must_use]
    pub const fn with_warnings(
        mut self,
        warnings: fn(&ToolContext, Option<&Entry>) -> Vec<String>,
    ) -> Self {
        self.warnings = warnings;
        self
    }

    /// Sets the section of the system text with this name. An empty text is left out.
    #[must_use]
    pub const fn with_section(mut self, name: &'static str, section: Section) -> Self {
        self.section = Some((name, section));
        self
    }

    /// Sets the commands.
    #[must_use]
    pub const fn with_commands(mut self, commands: &'static [Command]) -> Self {
        self.commands = commands;
        self
    }

    /// Sets the function that starts to export the spans of a session, if the settings or the environment ask for it.
    #[must_use]
    pub const fn with_trace(mut self, trace: fn(&Settings) -> Option<Trace>) -> Self {
        self.trace = trace;
        self
    }

    /// Sets the records of sessions.
    #[must_use]
    pub const fn with_session_records(mut self, records: SessionRecords) -> Self {
        self.session_records = Some(records);
        self
    }

    /// Sets the part of `trust`.
    #[must_use]
    pub const fn with_approval(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// Sets the function that returns the files that sessions wrote.
    #[must_use]
    pub const fn with_written_files(mut self, written_files: WrittenFiles) -> Self {
        self.written_files = written_files;
        self
    }
}

impl NamedSubmission for Extension {
    const NOUN: &'static str = "extension";

    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &Source {
        &self.source
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
