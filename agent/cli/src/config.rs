//! The settings of `toolcrib.toml`, the environment and the command line. `keys.rs` declares each key.

mod channel;
mod declarations;
mod disclosure_mode;
mod environment;
mod error;
mod file;
mod flags;
mod help;
mod key;
mod keys;
mod kind;
mod layer;
mod model_price;
mod named_files;
mod origin;
mod parser;
mod project;
mod project_file;
mod reader;
mod secret;
mod section;
mod settings;
mod slot;
mod trust;

use std::path::PathBuf;

use clap::Args;

#[cfg(feature = "web")]
pub(crate) use channel::Channel;
pub(crate) use disclosure_mode::DisclosureMode;
pub(crate) use error::ConfigError;
pub(crate) use file::{ConfigFile, FileState, rules};
pub(crate) use flags::{KeyFlags, QuestionFlag, SelectFlag, SessionFlags, ToolFlags};
pub(crate) use help::help;
pub(crate) use key::KeyAbout;
pub(crate) use keys::Values;
pub(crate) use origin::{Origin, Setting};
pub(crate) use parser::ENVIRONMENT;
#[cfg(feature = "web")]
pub(crate) use secret::Secret;
pub(crate) use settings::Settings;
pub(crate) use slot::Document;

use crate::notice;
use crate::trust::Content;

/// The options of commands that read the settings files.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfigOptions {
    /// Read only this settings file, not those of the project and the user, and trust it
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,

    /// Read no settings file
    #[arg(long)]
    no_config: bool,
}

impl ConfigOptions {
    /// Returns true if the files of the user and the project are read: without --config and --no-config.
    pub(crate) fn reads_files(&self) -> bool {
        !self.no_config && self.config.is_none()
    }

    /// Returns options that read no file.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { no_config: true, ..Self::default() }
    }

    /// Returns the contents of the project's settings files, the nearest first, and whether the user's file trusts the directory of each.
    pub(crate) fn project_contents(&self) -> Result<Vec<(Content, bool)>, ConfigError> {
        if self.reads_files() { file::project_contents(&working_directory()?) } else { Ok(Vec::new()) }
    }

    /// Returns the effective settings of the files, the environment and these flags. Warns about an ignored file.
    pub(crate) fn settings(&self, flags: Values) -> Result<Settings, ConfigError> {
        let mut loaded = match (&self.config, self.no_config) {
            (Some(path), _) => file::load_named(path)?,
            (None, true) => file::Loaded::default(),
            (None, false) => file::load_default(&working_directory()?)?,
        };
        loaded.layers.insert(0, file::built_in()?);
        for ignored in loaded.files.iter().filter(|file| file.state == FileState::Ignored) {
            let path = ignored.path.display();
            notice::warning(&format!("{path} belongs to another user and is ignored; trust its directory to use it"));
        }
        let (mut environment, mut flags) = (environment::values()?, flags);
        let merged = |environment: &Values, flags: &Values| {
            Settings::from_layers(loaded.layers.clone(), environment.clone(), flags.clone(), loaded.files.clone())
        };
        let settings = match merged(&environment, &flags) {
            // A flag or a variable completes itself. Next to a setting of a file, the provider is to be named in the file.
            Err(ConfigError::NoProvider { origin, key }) => {
                let upper = match origin {
                    Origin::Flag(_) => &mut flags,
                    Origin::Environment(_) => &mut environment,
                    _ => return Err(ConfigError::NoProvider { origin, key }),
                };
                upper.provider = environment::completing(upper);
                merged(&environment, &flags)?
            }
            settings => settings?,
        };
        let unapplied = file::unapplied();
        Ok(settings.with_unapplied(&unapplied).or_provider(environment::provider(None)))
    }
}

fn working_directory() -> Result<PathBuf, ConfigError> {
    std::env::current_dir().map_err(|source| ConfigError::Read { path: PathBuf::from("."), source })
}
