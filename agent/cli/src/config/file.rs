//! The files: where they are looked for, and whose word counts.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tools::policy::Rule;

use super::error::ConfigError;
use super::layer::Layer;
use super::origin::{Origin, Setting};
use super::{reader, trust};
use crate::folders;

const NAME: &str = folders::SETTINGS;

/// No settings are longer, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A file that was looked for.
#[derive(Debug)]
pub(crate) struct Looked {
    /// Whose it is: `user`, `project`, or `named` with `--config`.
    pub(crate) role: &'static str,
    /// Where it is, or would be.
    pub(crate) path: PathBuf,
    pub(crate) state: State,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Missing,
    /// All that it says counts.
    Used,
    /// All that it says counts, because this place trusts its directory.
    Trusted(Origin),
    /// It may only narrow, and pick tools and a profile where the user's file does not.
    Untrusted,
    /// It belongs to somebody else.
    PassedOver,
}

/// What the files say, the lowest first, and which ones were looked for.
#[derive(Default)]
pub(super) struct Said {
    pub(super) layers: Vec<Layer>,
    pub(super) files: Vec<Looked>,
}

/// The one file that was named.
pub(super) fn named(path: &Path) -> Result<Said, ConfigError> {
    let path = std::path::absolute(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let layer = read(&path, home().as_deref())?;
    Ok(Said { layers: vec![layer], files: vec![Looked { role: "named", path, state: State::Used }] })
}

/// The rules of the file that `--policy` names.
pub(crate) fn rules(path: &Path) -> Result<Vec<Setting<Rule>>, ConfigError> {
    let refused = |source| ConfigError::Policy { path: path.to_owned(), source };
    let path = std::path::absolute(path).map_err(refused)?;
    reader::rules(&Arc::from(&*path), &text(&path).map_err(refused)?)
}

/// The user's file, and the nearest one in a directory or above it.
pub(super) fn found(directory: &Path) -> Result<Said, ConfigError> {
    let mut said = Said::default();
    let home = home();
    let user = folders::settings();
    let mut user_layer = Layer::default();
    if let Some(path) = &user {
        let mut state = State::Missing;
        if path.try_exists().map_err(|source| ConfigError::Read { path: path.clone(), source })? {
            user_layer = read(path, home.as_deref())?;
            state = State::Used;
        }
        said.files.push(Looked { role: "user", path: path.clone(), state });
    }
    let project = project(directory, user.as_deref(), home.as_deref(), &user_layer)?;
    said.layers.push(user_layer);
    said.layers.extend(project.1);
    said.files.push(project.0);
    Ok(said)
}

fn project(
    directory: &Path,
    user: Option<&Path>,
    home: Option<&Path>,
    user_layer: &Layer,
) -> Result<(Looked, Option<Layer>), ConfigError> {
    let looked = |path: PathBuf, state| Looked { role: "project", path, state };
    let Some((folder, path, is_foreign)) = nearest(directory, user) else {
        return Ok((looked(directory.join(NAME), State::Missing), None));
    };
    let trusting = trust::trusts(user_layer, folder);
    if trusting.is_none() && is_foreign {
        return Ok((looked(path, State::PassedOver), None));
    }
    let layer = read(&path, home)?;
    if let Some(trusted) = layer.trusted.first() {
        let reason = "counts only in the user's file: a project does not trust itself".to_owned();
        return Err(ConfigError::Value { origin: trusted.origin.clone(), key: "trusted".to_owned(), reason });
    }
    let state = match trusting {
        Some(origin) => State::Trusted(origin.clone()),
        None => {
            trust::check(&layer, user_layer, &how_to_trust(folder, user))?;
            State::Untrusted
        }
    };
    Ok((looked(path, state), Some(layer)))
}

/// The nearest file of that name, the user's own left out, and whether it is somebody else's. A link that leads nowhere is one
/// that cannot be read: passed over, it would narrow nothing.
fn nearest<'a>(directory: &'a Path, user: Option<&Path>) -> Option<(&'a Path, PathBuf, bool)> {
    let user = user.and_then(|path| path.canonicalize().ok());
    directory.ancestors().find_map(|folder| {
        let path = folder.join(NAME);
        let link = path.symlink_metadata().ok()?;
        let file = path.metadata();
        let is_file = file.as_ref().map_or(link.is_symlink(), Metadata::is_file);
        // A link counts as well as what it leads to.
        let is_foreign = is_of_somebody_else(&link) || file.is_ok_and(|file| is_of_somebody_else(&file));
        (is_file && (user.is_none() || path.canonicalize().ok() != user)).then_some((folder, path, is_foreign))
    })
}

fn how_to_trust(folder: &Path, user: Option<&Path>) -> String {
    match user {
        Some(user) => {
            let folder = folder.display().to_string();
            format!("to trust all of it, write trusted = [{folder:?}] at the top of {}", user.display())
        }
        None => "to trust all of it, name the file with --config".to_owned(),
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

/// A file above the working directory may be anybody's, as in `/tmp`.
#[cfg(unix)]
fn is_of_somebody_else(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = metadata.uid();
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_of_somebody_else(_metadata: &Metadata) -> bool {
    false
}
