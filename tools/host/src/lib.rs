#![doc = include_str!("../README.md")]

mod client_calls;
pub mod duration;
pub mod exit;
mod extension;
mod finding;
pub mod fit;
pub mod folders;
pub mod open_folder;
pub mod own_path;
pub mod placed;
pub mod program;
mod remote_tools;
mod retention;
pub mod running;
mod session_record;
pub mod sessions;
pub mod settings;
pub mod shell;
mod size;
pub mod style;
pub mod table;
pub mod trust;
pub mod ungranted;
mod written_file;

pub use client_calls::{Advice, ClientCalls, ClientCallsRequest};
pub use exit::Exit;
pub use extension::{
    Approval, Argument, ArgumentRule, Arguments, Command, CommandContext, CommandError,
    CommandFuture, CommandGroup, ControlFolders, Extension, FoundTool, Parts, Protection, Report,
    ReportFuture, Run, Section, Trace, TypedCall, ValueForm, ValueKind, approve, clause_fault,
    commands, end, faults, harmless, harmless_commands, insert_control_folders, insert_services,
    list, notices, open_file, recover, remote_tools, reports, sections, session_records, start,
    start_traces, typed_call, warnings, with_access, written_files,
};
pub use finding::{FamilyReport, Finding};
/// Re-exported for `inventory::submit!` of an [`Extension`].
pub use inventory;
pub use remote_tools::{
    AttachRequest, AttachedTools, ContextSource, FirstList, NoServers, PromptCall, RemoteFuture,
    RemoteTools,
};
pub use retention::{Retention, RetentionKeys, SessionFiles};
pub use session_record::{RecordFuture, RecordPlace, SessionRecord, SessionRecords};
pub use size::describe_size;
pub use written_file::{WrittenFile, WrittenFiles, is_document};
