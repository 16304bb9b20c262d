#![doc = include_str!("../README.md")]

use tools::{Catalog, RegisterError};

/// Links and registers families. Each has a row: its feature, package, library and name.
macro_rules! families {
    ($($feature:tt $package:literal $library:ident as $name:ident;)+) => {
        $(#[cfg(feature = $feature)] pub extern crate $library as $name;)+

        /// The packages of the enabled features, in alphabetical order.
        pub const PACKAGES: &[&str] = &[$(#[cfg(feature = $feature)] $package),+];

        /// Registers the tools of all enabled features in a catalog, for hosts that do not rely on link-time registration.
        ///
        /// # Errors
        /// Returns [`RegisterError`] if a name is taken. Crates are registered in the order of [`PACKAGES`]; those before the failing
        /// one stay registered.
        pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
            $(#[cfg(feature = $feature)] $name::register(catalog)?;)+
            let _ = catalog;
            Ok(())
        }
    };
}

families! {
    "cron" "toolcrib-cron" tools_cron as cron;
    "exec" "toolcrib-exec" tools_exec as exec;
    "fs" "toolcrib-fs" tools_fs as fs;
    "memory" "toolcrib-memory" tools_memory as memory;
    "message" "toolcrib-message" tools_message as message;
    "skill" "toolcrib-skill" tools_skill as skill;
    "time" "toolcrib-time" tools_time as time;
    "tts" "toolcrib-tts" tools_tts as tts;
    "weather" "toolcrib-weather" tools_weather as weather;
    "web" "toolcrib-web" tools_web as web;
}
