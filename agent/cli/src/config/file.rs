//! Finds, reads and trusts the settings files.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tools::policy::Rule;

use super::error::ConfigError;
use super::layer::Layer;
use super::origin::{Origin, Setting};
use super::{reader, trust};
use crate::{folders, program};

/// The maximum size of a settings file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A settings file, existing or not.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    /// The role: `user`, `project`, or `named` for `--config`.
    pub(crate) role: &'static str,
    /// The path, even if the file does not exist.
    pub(crate) path: PathBuf,
    pub(crate) state: FileState,
}

/// The use of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    Missing,
    /// All its settings apply.
    Used,
    /// All its settings apply, because this entry of the user's file trusts its directory.
    Trusted(Origin),
    /// The file may only narrow, and choose tools and a profile if neither the user's file nor the program does.
    Untrusted,
    /// The file belongs to another user and is not read.
    Ignored,
}

/// The settings of the files.
#[derive(Default)]
pub(super) struct Loaded {
    /// The layers in ascending precedence.
    pub(super) layers: Vec<Layer>,
    pub(super) files: Vec<ConfigFile>,
}

/// Returns the program's own default settings.
pub(super) fn built_in() -> Result<Layer, ConfigError> {
    reader::layer(&Arc::from(Path::new("built-in")), program::default_settings(), home().as_deref())
}

/// Loads the file of `--config`.
pub(super) fn load_named(path: &Path) -> Result<Loaded, ConfigError> {
    let path = std::path::absolute(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let layer = read(&path, home().as_deref())?;
    Ok(Loaded { layers: vec![layer], files: vec![ConfigFile { role: "named", path, state: FileState::Used }] })
}

/// Loads the rules of the file of `--policy`.
pub(crate) fn rules(path: &Path) -> Result<Vec<Setting<Rule>>, ConfigError> {
    let refused = |source| ConfigError::Policy { path: path.to_owned(), source };
    let path = std::path::absolute(path).map_err(refused)?;
    reader::rules(&Arc::from(&*path), &text(&path).map_err(refused)?)
}

/// Loads the user's file, and the nearest project file in the directory or above it.
pub(super) fn load_default(directory: &Path) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded::default();
    let home = home();
    let user = folders::settings();
    let mut user_layer = Layer::default();
    if let Some(path) = &user {
        let mut state = FileState::Missing;
        if path.try_exists().map_err(|source| ConfigError::Read { path: path.clone(), source })? {
            user_layer = read(path, home.as_deref())?;
            state = FileState::Used;
        }
        loaded.files.push(ConfigFile { role: "user", path: path.clone(), state });
    }
    let project = project(directory, user.as_deref(), home.as_deref(), &user_layer)?;
    loaded.layers.push(user_layer);
    loaded.layers.extend(project.1);
    loaded.files.push(project.0);
    Ok(loaded)
}

fn project(
    directory: &Path,
    user: Option<&Path>,
    home: Option<&Path>,
    user_layer: &Layer,
) -> Result<(ConfigFile, Option<Layer>), ConfigError> {
    let file = |path: PathBuf, state| ConfigFile { role: "project", path, state };
    let Some((folder, path, is_foreign)) = nearest(directory, user) else {
        return Ok((file(directory.join(folders::settings_name()), FileState::Missing), None));
    };
    let trusting = trust::trusts(user_layer, folder);
    if trusting.is_none() && is_foreign {
        return Ok((file(path, FileState::Ignored), None));
    }
    let layer = read(&path, home)?;
    if let Some(trusted) = layer.values.trusted.first() {
        let reason = "is accepted only in the user's file, because a project cannot trust itself".to_owned();
        return Err(ConfigError::Value { origin: trusted.origin.clone(), key: "trusted".to_owned(), reason });
    }
    let state = match trusting {
        Some(origin) => FileState::Trusted(origin.clone()),
        None => {
            let mut below = built_in()?;
            below.apply(user_layer.clone());
            trust::check(&layer, &below, &how_to_trust(folder, user))?;
            FileState::Untrusted
        }
    };
    Ok((file(path, state), Some(layer)))
}

/// Returns the folder and path of the nearest settings file except the user's own, and whether it belongs to another user. A
/// dangling link is returned too: skipping it would drop its restrictions.
fn nearest<'a>(directory: &'a Path, user: Option<&Path>) -> Option<(&'a Path, PathBuf, bool)> {
    let user = user.and_then(|path| path.canonicalize().ok());
    directory.ancestors().find_map(|folder| {
        let path = folder.join(folders::settings_name());
        let link = path.symlink_metadata().ok()?;
        let file = path.metadata();
        let is_file = file.as_ref().map_or(link.is_symlink(), Metadata::is_file);
        // The owners of a link and of its target both count.
        let is_foreign = belongs_to_other_user(&link) || file.is_ok_and(|file| belongs_to_other_user(&file));
        (is_file && (user.is_none() || path.canonicalize().ok() != user)).then_some((folder, path, is_foreign))
    })
}

fn how_to_trust(folder: &Path, user: Option<&Path>) -> String {
    match user {
        Some(user) => {
            let folder = folder.display().to_string();
            format!("to trust the whole file, write trusted = [{folder:?}] at the top of {}", user.display())
        }
        None => "to trust the whole file, pass it with --config".to_owned(),
    }
}

fn read(path: &Path, home: Option<&Path>) -> Result<Layer, ConfigError> {
    let text = text(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    reader::layer(&Arc::from(path), &text, home)
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is longer than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// Returns true if another user except root owns the file. A directory above the working directory may be shared, like
/// `/tmp`.
#[cfg(unix)]
fn belongs_to_other_user(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = metadata.uid();
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn belongs_to_other_user(_metadata: &Metadata) -> bool {
    false
}
