//! The settings files of a project: the nearest one in the working directory or above it, and those that one may not hide.
//!
//! All settings of a file apply if the user's file trusts its directory and a person has approved its content. Another file may only
//! narrow, so it does not hide the files above it either.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::access::AccessKeys;
use super::error::SettingsError;
use super::origin::Origin;
use super::reader::Layer;
use super::{reader, trust};
use crate::trust::{Content, Records, Unapproved};
use crate::{folders, program};

/// The maximum size of a settings file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The kind of its content.
const SETTINGS: &str = "settings";

/// A settings file of a project.
pub(super) enum ProjectFile {
    /// The file belongs to another user and is not read.
    Ignored(PathBuf),
    Read(Box<Found>),
}

/// A settings file of a project that was read.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) layer: Layer,
    pub(super) content: Content,
    /// The entry of the user's file that trusts the directory.
    pub(super) trusting: Option<Origin>,
    /// The content, unless a person has approved it.
    pub(super) unapproved: Option<Unapproved>,
}

impl Found {
    /// Returns the entry of the user's file by which all settings apply.
    pub(super) fn trusted_by(&self) -> Option<&Origin> {
        self.trusting.as_ref().filter(|_| self.unapproved.is_none())
    }

    /// Returns an error for the first setting that only an approved file may have. `below` has the layers below.
    pub(super) fn check(&self, below: &Layer, user: Option<&Path>) -> Result<(), SettingsError> {
        match self.trusted_by() {
            Some(_) => Ok(()),
            None => trust::check(&self.layer, below, &self.how_to_trust(user)),
        }
    }

    fn how_to_trust(&self, user: Option<&Path>) -> String {
        let folder = self.path.parent().unwrap_or(&self.path);
        let folder = folder.display().to_string();
        match (&self.trusting, user) {
            (Some(_), _) => format!(
                "{} trust shows what the file grants, and approves its content",
                program::name()
            ),
            (None, Some(user)) => format!(
                "to trust the whole file, write trusted = [{folder:?}] at the top of {}, and approve its content with {} trust",
                user.display(),
                program::name()
            ),
            (None, None) => "to trust the whole file, pass it with --config".to_owned(),
        }
    }
}

/// Returns the settings files of the project, the nearest first. The first one whose settings all apply is the last.
pub(super) fn find(
    directory: &Path,
    user: Option<&Path>,
    home: Option<&Path>,
    user_layer: &Layer,
) -> Result<Vec<ProjectFile>, SettingsError> {
    let records = Records::own();
    let mut files = Vec::new();
    for (folder, path, is_foreign) in candidates(directory, user) {
        let trusting = trust::trusts(user_layer, folder).cloned();
        // In a shared folder such as /tmp, anyone could put a file above the work of others.
        if trusting.is_none() && is_foreign {
            files.push(ProjectFile::Ignored(path));
            continue;
        }
        let found = read(path, trusting, home, records.as_ref())?;
        // A file that may only narrow must not switch off those above it.
        let is_last = found.trusted_by().is_some();
        files.push(ProjectFile::Read(Box::new(found)));
        if is_last {
            break;
        }
    }
    Ok(files)
}

/// Returns the layers of all contents that a person has approved. Such a file may be absent for a moment, such as in another branch or under
/// another name of its folder, and so may the entry of the user's file that trusts it.
pub(super) fn load_approved(home: Option<&Path>) -> Vec<Layer> {
    let Some(records) = Records::own() else {
        return Vec::new();
    };
    records
        .approved_texts(SETTINGS)
        .into_iter()
        .filter_map(|(path, kept)| {
            let text = kept.or_else(|| text(&path).ok())?;
            Some(reader::readable(&Arc::from(path), &text, home).0)
        })
        .collect()
}

fn read(
    path: PathBuf,
    trusting: Option<Origin>,
    home: Option<&Path>,
    records: Option<&Records>,
) -> Result<Found, SettingsError> {
    let text = text(&path).map_err(SettingsError::read(&path))?;
    let layer = reader::layer(&Arc::from(&*path), &text, home)?;
    if let Some(trusted) = layer.values.of::<AccessKeys>().trusted.first() {
        let reason = "is accepted only in the user's file, because a project cannot trust itself";
        return Err(SettingsError::value(&trusted.origin, "trusted", reason));
    }
    if let Some(always) = layer.values.of::<AccessKeys>().always.first() {
        let reason =
            "is accepted only in the user's file, because only you say what needs no question";
        return Err(SettingsError::value(&always.origin, "always", reason));
    }
    let mut effects = vec![match &trusting {
        Some(origin) => format!(
            "once you approve it, all of its settings apply, because of trusted at {origin}:"
        ),
        None => {
            "its folder is not among trusted in your file, so it may only narrow; its settings are:"
                .to_owned()
        }
    }];
    effects.extend(trust::effects(&layer));
    let mut content = Content::new(SETTINGS, &path, text.as_bytes());
    content.effects = effects;
    let unapproved = Records::judge(records, content.clone());
    Ok(Found {
        path,
        layer,
        content,
        trusting,
        unapproved,
    })
}

/// Returns the folders and paths of the settings files except the user's own, the nearest first, and whether each belongs to another user.
/// Dangling links are among them: skipping one would drop its restrictions.
fn candidates<'a>(
    directory: &'a Path,
    user: Option<&Path>,
) -> impl Iterator<Item = (&'a Path, PathBuf, bool)> {
    let user = user.and_then(|path| path.canonicalize().ok());
    directory.ancestors().filter_map(move |folder| {
        let path = folder.join(folders::settings_name());
        // A link that leads nowhere is an error later, and not passed over: its settings may narrow.
        let link = path.symlink_metadata().ok()?;
        let file = path.metadata();
        let is_file = file.as_ref().map_or(link.is_symlink(), Metadata::is_file);
        // The owners of a link and of its target both count.
        let is_foreign =
            belongs_to_other_user(&link) || file.is_ok_and(|file| belongs_to_other_user(&file));
        // Below the folder of the user's own file, that file is not one of a project.
        (is_file && (user.is_none() || path.canonicalize().ok() != user))
            .then_some((folder, path, is_foreign))
    })
}

/// Reads a settings file.
pub(super) fn text(path: &Path) -> io::Result<String> {
    tools_text::read_input(File::open(path)?, MAX_BYTES)
}

/// Returns true if another user except root owns the file. A directory above the working directory may be shared, like
/// `/tmp`.
fn belongs_to_other_user(metadata: &Metadata) -> bool {
    let owner = metadata.uid();
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}
