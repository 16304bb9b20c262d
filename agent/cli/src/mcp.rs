//! The MCP servers of the user and of the project. Without the feature `mcp`, there are none.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod attach;
#[cfg(feature = "mcp")]
mod code;
#[cfg(feature = "mcp")]
mod control;
#[cfg(feature = "mcp")]
mod decisions;
#[cfg(feature = "mcp")]
mod follow;
#[cfg(feature = "mcp")]
mod inventory;
mod prompt_call;
#[cfg(feature = "mcp")]
mod prompts;
mod report;
#[cfg(feature = "mcp")]
mod sampler;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod standing;
#[cfg(feature = "mcp")]
mod unknown_name;

#[cfg(not(feature = "mcp"))]
pub(crate) use absent::{
    Attached, FirstList, attach, attach_for, control_files, declared_effects, may_permit, permit,
    permitted, report, with_sampling,
};
#[cfg(feature = "mcp")]
pub(crate) use attach::{Attached, FirstList, attach, attach_for, with_sampling};
#[cfg(feature = "mcp")]
pub(crate) use control::control_files;
#[cfg(feature = "mcp")]
pub(crate) use decisions::{declared_effects, may_permit, permit, permitted};
#[cfg(feature = "mcp")]
pub(crate) use inventory::{Configured, Inventory, Standing};
pub(crate) use prompt_call::PromptCall;
pub(crate) use report::ServerReport;
#[cfg(feature = "mcp")]
pub(crate) use server::{http_server, import};
#[cfg(feature = "mcp")]
pub(crate) use standing::{remarks, report, standing};
