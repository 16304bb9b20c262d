//! [`Aside::with_known`]: what the sessions of programs know as protected.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tools::policy::{SensitivePath, SensitivePaths};
use tools::protocol::Digest;

use super::Aside;
use super::running::{FOLDER, Left, overlaps, read, records};
use crate::disk::entries;

/// The end of the name of the last record of a root.
const ENDED: &str = "ended";

/// The time for which the record of an ended program counts. A look at a workspace takes less.
const RECENT: Duration = Duration::from_secs(60);

impl Aside {
    /// Adds what the sessions know as protected whose programs run in this workspace, or ended while a session may have looked at it. Such a
    /// program can hide the links and settings that name these paths. Call it after that look. Blocks.
    pub(crate) fn with_known(&self, root: &Path, table: SensitivePaths) -> SensitivePaths {
        let folder = self.folder().join(FOLDER);
        // First, because a program can end meanwhile.
        let running = records(&folder);
        let (recent, old): (Vec<_>, Vec<_>) = entries(&folder)
            .filter(|file| file.extension().is_some_and(|is| is == ENDED))
            .partition(|file| is_recent(file));
        for file in old {
            let _ = fs::remove_file(file);
        }
        let known = running
            .into_iter()
            .filter(|left| left.is_alive || !left.program.is_done || is_recent(&left.file));
        known
            .chain(read(recent))
            .fold(table, |table, Left { program, .. }| {
                add(table, program.root.as_path(), program.paths, root)
            })
    }
}

/// Keeps the record of an ended program as the last one of its root.
pub(super) fn keep(left: &Left) {
    let root = left.program.root.as_path().as_os_str();
    let root = Digest::hash_bytes(root.as_encoded_bytes());
    let kept = left.file.with_file_name(format!("{root}.{ENDED}"));
    if fs::rename(&left.file, kept).is_err() {
        let _ = fs::remove_file(&left.file);
    }
}

fn is_recent(file: &Path) -> bool {
    let changed = file.metadata().and_then(|data| data.modified());
    // A clock may have been set back.
    changed.is_ok_and(|time| time.elapsed().map_or(true, |age| age < RECENT))
}

/// Adds the paths that are known below the root of a program to those of another root.
fn add(table: SensitivePaths, of: &Path, known: Vec<SensitivePath>, root: &Path) -> SensitivePaths {
    if !overlaps(of, root) {
        return table;
    }
    let inner = root.strip_prefix(of).map(Path::to_string_lossy);
    let is_in_settings = inner.is_ok_and(|inner| {
        let whole = SensitivePaths::default().with_paths(known.clone());
        whole.below(&inner).is_in_settings_folder()
    });
    let known = known.into_iter().filter_map(|mut path| {
        if path.pattern.starts_with('/') {
            let whole = format!("{}{}", of.display(), path.pattern);
            let below = Path::new(&whole).strip_prefix(root).ok()?;
            path.pattern = format!("/{}", below.display());
        }
        Some(path)
    });
    let known: Vec<_> = known.filter(|path| !table.paths().contains(path)).collect();
    let table = table.with_paths(known);
    if is_in_settings {
        table.in_settings_folder()
    } else {
        table
    }
}
