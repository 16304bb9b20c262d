//! [`Outcome`]: what became of the protected files that a program created, changed or removed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tools::{ProtectedFate, ProtectedFile, visible_line};

use super::carry::Spot;
use super::{Aside, Origin, Record, SHOWN, SetAside, TO_START, in_place, mode_to_start, set_mode};
use crate::disk::{self, entries};
use crate::protected::{Look, Protected, Unlocked};

/// The most bytes that a run copies to another file system. It leaves as many as it takes, because the state of sessions lies there.
const MAX_COPIED: u64 = 256 << 20;

/// The fate of the protected files that a program created, changed or removed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) aside: Vec<SetAside>,
    /// The former files that were put back where a program removed them, or that are lost, and folders that could not be looked at.
    pub(crate) former: Vec<ProtectedFile>,
    /// The paths that could not be moved, or not be put back.
    pub(crate) unfinished: Vec<PathBuf>,
}

impl Outcome {
    /// Creates the outcome of a look at too many entries.
    pub(crate) fn unknown() -> Self {
        let note = "there are too many, or folders too deep or closed to you; remove or open them, and the next session looks again";
        Self {
            former: vec![ProtectedFile::new(".", note, ProtectedFate::Unknown)],
            ..Self::default()
        }
    }

    /// Returns what a person is told about a workspace that is not at its path after a program, nor known to be elsewhere.
    pub(crate) fn gone(root: &Path) -> ProtectedFile {
        let note = "the folder was removed or moved meanwhile; a session looks where it is now";
        let root = visible_line(&root.to_string_lossy(), SHOWN);
        ProtectedFile::new(root, note, ProtectedFate::Unknown)
    }

    /// Returns what a person is told.
    pub(crate) fn into_files(self) -> Vec<ProtectedFile> {
        self.aside
            .iter()
            .map(|file| file.to_protected(false))
            .chain(self.former)
            .collect()
    }
}

impl Aside {
    /// Moves what a program planted, and puts back what it changed or removed. `only` are the paths that count, or none for all.
    pub(crate) fn set_aside(
        &self,
        look: &Look,
        before: &Protected,
        now: &Protected,
        only: &[PathBuf],
        origin: &Origin,
    ) -> Outcome {
        // First, so that nothing changes them from now on.
        separate_linked(look, now.linked_since(before));
        let mut planted = now.planted_since(before, look);
        // What lies behind a new link is not what was there.
        let is_gone =
            |path: &&Path| !Spot::open(&look.root, path, false).is_ok_and(|spot| spot.exists());
        let mut removed: Vec<&Path> = before.guarded().filter(is_gone).collect();
        if !only.is_empty() {
            for paths in [&mut planted, &mut removed] {
                paths.retain(|path| only.iter().any(|only| only == path));
            }
        }
        // Later programs have no other name of what is in a repository, whatever they may write.
        for repository in now.repositories_since(before) {
            separate_all(look, repository);
        }
        let mut outcome = Outcome {
            aside: self.move_all(look, before, &planted, origin),
            ..Outcome::default()
        };
        let stuck = outcome.aside.iter().filter(|file| file.place.is_none());
        outcome.unfinished = stuck.map(|file| file.origin.clone()).collect();
        // The files of a folder that was replaced are among the removed ones.
        let moved = outcome.aside.iter().filter(|file| {
            let found = before.found.get(&file.origin);
            file.place.is_some() && found.is_some_and(|found| !found.is_folder())
        });
        let moved: Vec<(PathBuf, bool)> = moved.map(|file| (file.origin.clone(), false)).collect();
        let removed = removed.into_iter().map(|path| (path.to_owned(), true));
        for (path, is_removed) in moved.into_iter().chain(removed) {
            let found = before.found.get(&path);
            let former = found.and_then(|found| found.former.as_ref());
            let restored = former.map(|former| {
                Spot::open(&look.root, &path, true).and_then(|spot| spot.restore(former))
            });
            let fate = match restored {
                Some(Ok(())) if is_removed => ProtectedFate::Restored,
                Some(Ok(())) => continue,
                Some(Err(_)) | None => ProtectedFate::Lost,
            };
            let file = ProtectedFile::new(look.show(&path), look.note(&path, before), fate);
            outcome.former.push(file);
            if let Some(Err(_)) = restored {
                outcome.unfinished.push(path);
            }
        }
        outcome
    }

    fn move_all(
        &self,
        look: &Look,
        before: &Protected,
        planted: &[&Path],
        origin: &Origin,
    ) -> Vec<SetAside> {
        if planted.is_empty() {
            return Vec::new();
        }
        let folder = self.new_folder(&look.root);
        let folder = folder.and_then(|folder| {
            let written = Record::new(look, before, planted, origin).write(&folder);
            // Without room, the folder would remain with a part of the record.
            written
                .inspect_err(|_| drop(fs::remove_dir_all(&folder)))
                .map(|()| folder)
        });
        let folder = folder.ok();
        let free = disk::free(self.folder()).unwrap_or_default();
        let mut room = MAX_COPIED.min(free / 2);
        // The small ones first, because they say most.
        let mut order: Vec<usize> = (0..planted.len()).collect();
        order.sort_by_key(|number| {
            fs::symlink_metadata(planted[*number]).map_or(0, |metadata| metadata.len())
        });
        // Before the moves, because a note says what is at the path.
        let notes: Vec<String> = planted.iter().map(|path| look.note(path, before)).collect();
        let mut places = vec![None; planted.len()];
        let mut modes = vec![None; planted.len()];
        for number in order {
            let place = folder
                .as_ref()
                .map(|folder| folder.join(number.to_string()));
            separate_all(look, planted[number]);
            let mode = mode_to_start(planted[number]);
            let taken = take(&look.root, planted[number], place, &mut room).ok();
            let is_outside = taken
                .as_ref()
                .is_some_and(|place| !place.starts_with(&look.root));
            modes[number] = mode.filter(|_| is_outside);
            // It must not run by its name there, either.
            if let (Some(mode), Some(place)) = (modes[number], &taken) {
                let _ = set_mode(place, mode & !TO_START);
            }
            places[number] = taken;
        }
        in_place::tidy(&look.root);
        let files = planted.iter().zip(places).zip(notes).zip(modes);
        let files = files.map(|(((path, place), note), mode)| {
            let was_there = before.found.contains_key(*path);
            SetAside::new(&look.root, path, note, place, was_there, mode)
        });
        files.collect()
    }
}

/// Gives files content of their own, which their other names do not have.
pub(crate) fn separate_linked<'a>(look: &Look, paths: impl Iterator<Item = &'a Path>) {
    for path in paths {
        // One of which this fails is not harmless.
        let _ = separate(look, path);
    }
}

/// Gives all files of a folder content of their own, which their other names do not have.
fn separate_all(look: &Look, path: &Path) {
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => waiting.extend(entries(&path)),
            Ok(metadata) if metadata.is_file() && metadata.nlink() > 1 => {
                // The person is shown what it is then.
                let _ = separate(look, &path);
            }
            _ => {}
        }
    }
}

/// Gives a file content of its own, which its other names do not have.
fn separate(look: &Look, path: &Path) -> io::Result<()> {
    // Two names of one file may be among them.
    if fs::symlink_metadata(path)?.nlink() == 1 {
        return Ok(());
    }
    let file = Spot::open(&look.root, path, false)?;
    let _unlocked = file.folder.try_clone().ok().and_then(Unlocked::open);
    let copy = Spot {
        folder: file.folder.try_clone()?,
        name: in_place::name_for(path.strip_prefix(&look.root).unwrap_or(path)),
    };
    file.copy(&copy, &mut MAX_COPIED.clone())?;
    let renamed = copy.rename(&file, true);
    Ok(renamed.inspect_err(|_| drop(copy.remove()))?)
}

/// Moves a path of the workspace to a place outside of it, or, if that has no room, to the folder of the workspace that nothing reads.
/// Returns the place.
fn take(root: &Path, path: &Path, place: Option<PathBuf>, room: &mut u64) -> io::Result<PathBuf> {
    let from = Spot::open(root, path, false)?;
    let outside = place.and_then(|place| Some((Spot::own(&place).ok()?, place)));
    if let Some((to, place)) = &outside
        && from.rename(to, false).is_ok()
    {
        return Ok(place.clone());
    }
    // Before the copy, because nothing takes it for what it was then.
    let (left, inside) = in_place::neutralise(root, path, &from)?;
    match outside {
        Some((to, place)) if left.copy(&to, room).is_ok() => {
            // What cannot be removed is listed where it is.
            let _ = left.remove();
            Ok(place)
        }
        _ => Ok(inside),
    }
}
