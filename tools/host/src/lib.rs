#![doc = include_str!("../README.md")]

pub mod duration;
pub mod exit;
mod extension;
mod finding;
pub mod folders;
pub mod program;
mod prompt_call;
mod remote_tools;
pub mod settings;
mod size;
pub mod style;
pub mod trust;
mod written_file;

pub use exit::Exit;
pub use extension::{
    Argument, ArgumentRule, Arguments, Command, CommandContext, CommandError, CommandFuture,
    ControlFolders, Extension, Report, ReportFuture, Run, Section, ValueForm, ValueKind,
    clause_fault, commands, faults, insert_control_folders, insert_services, list, notices,
    open_file, prepare_context, recover, remote_tools, reports, sections, start, warnings,
    with_access,
};
pub use finding::{FamilyReport, Finding};
/// Re-exported for `inventory::submit!` of an [`Extension`].
pub use inventory;
pub use prompt_call::PromptCall;
pub use remote_tools::{
    AttachRequest, AttachedTools, ContextSource, FirstList, NoServers, RemoteFuture, RemoteTools,
};
pub use size::Size;
pub use written_file::{WrittenFile, is_document};
