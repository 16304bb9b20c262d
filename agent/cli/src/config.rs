//! The settings of `toolcrib.toml`, the environment and the command line. `keys.rs` declares each key.

mod environment;
mod flags;
mod help;
mod keys;
mod model_price;
mod parser;
#[cfg(test)]
mod untrusted;

use std::path::PathBuf;

use agent::{InvalidSelection, Selection};
use clap::Args;
use host::settings::{self, AccessKeys};
use host::trust::Content;

pub(crate) use self::parser::DisclosureMode;
pub(crate) use flags::{
    KeyFlags, LimitFlags, MODEL, PERMISSIONS, QuestionFlag, RECORDING, SelectFlag, SessionFlags,
    ToolFlags,
};
pub(crate) use help::help;
pub(crate) use host::settings::{
    Document, ENVIRONMENT, FileState, Origin, Setting, Settings, SettingsError, SettingsFile,
    Values, rules,
};
pub(crate) use keys::ProgramKeys;

use crate::{notice, trust};

/// The options of commands that read the settings files.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfigOptions {
    /// Read only this settings file, not those of the project and the user, and trust it
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,

    /// Read no settings file
    #[arg(long)]
    pub(crate) no_config: bool,

    /// The directory from which the settings of the project are searched. `None` is that of the process.
    #[arg(skip)]
    pub(crate) directory: Option<PathBuf>,
}

impl ConfigOptions {
    /// Returns true if the files of the user and the project are read: without --config and --no-config.
    pub(crate) fn reads_files(&self) -> bool {
        !self.no_config && self.config.is_none()
    }

    /// Returns the contents of the project's settings files, the nearest first, and whether the user's file trusts the directory of each.
    pub(crate) fn project_contents(&self) -> Result<Vec<(Content, bool)>, SettingsError> {
        if self.reads_files() {
            settings::project_contents(&self.working_directory()?)
        } else {
            Ok(Vec::new())
        }
    }

    fn working_directory(&self) -> Result<PathBuf, SettingsError> {
        match &self.directory {
            Some(directory) => Ok(directory.clone()),
            None => working_directory(),
        }
    }

    /// Returns the effective settings of the files, the environment and these flags. Warns about an ignored file.
    pub(crate) fn settings(&self, flags: Values) -> Result<Settings, SettingsError> {
        let mut loaded = match (&self.config, self.no_config) {
            (Some(path), _) => settings::load_named(path)?,
            (None, true) => settings::Loaded::default(),
            (None, false) => {
                settings::load_default(&self.working_directory()?, trust::tell_narrowing)?
            }
        };
        // Also with --config and --no-config: these settings are the program's own.
        loaded.layers.insert(0, settings::built_in()?);
        for layer in &mut loaded.layers {
            layer.values.of_mut::<ProgramKeys>().choose_first()?;
        }
        for ignored in loaded
            .files
            .iter()
            .filter(|file| file.state == FileState::Ignored)
        {
            let path = ignored.path.display();
            notice::warning(&format!(
                "{path} belongs to another user and is ignored; trust its directory to use it"
            ));
        }
        let mut environment = environment::values()?;
        let mut flags = flags;
        let settings = match merge(&loaded, &environment, &flags) {
            // A flag or a variable completes itself. Next to a setting of a file, the provider is to be named in the file.
            Err(SettingsError::NoOwner { origin, key, owner }) => {
                let upper = match origin {
                    Origin::Flag(_) => &mut flags,
                    Origin::Environment(_) => &mut environment,
                    _ => return Err(SettingsError::NoOwner { origin, key, owner }),
                };
                let provider = environment::completing(upper);
                upper.of_mut::<ProgramKeys>().provider = provider;
                merge(&loaded, &environment, &flags)?
            }
            settings => settings?,
        };
        // Without a provider no layer has a model, URL or key either, so the key goes to the provider's own service.
        let settings = settings.edit(|keys: &mut ProgramKeys| {
            keys.provider = keys.provider.take().or_else(|| environment::provider(None));
        });
        // Other sessions apply these files, so this one protects all that they name, too.
        let (unapplied, mistake) = settings::load_unapplied();
        if let Some(error) = mistake {
            notice::warning(&format!(
                "{error}; some of the files that it names may not be protected in this session"
            ));
        }
        Ok(settings.with_unapplied(unapplied))
    }
}

/// Returns the value of a setting. Returns `None` if it is not set.
pub(crate) fn value<T: Clone>(setting: &Option<Setting<T>>) -> Option<T> {
    setting.as_ref().map(|setting| setting.value.clone())
}

fn merge(
    loaded: &settings::Loaded,
    environment: &Values,
    flags: &Values,
) -> Result<Settings, SettingsError> {
    let layers = loaded.layers.clone();
    let (environment, flags) = (environment.clone(), flags.clone());
    Settings::from_layers(layers, environment, flags, loaded.files.clone())
}

fn working_directory() -> Result<PathBuf, SettingsError> {
    std::env::current_dir().map_err(|source| SettingsError::Read {
        path: PathBuf::from("."),
        source,
    })
}

/// The settings of the program itself.
pub(crate) trait ProgramSettings {
    /// Returns the keys of sessions and their models.
    fn program(&self) -> &ProgramKeys;

    /// Returns the keys that decide what tools may do.
    fn access(&self) -> &AccessKeys;

    /// Returns the rules that choose the session's tools.
    fn selection(&self) -> Result<Selection, InvalidSelection>;
}

impl ProgramSettings for Settings {
    fn program(&self) -> &ProgramKeys {
        self.of()
    }

    fn access(&self) -> &AccessKeys {
        self.of()
    }

    fn selection(&self) -> Result<Selection, InvalidSelection> {
        Selection::parse(
            self.program()
                .select
                .iter()
                .flat_map(|select| &select.value),
        )
    }
}
