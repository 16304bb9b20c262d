#![doc = include_str!("../README.md")]

pub mod duration;
mod extension;
mod finding;
pub mod folders;
pub mod program;
mod prompt_call;
mod remote_tools;
pub mod settings;
mod size;
pub mod trust;

pub use extension::{
    Extension, Report, ReportFuture, Section, clause_fault, faults, insert_services, list, notices,
    open_file, prepare_context, recover, remote_tools, reports, sections, start, with_access,
};
pub use finding::{FamilyReport, Finding};
/// Re-exported for `inventory::submit!` of an [`Extension`].
pub use inventory;
pub use prompt_call::PromptCall;
pub use remote_tools::{
    AttachRequest, AttachedTools, FirstList, NoServers, RemoteError, RemoteFuture, RemoteTools,
};
pub use size::Size;
