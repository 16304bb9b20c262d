//! The MCP servers of the user and of the project.

mod attach;
mod code;
mod control;
mod decisions;
mod extension;
mod follow;
mod inventory;
mod prompts;
mod sampler;
mod server;
mod standing;

pub(crate) use inventory::{Configured, Inventory, Standing};
pub(crate) use server::{http_server, import};
pub(crate) use standing::{remarks, standing};
