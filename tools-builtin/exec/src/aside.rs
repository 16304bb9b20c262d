//! [`Aside`]: the folder for what programs planted.

mod carry;
mod in_place;
mod known;
mod outcome;
mod question;
mod running;
mod settled;

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, process};

use host::placed::rebase;
use serde::{Deserialize, Serialize};
use tools::protocol::Digest;
use tools::visible_line;
use tools_store::private;

pub(crate) use self::carry::Spot;
pub(crate) use self::outcome::{Outcome, separate_linked};
pub(crate) use self::running::RunningRecord;
pub(crate) use self::settled::Settled;
use crate::disk::entries;
use crate::protected::{Bytes, Look, Protected};

/// The name of the record in a folder of a run.
const RECORD: &str = "record.json";

/// The permissions to start a file.
const TO_START: u32 = 0o111;

/// The characters of a path or a command that are shown.
const SHOWN: usize = 200;

/// The folder for what programs planted: protected files that a program created or changed, moved out of the workspace until a person
/// puts them back. No tool may reach it.
///
/// Each run that planted something has a folder, with the files under numbers and a record of the places where they were. What does not fit
/// there is renamed in the workspace, into a folder that nothing reads.
#[derive(Clone, Debug)]
pub struct Aside(PathBuf);

/// A protected file that a program created or changed, and that lies aside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The path below the root, as visible text.
    pub path: String,
    /// The path at which it was.
    pub origin: PathBuf,
    /// A phrase that describes the file and the program that runs it.
    pub note: String,
    /// The place of the file now. `None` if it could not be moved, and is where it was.
    pub place: Option<PathBuf>,
    /// True if the path had another content before.
    pub was_there: bool,
    /// The permissions of a file that could be started. It has none to start it where it lies.
    pub mode: Option<u32>,
}

/// The record of a run that planted something.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    root: Bytes,
    /// Seconds since 1970.
    time: u64,
    program: String,
    session: Option<String>,
    files: Vec<RecordedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RecordedFile {
    /// The number under which it lies beside the record.
    number: usize,
    /// The path below the root.
    path: Bytes,
    note: String,
    was_there: bool,
    #[serde(default)]
    mode: Option<u32>,
}

/// The program that ran, for the record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) program: String,
    pub(crate) session: Option<String>,
}

impl Aside {
    /// Uses this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns what lies aside from a workspace, oldest first.
    pub fn list(&self, root: &Path) -> Vec<SetAside> {
        let mut folders: Vec<_> = entries(&self.of(root)).collect();
        folders.sort();
        let mut all = Vec::new();
        for folder in folders {
            let record = fs::read(folder.join(RECORD)).ok();
            let Some(record) = record.and_then(|text| serde_json::from_slice::<Record>(&text).ok())
            else {
                continue;
            };
            for file in record.files {
                let place = folder.join(file.number.to_string());
                if fs::symlink_metadata(&place).is_ok() {
                    let origin = root.join(file.path.as_path());
                    all.push(SetAside::new(
                        root,
                        &origin,
                        file.note,
                        Some(place),
                        file.was_there,
                        file.mode,
                    ));
                }
            }
        }
        all.extend(in_place::list(root));
        all
    }

    /// Returns the folder of a workspace.
    fn of(&self, root: &Path) -> PathBuf {
        let name = Digest::hash_bytes(root.as_os_str().as_encoded_bytes()).to_string();
        let name = name.chars().filter(char::is_ascii_alphanumeric);
        let name: String = name.take(24).collect();
        self.0.join(name)
    }

    fn new_folder(&self, root: &Path) -> io::Result<PathBuf> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = self
            .of(root)
            .join(format!("{}-{}-{count}", now(), process::id()));
        private::create_folder(&folder).map(|()| folder)
    }
}

impl Record {
    fn new(look: &Look, before: &Protected, planted: &[&Path], origin: &Origin) -> Self {
        let files = planted
            .iter()
            .enumerate()
            .map(|(number, path)| RecordedFile {
                number,
                path: Bytes::from_path(path.strip_prefix(&look.root).unwrap_or(path)),
                note: look.note(path, before),
                was_there: before.found.contains_key(*path),
                mode: mode_to_start(path),
            });
        let Origin { program, session } = origin.clone();
        Self {
            root: Bytes::from_path(&look.root),
            time: now(),
            program,
            session,
            files: files.collect(),
        }
    }

    /// Writes the record, before anything is moved: a host that dies in between leaves nothing that no record names.
    fn write(&self, folder: &Path) -> io::Result<()> {
        private::create_file(&folder.join(RECORD))?.write_all(&serde_json::to_vec_pretty(self)?)
    }
}

impl SetAside {
    fn new(
        root: &Path,
        origin: &Path,
        note: String,
        place: Option<PathBuf>,
        was_there: bool,
        mode: Option<u32>,
    ) -> Self {
        let below = origin.strip_prefix(root).unwrap_or(origin);
        Self {
            root: root.to_owned(),
            path: visible_line(&below.to_string_lossy(), SHOWN),
            origin: origin.to_owned(),
            note,
            place,
            was_there,
            mode,
        }
    }

    /// Puts the file back where it was. Replaces only a file or a link of which it is the later content.
    ///
    /// # Errors
    /// Returns an error if something else is there now, or if it cannot be moved.
    pub fn put_back(&self) -> io::Result<()> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        // A person may have moved the workspace, and left a link to it.
        let root = self.root.canonicalize()?;
        let below = |path: &Path| rebase(path, &self.root, &root).unwrap_or_default();
        let to = Spot::open(&root, &below(&self.origin), true)?;
        let is_in_place = place.starts_with(&self.root);
        let from = if is_in_place {
            Spot::open(&root, &below(place), false)
        } else {
            Spot::own(place)
        };
        let set_mode = |mode| set_mode(place, mode);
        // Where it lies, no program replaces it by a link.
        self.mode.map_or(Ok(()), set_mode)?;
        from?.carry(&to, self.was_there).inspect_err(|_| {
            let _ = self.mode.map(|mode| set_mode(mode & !TO_START));
        })?;
        if is_in_place {
            in_place::tidy(&self.root);
            return Ok(());
        }
        // An empty folder needs no record.
        if let Some(folder) = place
            .parent()
            .filter(|folder| entries(folder).all(|path| path.ends_with(RECORD)))
        {
            let _ = fs::remove_dir_all(folder);
        }
        Ok(())
    }
}

/// Returns the permissions of a file that can be started. Returns `None` for another one.
fn mode_to_start(path: &Path) -> Option<u32> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let mode = metadata.permissions().mode() & 0o7777;
    (metadata.is_file() && mode & TO_START != 0).then_some(mode)
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}
