#![doc = include_str!("../README.md")]

pub mod duration;
mod extension;
mod finding;
pub mod folders;
pub mod program;
pub mod settings;
mod size;
pub mod trust;

pub use extension::{
    Extension, Report, ReportFuture, clause_fault, faults, insert_services, list, notices,
    open_file, prepare_context, recover, reports, sections, start, with_access,
};
pub use finding::{FamilyReport, Finding};
/// Re-exported for `inventory::submit!` of an [`Extension`].
pub use inventory;
pub use size::Size;
