#![doc = include_str!("../README.md")]

#[cfg(feature = "tools")]
mod aside;
#[cfg(feature = "tools")]
mod blocking;
#[cfg(feature = "tools")]
mod code;
#[cfg(feature = "tools")]
mod command;
#[cfg(feature = "tools")]
mod consent;
#[cfg(feature = "tools")]
mod disk;
mod enter;
mod entered;
#[cfg(feature = "tools")]
mod extension;
#[cfg(feature = "tools")]
mod hidden;
#[cfg(feature = "tools")]
mod live_output;
#[cfg(feature = "tools")]
mod lookup;
#[cfg(feature = "tools")]
mod network;
#[cfg(target_os = "linux")]
mod open_files;
#[cfg(feature = "tools")]
mod prepare;
#[cfg(feature = "tools")]
mod preview;
#[cfg(feature = "tools")]
mod private_home;
#[cfg(feature = "tools")]
mod programs;
#[cfg(feature = "tools")]
mod protected;
#[cfg(feature = "tools")]
mod report;
#[cfg(feature = "tools")]
mod request;
#[cfg(feature = "tools")]
mod reserved;
#[cfg(feature = "tools")]
mod run;
#[cfg(feature = "tools")]
mod sandbox;
#[cfg(feature = "tools")]
mod script;
#[cfg(feature = "tools")]
mod shell;
pub mod supervise;
#[cfg(feature = "tools")]
mod teller;
#[cfg(feature = "tools")]
mod toolchain;
pub mod walls;
#[cfg(feature = "tools")]
mod watch;

#[cfg(feature = "tools")]
use tools::{Catalog, RegisterError};

#[cfg(feature = "tools")]
pub use aside::{Aside, SetAside};
pub use enter::enter;
#[cfg(feature = "tools")]
pub use prepare::Prepared;
#[cfg(feature = "tools")]
pub use sandbox::Sandbox;
#[cfg(feature = "tools")]
pub use teller::Teller;
#[cfg(feature = "tools")]
pub use toolchain::{Toolchain, UnknownToolchain};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
#[cfg(feature = "tools")]
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
