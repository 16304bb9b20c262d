//! [`Aside::with_known`]: what the sessions of programs know as protected.

use std::fs;
use std::path::Path;
use std::time::Duration;

use host::placed::{self, normalise, rebase, relative};
use tools::policy::SensitivePaths;

use super::Aside;
use super::running::{ENDED, FOLDER, Left, overlaps, read, records};
use crate::disk::entries;

/// The time for which the record of an ended program counts. A look at a workspace takes less.
const RECENT: Duration = Duration::from_secs(60);

impl Aside {
    /// Adds what the sessions know as protected whose programs run, or ended while this session may have looked at the workspace. Such a
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
            .filter(|left| !left.program.is_done || is_recent(&left.file));
        known
            .chain(read(recent))
            .fold(table, |table, left| add(table, &left, root))
    }
}

fn is_recent(file: &Path) -> bool {
    let changed = file.metadata().and_then(|data| data.modified());
    // A clock may have been set back.
    changed.is_ok_and(|time| time.elapsed().map_or(true, |age| age < RECENT))
}

/// Adds the paths that the session of a program knows to those of a root.
fn add(table: SensitivePaths, left: &Left, root: &Path) -> SensitivePaths {
    let places = placed::find(root, &left.folders.keys().copied().collect());
    // A folder may have been moved with another one around it.
    let now = |path: &Path| {
        let moved = places.iter().filter_map(|(id, place)| {
            let from = &left.folders[id];
            Some((from, rebase(path, from, place)?))
        });
        let nearest = moved.max_by_key(|(from, _)| from.components().count());
        nearest.map_or_else(|| path.to_owned(), |(_, place)| place)
    };
    let (was, known) = (left.program.root.as_path(), &left.program.paths);
    let of = now(was);
    let is_near = overlaps(&of, root);
    let inner = root.strip_prefix(&of).map(Path::to_string_lossy);
    let is_in_settings = inner.is_ok_and(|inner| {
        let whole = SensitivePaths::default().with_paths(known.iter().cloned());
        whole.below(&inner).is_in_settings_folder()
    });
    // A link in the home can lead to any root, and names in any folder are those of the repository.
    let known = known.iter().filter_map(|path| {
        let mut path = path.clone();
        let mut is_meant = is_near;
        if let Some(below) = path.pattern.strip_prefix('/') {
            let place = relative(root, &now(&normalise(&was.join(below))));
            is_meant |= !place.starts_with("..");
            path.pattern = format!("/{}", place.display());
        }
        is_meant.then_some(path)
    });
    let known: Vec<_> = known.filter(|path| !table.paths().contains(path)).collect();
    let table = table.with_paths(known);
    if is_in_settings {
        table.in_settings_folder()
    } else {
        table
    }
}
