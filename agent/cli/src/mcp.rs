//! The MCP servers of the user and of the project. In the lean build, there are none.

#[cfg(not(feature = "default"))]
mod absent;
#[cfg(feature = "default")]
mod attach;
#[cfg(feature = "default")]
mod code;
#[cfg(feature = "default")]
mod control;
#[cfg(feature = "default")]
mod decisions;
#[cfg(feature = "default")]
mod follow;
#[cfg(feature = "default")]
mod inventory;
mod prompt_call;
#[cfg(feature = "default")]
mod prompts;
mod report;
#[cfg(feature = "default")]
mod sampler;
#[cfg(feature = "default")]
mod server;
#[cfg(feature = "default")]
mod standing;
#[cfg(feature = "default")]
mod unknown_name;

#[cfg(not(feature = "default"))]
pub(crate) use absent::{
    Attached, FirstList, attach, attach_for, control_files, declared_effects, may_permit, permit,
    permitted, report, with_sampling,
};
#[cfg(feature = "default")]
pub(crate) use attach::{Attached, FirstList, attach, attach_for, with_sampling};
#[cfg(feature = "default")]
pub(crate) use control::control_files;
#[cfg(feature = "default")]
pub(crate) use decisions::{declared_effects, may_permit, permit, permitted};
#[cfg(feature = "default")]
pub(crate) use inventory::{Configured, Inventory, Standing};
pub(crate) use prompt_call::PromptCall;
pub(crate) use report::ServerReport;
#[cfg(feature = "default")]
pub(crate) use server::{http_server, import};
#[cfg(feature = "default")]
pub(crate) use standing::{remarks, report, standing};
