//! Finds, reads and trusts the settings files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tools::policy::Rule;

use super::error::SettingsError;
use super::origin::{Origin, Setting};
use super::project_file::{self, ProjectFile};
use super::reader;
use super::reader::Layer;
use crate::trust::{Content, Unapproved};
use crate::{folders, program};

/// A settings file, existing or not.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// The role: `user`, `project`, or `named` for `--config`.
    pub role: &'static str,
    /// The path, even if the file does not exist.
    pub path: PathBuf,
    /// The use of the file.
    pub state: FileState,
    /// The content of a project's file that is read, unless a person has approved it.
    pub unapproved: Option<Unapproved>,
}

/// The use of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is no file.
    Missing,
    /// All its settings apply.
    Used,
    /// All its settings apply, because this entry of the user's file trusts its directory, and a person has approved the content.
    Trusted(Origin),
    /// The file may only narrow until a person approves the content. This entry of the user's file trusts its directory.
    Unapproved(Origin),
    /// The file may only narrow, and choose tools and a profile if neither the user's file nor the program does.
    Untrusted,
    /// The file belongs to another user and is not read.
    Ignored,
}

/// The settings of the files.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The layers in ascending precedence.
    pub layers: Vec<Layer>,
    /// The searched files, existing or not.
    pub files: Vec<SettingsFile>,
}

/// Returns the program's own default settings.
pub fn built_in() -> Result<Layer, SettingsError> {
    reader::layer(
        &Arc::from(Path::new("built-in")),
        program::default_settings(),
        folders::home().as_deref(),
    )
}

/// Loads the file of `--config`.
pub fn load_named(path: &Path) -> Result<Loaded, SettingsError> {
    // Origins are shown and recorded, so they must not hang on the working directory.
    let path = std::path::absolute(path).map_err(SettingsError::read(path))?;
    let layer = read(&path, folders::home().as_deref())?;
    Ok(Loaded {
        layers: vec![layer],
        files: vec![SettingsFile::new("named", path, FileState::Used)],
    })
}

/// Loads the rules of the file of `--policy`.
pub fn rules(path: &Path) -> Result<Vec<Setting<Rule>>, SettingsError> {
    let read = std::path::absolute(path).and_then(|path| Ok((project_file::text(&path)?, path)));
    let (text, absolute) = read.map_err(|source| SettingsError::Policy {
        path: path.to_owned(),
        source,
    })?;
    reader::rules(&Arc::from(absolute), &text)
}

/// Loads the user's file, and those of the project for this directory. Tells about contents that nobody has approved,
/// also if they lead to an error.
pub fn load_default(directory: &Path, tell: impl Fn(&Unapproved)) -> Result<Loaded, SettingsError> {
    let (mut loaded, user_layer) = load_user()?;
    let home = folders::home();
    let user = folders::settings();
    let found = project_file::find(directory, user.as_deref(), home.as_deref(), &user_layer)?;
    // A project overrides no setting of the program either.
    let mut below = built_in()?;
    below.apply(user_layer.clone());
    loaded.layers.push(user_layer);
    if found.is_empty() {
        let path = directory.join(folders::settings_name());
        loaded
            .files
            .push(SettingsFile::new("project", path, FileState::Missing));
    }
    let first = loaded.files.len();
    // From the outermost one, because each may only narrow those around it.
    for file in found.into_iter().rev() {
        let file = match file {
            ProjectFile::Ignored(path) => SettingsFile::new("project", path, FileState::Ignored),
            ProjectFile::Read(found) => {
                let state = match (&found.trusting, &found.unapproved) {
                    (None, _) => FileState::Untrusted,
                    (Some(origin), None) => FileState::Trusted(origin.clone()),
                    (Some(origin), Some(unapproved)) => {
                        tell(unapproved);
                        FileState::Unapproved(origin.clone())
                    }
                };
                found.check(&below, user.as_deref())?;
                below.apply(found.layer.clone());
                loaded.layers.push(found.layer);
                SettingsFile {
                    unapproved: found.unapproved,
                    ..SettingsFile::new("project", found.path, state)
                }
            }
        };
        // The nearest file is shown first.
        loaded.files.insert(first, file);
    }
    Ok(loaded)
}

/// Returns the contents of the project's settings files for this directory, the nearest first, and whether the user's file trusts the
/// directory of each.
pub fn project_contents(directory: &Path) -> Result<Vec<(Content, bool)>, SettingsError> {
    let home = folders::home();
    let user = folders::settings();
    let found = project_file::find(directory, user.as_deref(), home.as_deref(), &load_user()?.1)?;
    let read = found.into_iter().filter_map(|file| match file {
        ProjectFile::Read(found) => Some((found.content, found.trusting.is_some())),
        ProjectFile::Ignored(_) => None,
    });
    Ok(read.collect())
}

/// Returns the settings of the user's file, and those of all contents of projects that a person has approved. The files that they name are
/// protected in every session, also in one with --no-config. Returns the first mistake of the user's file, too: what cannot be read of
/// it is left out.
pub fn load_unapplied() -> (Vec<Layer>, Option<SettingsError>) {
    let home = folders::home();
    let (user, mistake) = match folders::settings() {
        Some(path) => match project_file::text(&path) {
            Ok(text) => reader::readable(&Arc::from(&*path), &text, home.as_deref()),
            Err(source) if source.kind() == io::ErrorKind::NotFound => (Layer::default(), None),
            Err(source) => (Layer::default(), Some(SettingsError::Read { path, source })),
        },
        None => (Layer::default(), None),
    };
    let of_projects = project_file::load_approved(home.as_deref());
    (of_projects.into_iter().chain([user]).collect(), mistake)
}

/// Loads the user's file.
fn load_user() -> Result<(Loaded, Layer), SettingsError> {
    let mut loaded = Loaded::default();
    let Some(path) = folders::settings() else {
        return Ok((loaded, Layer::default()));
    };
    // A file that cannot be looked at is an error: without it, its limits would silently not apply.
    let exists = path.try_exists().map_err(SettingsError::read(&path))?;
    let (layer, state) = if exists {
        (read(&path, folders::home().as_deref())?, FileState::Used)
    } else {
        (Layer::default(), FileState::Missing)
    };
    loaded.files.push(SettingsFile::new("user", path, state));
    Ok((loaded, layer))
}

impl SettingsFile {
    fn new(role: &'static str, path: PathBuf, state: FileState) -> Self {
        Self {
            role,
            path,
            state,
            unapproved: None,
        }
    }
}

fn read(path: &Path, home: Option<&Path>) -> Result<Layer, SettingsError> {
    let text = project_file::text(path).map_err(SettingsError::read(path))?;
    reader::layer(&Arc::from(path), &text, home)
}
