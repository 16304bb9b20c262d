//! The settings of `toolcrib.toml` and the command line.

mod error;
mod file;
mod layer;
mod origin;
mod reader;
mod section;
mod settings;
mod trust;

use std::path::PathBuf;

use clap::Args;

pub(crate) use error::ConfigError;
pub(crate) use file::{ConfigFile, FileState, rules};
pub(crate) use layer::{Bounds, DURATIONS, Layer, RequestSettings};
pub(crate) use origin::{Origin, Setting};
pub(crate) use reader::url;
pub(crate) use settings::Settings;

use crate::notice;

/// The options of commands that read `toolcrib.toml`.
#[derive(Args, Debug, Default)]
pub(crate) struct ConfigOptions {
    /// Read only this settings file, not the project's and the user's (such as toolcrib.toml), and trust it
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,

    /// Read no settings file
    #[arg(long)]
    no_config: bool,

    /// Apply this profile of the settings file
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl ConfigOptions {
    /// Returns options that read no file.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { no_config: true, ..Self::default() }
    }

    /// Returns the effective settings of the files and these flags. Warns about an ignored file.
    pub(crate) fn settings(&self, mut flags: Layer) -> Result<Settings, ConfigError> {
        flags.profile = self.profile.clone().map(|profile| Setting::from_flag("--profile", profile));
        let mut loaded = match (&self.config, self.no_config) {
            (Some(path), _) => file::load_named(path)?,
            (None, true) => file::Loaded::default(),
            (None, false) => {
                let directory =
                    std::env::current_dir().map_err(|source| ConfigError::Read { path: PathBuf::from("."), source })?;
                file::load_default(&directory)?
            }
        };
        loaded.layers.insert(0, file::built_in()?);
        loaded.layers.push(flags);
        for ignored in loaded.files.iter().filter(|file| file.state == FileState::Ignored) {
            let path = ignored.path.display();
            notice::warning(&format!("{path} belongs to another user and is ignored; trust its directory to use it"));
        }
        Settings::from_layers(loaded.layers, loaded.files)
    }
}
