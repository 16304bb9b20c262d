#![doc = include_str!("../README.md")]

mod command;
mod consent;
mod enter;
mod entered;
mod environment;
mod lookup;
mod network;
mod prepare;
mod preview;
mod programs;
mod protected;
mod report;
mod request;
mod run;
mod sandbox;
mod script;
mod shell;
pub mod supervise;
mod toolchain;
pub mod walls;

use tools::{Catalog, RegisterError};

pub use enter::enter;
pub use programs::Programs;
pub use sandbox::Sandbox;
pub use toolchain::{Toolchain, UnknownToolchain};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[
        &run::RUN_TOOL,
        &shell::SHELL_TOOL,
        &programs::START_TOOL,
        &programs::READ_TOOL,
        &programs::WRITE_TOOL,
        &programs::STOP_TOOL,
        &programs::LIST_TOOL,
    ])
}
