//! Removal of drafts that killed processes left behind.

use std::io;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tools_workspace::Workspace;

use crate::draft_name::is_draft;

/// The maximum number of entries searched in a directory.
const MAX_ENTRIES: usize = 10_000;

/// The minimum age of an abandoned draft. Locks alone are not reliable on every file system, such as network file systems, and
/// writing a draft takes seconds.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Locks a draft while its file is open. The lock ends with the process.
///
/// Returns false if another process has already taken the new draft for abandoned.
pub(crate) fn lock(file: &File, dir: &Dir, name: &str) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => is_named(file, dir, name),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // Without locks, no process can remove it as abandoned either.
        Err(_) => Ok(true),
    }
}

/// Removes the abandoned drafts in a directory: regular files with the name of a draft, last changed at least an hour ago, that no
/// process locks.
///
/// Searches each directory once per workspace. Ignores errors.
pub(crate) fn remove_abandoned(workspace: &Workspace, dir: &Dir) {
    let Ok(metadata) = dir.dir_metadata() else {
        return;
    };
    if !workspace.is_first_visit((metadata.dev(), metadata.ino())) {
        return;
    }
    let entries = dir.entries().into_iter().flatten().take(MAX_ENTRIES);
    for entry in entries.flatten() {
        if let Some(name) = entry.file_name().to_str().filter(|name| is_draft(name)) {
            let _ = remove_one(dir, name);
        }
    }
}

fn remove_one(dir: &Dir, name: &str) -> io::Result<()> {
    let metadata = dir.symlink_metadata(name)?;
    // Checks the age before the lock, so that new drafts are not touched. Ignores times in the future.
    let age = SystemTime::now().duration_since(metadata.modified()?.into_std());
    if !metadata.is_file() || !age.is_ok_and(|age| age >= MIN_AGE) {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = dir.open_with(name, &options)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    // Locked from here on. If its writer had not locked it yet, it will find that the name is gone.
    if file.metadata()?.is_file() && is_named(&file, dir, name)? {
        dir.remove_file(name)?;
    }
    Ok(())
}

/// Returns true if the entry `name` is the open file.
fn is_named(file: &File, dir: &Dir, name: &str) -> io::Result<bool> {
    let own = file.metadata()?;
    match dir.symlink_metadata(name) {
        Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;

    use super::*;
    use crate::fixture::Fixture;

    const DRAFT: &str = ".toolcrib-0123456789abcdef.tmp";

    fn age(fixture: &Fixture, path: &str, age: Duration) {
        let file = fs::File::open(fixture.root().join(path)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    fn visited(fixture: &Fixture) -> Vec<String> {
        let workspace = Workspace::open(fixture.root()).unwrap();
        remove_abandoned(&workspace, workspace.dir());
        fixture.names(".")
    }

    #[test]
    fn an_old_unlocked_draft_is_removed() {
        let fixture = Fixture::new();
        fixture.write(DRAFT, "half");
        assert_eq!(visited(&fixture), [DRAFT]);
        age(&fixture, DRAFT, 2 * MIN_AGE);
        assert_eq!(visited(&fixture), Vec::<String>::new());
    }

    #[test]
    fn entries_that_only_resemble_a_draft_stay() {
        let fixture = Fixture::new();
        let names = [
            ".toolcrib-0123456789abcde.tmp",
            ".toolcrib-0123456789abcdeg.tmp",
            ".toolcrib-0123456789ABCDEF.tmp",
            ".toolcrib-0123456789abcdef.tmp.txt",
            "toolcrib-0123456789abcdef.tmp",
        ];
        for name in names {
            fixture.write(name, "theirs");
            age(&fixture, name, 2 * MIN_AGE);
        }
        fixture.write(".toolcrib-0123456789abcdef.tmp/file", "theirs");
        age(&fixture, DRAFT, 2 * MIN_AGE);
        assert_eq!(visited(&fixture).len(), names.len() + 1);
        assert_eq!(
            fixture.read(".toolcrib-0123456789abcdef.tmp/file"),
            "theirs"
        );
    }

    #[test]
    fn a_draft_that_is_held_stays_however_old_it_is() {
        let fixture = Fixture::new();
        fixture.write(DRAFT, "half");
        age(&fixture, DRAFT, 2 * MIN_AGE);
        let dir = Dir::open_ambient_dir(fixture.root(), ambient_authority()).unwrap();
        let file = dir.open(DRAFT).unwrap();
        assert!(lock(&file, &dir, DRAFT).unwrap());
        assert_eq!(visited(&fixture), [DRAFT]);
        drop(file);
        assert_eq!(visited(&fixture), Vec::<String>::new());
    }

    #[test]
    fn a_draft_that_was_taken_away_before_it_was_held_is_noticed() {
        let fixture = Fixture::new();
        fixture.write(DRAFT, "");
        let dir = Dir::open_ambient_dir(fixture.root(), ambient_authority()).unwrap();
        let (file, other) = (dir.open(DRAFT).unwrap(), dir.open(DRAFT).unwrap());
        assert!(lock(&other, &dir, DRAFT).unwrap());
        assert!(
            !lock(&file, &dir, DRAFT).unwrap(),
            "while another process removes it"
        );
        drop(other);
        fs::remove_file(fixture.root().join(DRAFT)).unwrap();
        assert!(!lock(&file, &dir, DRAFT).unwrap(), "after it was removed");
        fixture.write(DRAFT, "another");
        assert!(
            !lock(&file, &dir, DRAFT).unwrap(),
            "when the name belongs to another file"
        );
    }

    #[test]
    fn a_directory_is_looked_through_once() {
        let fixture = Fixture::new();
        let workspace = Workspace::open(fixture.root()).unwrap();
        for expected in [0, 1] {
            fixture.write(DRAFT, "");
            age(&fixture, DRAFT, 2 * MIN_AGE);
            remove_abandoned(&workspace, workspace.dir());
            assert_eq!(fixture.names(".").len(), expected);
        }
    }
}
