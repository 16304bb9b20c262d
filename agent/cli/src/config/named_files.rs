//! [`NamedFiles`]: the files and folders that settings name, which decide about sessions as the settings do.

use std::path::{Path, PathBuf};

use agent::KeySource;

use super::keys::Values;

/// The files and folders that layers of settings name, also where another layer has the last word. Profiles name none.
///
/// They are protected in every session, because the next one may use them.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedFiles {
    /// Key files of providers, and root certificates: each write asks.
    control: Vec<PathBuf>,
    /// Files of secrets and of channels: no tool reaches them.
    secret: Vec<PathBuf>,
    /// Folders of skills.
    #[cfg_attr(not(feature = "skill"), allow(dead_code, reason = "nothing else looks into them"))]
    skills: Vec<PathBuf>,
}

impl NamedFiles {
    /// Adds the files of these values.
    pub(super) fn add(&mut self, values: &Values) {
        let file = |place: &KeySource| match place {
            KeySource::File(path) => Some(path.clone()),
            _ => None,
        };
        let control = [&values.key_file, &values.network.ca_file];
        self.control.extend(control.into_iter().flatten().map(|file| file.value.clone()));
        let of_backends = [&values.network.search_key_file, &values.speech.key_file];
        self.secret.extend(of_backends.into_iter().flatten().map(|file| file.value.clone()));
        self.secret.extend(values.secrets.iter().filter_map(|secret| file(&secret.value.source)));
        for channel in &values.channels {
            self.secret.extend(channel.value.secrets.values().filter_map(file));
            self.secret.extend(channel.value.files.iter().map(|file| file.to_path_buf()));
        }
        self.skills.extend(values.skill_folders.iter().map(|folder| folder.value.clone()));
    }

    pub(super) fn control(&self) -> impl Iterator<Item = &Path> {
        self.control.iter().map(PathBuf::as_path)
    }

    pub(super) fn secret(&self) -> impl Iterator<Item = &Path> {
        self.secret.iter().map(PathBuf::as_path)
    }

    #[cfg(feature = "skill")]
    pub(super) fn skills(&self) -> &[PathBuf] {
        &self.skills
    }
}
