//! The MCP servers of the user and of the project. Without the feature `mcp`, there are none.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod attach;
#[cfg(feature = "mcp")]
mod inventory;
#[cfg(feature = "mcp")]
mod server;

#[cfg(not(feature = "mcp"))]
pub(crate) use absent::{Attached, attach, attach_for, report};
#[cfg(feature = "mcp")]
pub(crate) use attach::{Attached, attach, attach_for, report, standing};
#[cfg(feature = "mcp")]
pub(crate) use inventory::{Configured, Inventory, Standing};
#[cfg(feature = "mcp")]
pub(crate) use server::{http_server, import};
