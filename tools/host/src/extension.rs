//! [`Extension`]: the link-time record of a family of tools.

mod command;
mod linked;

use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::Value;
use tools::{Clause, Digest, Entry, Host, Services, Source, ToolContext};

use crate::finding::{FamilyReport, Finding};
use crate::remote_tools::RemoteTools;
use crate::session_record::SessionRecords;
use crate::settings::{KeySet, Settings, SettingsError, Values};
use crate::written_file::WrittenFiles;

pub use command::{
    Argument, ArgumentRule, Arguments, Command, CommandContext, CommandError, CommandFuture,
    CommandGroup, FoundTool, Run, ValueForm, ValueKind,
};
pub use linked::{
    ControlFolders, Protection, approve, clause_fault, commands, end, faults, harmless,
    harmless_commands, insert_control_folders, insert_services, list, notices, open_file, recover,
    remote_tools, reports, sections, session_records, start, start_traces, typed_call, warnings,
    with_access, written_files,
};

/// The link-time record of a family of tools: everything by which it joins a program, besides its tools. Register it with
/// [`inventory::submit!`](inventory::submit). A program that links the family's crate has its settings and grants.
///
/// ```
/// use host::settings::{Key, Setting, declare_keys, non_blank, text};
/// use host::{Extension, Parts, inventory};
/// use tools::source;
///
/// declare_keys! {
///     /// The keys of the table `[fan]`.
///     pub struct FanKeys;
///
///     /// The room of the fan that is switched without a name
///     pub room: Option<Setting<String>> = Key::new("fan.room", text(non_blank), None, "\"kitchen\"");
/// }
///
/// inventory::submit! {
///     Extension::new("fan", source!(), Parts {
///         default_grants: &["fan:read:**"],
///         keys: || vec![Box::new(FanKeys::default())],
///         ..Parts::NONE
///     })
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
/// | the process begins | [`start`](Parts::start) |
/// | the command line is read | [`commands`](Parts::commands), and the flags of [`keys`](Parts::keys) |
/// | before a file of the workspace is read | [`recovery`](Parts::recovery) |
/// | files and variables are read and merged | [`keys`](Parts::keys), [`default_grants`](Parts::default_grants) |
/// | the settings are merged | [`access`](Parts::access), [`harmless`](Parts::harmless) and [`is_harmless`](Parts::is_harmless), then [`clause_fault`](Parts::clause_fault) for each clause |
/// | servers are attached | [`remote_tools`](Parts::remote_tools), [`written_files`](Parts::written_files) |
/// | the session gets its services | [`control_folders`](Parts::control_folders), then [`services`](Parts::services) in the order of their `after`, which may ask the settings for the [`secret_files`](Parts::secret_files) |
/// | calls get their host | [`protection`](Parts::protection), then [`host`](Parts::host) |
/// | the person is warned | [`notices`](Parts::notices) once in a process, then [`warnings`](Parts::warnings) for each session or single call |
/// | texts of the project are read | [`open_file`](Parts::open_file) |
/// | the session is recorded | [`session_records`](Parts::session_records); one to resume is opened before its settings are merged |
/// | a person types `!` and a command line | [`typed_call`](Parts::typed_call) |
/// | spans begin | [`trace`](Parts::trace) |
/// | the system text is made | [`section`](Parts::section) |
/// | the process ends | [`end`](Parts::end) |
///
/// `doctor` uses [`faults`](Parts::faults) and [`report`](Parts::report), and `trust` uses [`approval`](Parts::approval). Commands
/// that open no session stop at the part that they need.
pub struct Extension {
    name: &'static str,
    source: Source,
    pub(crate) parts: Parts,
}

/// The parts of a family.
///
/// All of these compile. The second of each pair does less than its author expects:
///
/// ```text
/// default_grants: &["fan:read:**"]    sessions may read fans
/// default_grants: &["fan:reads:**"]   no access is called `reads`, so the clause is left out
///
/// after: &["fs"]                      the services of `fs` are there when this family adds its own
/// after: &[]                          a family whose name sorts before `fs` does not find them
/// ```
#[derive(Clone, Copy)]
pub struct Parts {
    /// The grants that a session has unless its user drops them, such as `clock:read:now`. A clause that cannot be parsed is left out.
    ///
    /// Nobody is asked about them, so they are for reads of the family's own things that cost nothing and reach no other machine.
    /// A write is among them only if its effect ends with the session, as that of `program:write:**`, which means background programs.
    pub default_grants: &'static [&'static str],
    /// The clauses of commands that sessions which a person starts run without a question, each with the reason why it is harmless. One that
    /// cannot be parsed is left out.
    pub harmless: &'static [(&'static str, &'static str)],
    /// Returns true if the [harmless](Self::harmless) commands are so with these settings.
    pub is_harmless: fn(&Settings) -> bool,
    /// Returns the values of the family's keys in a layer that sets none.
    pub keys: fn() -> Vec<Box<dyn KeySet>>,
    /// Returns the files with secrets that the values of a layer name, besides those of
    /// [keys of secret files](crate::settings::Key::of_secret_file). No tool reads them.
    pub secret_files: fn(&Values) -> Vec<PathBuf>,
    /// Runs before anything else in the process, such as for a process that the family has started as its own. It may end the process.
    pub start: fn(),
    /// Runs before the process ends. It may wait for a few seconds.
    pub end: fn(),
    /// Repairs the workspace after processes that died. It runs before a file of the workspace is read, and gets the root if there is one.
    pub recovery: fn(Option<&Path>),
    /// The families whose services are there before those of this one.
    pub after: &'static [&'static str],
    /// Adds the services of a session. A service that the program brings itself stays.
    pub services: fn(&Settings, &mut Services) -> Result<(), SettingsError>,
    /// Prepares the host of calls, which has the services of all families.
    pub host: fn(&Settings, Host) -> Result<Host, SettingsError>,
    /// Opens a file of the workspace as tools do: links do not lead out, and the grant must cover reading it.
    pub open_file: fn(&ToolContext, &str) -> Option<File>,
    /// Adds the grants and rules that follow from settings, such as those for the host of a service.
    pub access: fn(Settings) -> Result<Settings, SettingsError>,
    /// Adds the files and places which no tool changes without a question, such as those that settings of git name.
    pub protection: fn(Settings) -> Settings,
    /// Returns warnings for the start of a session, such as that a secret is missing.
    pub notices: fn(&Settings) -> Result<Vec<String>, SettingsError>,
    /// Returns why a clause of the family's scheme permits nothing, such as one that names no channel. Returns `None` for others.
    pub clause_fault: fn(&Clause, &Settings) -> Option<String>,
    /// Returns the tool that runs a command line which a person types, and its arguments. An error is for the person.
    pub typed_call: Option<TypedCall>,
    /// The tools of servers.
    pub remote_tools: Option<&'static dyn RemoteTools>,
    /// The part of `doctor`.
    pub report: Option<Report>,
    /// Returns the faults of the family's own link-time records.
    pub faults: fn() -> Vec<Finding>,
    /// Returns the folders that decide what later sessions do, such as those of skills. A tool asks before it changes them, and programs
    /// cannot. The function may add services that those of [`services`](Self::services) are made of.
    pub control_folders: fn(&Settings, &mut Services) -> Vec<PathBuf>,
    /// Returns warnings for a session in this context, or for a call of the tool alone.
    pub warnings: fn(&ToolContext, Option<&Entry>) -> Vec<String>,
    /// The section of the system text with this name. An empty text is left out.
    pub section: Option<(&'static str, Section)>,
    /// The commands.
    pub commands: &'static [Command],
    /// Starts to export the spans of a session, if the settings or the environment ask for it.
    pub trace: fn(&Settings) -> Option<Trace>,
    /// The records of sessions.
    pub session_records: Option<SessionRecords>,
    /// The part of `trust`.
    pub approval: Option<Approval>,
    /// Returns the files that sessions wrote.
    pub written_files: WrittenFiles,
}

/// The call that a typed command line becomes: the name of the tool, and its arguments.
pub type TypedCall = fn(&str) -> Result<(&'static str, Value), String>;

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
    /// Creates the record of a family. The name has letters, digits, `-`, `_` and `.`.
    pub const fn new(name: &'static str, source: Source, parts: Parts) -> Self {
        Self {
            name,
            source,
            parts,
        }
    }
}

impl Parts {
    /// The parts of a family without any.
    pub const NONE: Self = Self {
        default_grants: &[],
        harmless: &[],
        is_harmless: |_| true,
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
        typed_call: None,
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
    };
}

tools::named_submission!(Extension, "extension");

tools::debug_fields!(self: Extension { name, source });
