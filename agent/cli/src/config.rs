//! `toolcrib.toml`: what is said there, and what holds.

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
pub(crate) use file::{Looked, State, rules};
pub(crate) use layer::{Bounds, Layer, WAITS, Waiting};
pub(crate) use origin::{Origin, Setting};
pub(crate) use reader::url;
pub(crate) use settings::Settings;

use crate::notice;

/// The options of every command that heeds `toolcrib.toml`.
#[derive(Args, Debug, Default)]
pub(crate) struct ConfigOptions {
    /// Reads this file in the place of toolcrib.toml of the project and of the user; all that it says counts
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,

    /// Reads no toolcrib.toml
    #[arg(long)]
    no_config: bool,

    /// The profile of toolcrib.toml to use
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl ConfigOptions {
    /// No file is read.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { no_config: true, ..Self::default() }
    }

    /// What holds where the command line says this. Tells of a file that is passed over.
    pub(crate) fn settings(&self, mut flags: Layer) -> Result<Settings, ConfigError> {
        flags.profile = self.profile.clone().map(|profile| Setting::of_flag("--profile", profile));
        let mut said = match (&self.config, self.no_config) {
            (Some(path), _) => file::named(path)?,
            (None, true) => file::Said::default(),
            (None, false) => {
                let directory =
                    std::env::current_dir().map_err(|source| ConfigError::Read { path: PathBuf::from("."), source })?;
                file::found(&directory)?
            }
        };
        said.layers.push(flags);
        for passed in said.files.iter().filter(|file| file.state == State::PassedOver) {
            let path = passed.path.display();
            notice::warning(&format!(
                "{path} belongs to another user and is passed over; trust its directory to use it"
            ));
        }
        Settings::of(said.layers, said.files)
    }
}
