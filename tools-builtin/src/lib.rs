#![doc = include_str!("../README.md")]

#[cfg(feature = "cron")]
pub extern crate tools_cron as cron;
#[cfg(feature = "exec")]
pub extern crate tools_exec as exec;
#[cfg(feature = "fs")]
pub extern crate tools_fs as fs;
#[cfg(feature = "memory")]
pub extern crate tools_memory as memory;
#[cfg(feature = "message")]
pub extern crate tools_message as message;
#[cfg(feature = "skill")]
pub extern crate tools_skill as skill;
#[cfg(feature = "time")]
pub extern crate tools_time as time;
#[cfg(feature = "tts")]
pub extern crate tools_tts as tts;
#[cfg(feature = "weather")]
pub extern crate tools_weather as weather;
#[cfg(feature = "web")]
pub extern crate tools_web as web;

use tools::{Catalog, RegisterError};

/// Registers the tools of all enabled features in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. Crates are registered in alphabetical order; those before the failing one stay
/// registered.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    #[cfg(feature = "cron")]
    cron::register(catalog)?;
    #[cfg(feature = "exec")]
    exec::register(catalog)?;
    #[cfg(feature = "fs")]
    fs::register(catalog)?;
    #[cfg(feature = "memory")]
    memory::register(catalog)?;
    #[cfg(feature = "message")]
    message::register(catalog)?;
    #[cfg(feature = "skill")]
    skill::register(catalog)?;
    #[cfg(feature = "time")]
    time::register(catalog)?;
    #[cfg(feature = "tts")]
    tts::register(catalog)?;
    #[cfg(feature = "weather")]
    weather::register(catalog)?;
    #[cfg(feature = "web")]
    web::register(catalog)?;
    let _ = catalog;
    Ok(())
}
