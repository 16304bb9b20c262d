//! [`PrivateHome`]: the folder for the temporary files of one program.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tools_store::private;

use crate::aside::Spot;
use crate::disk::entries;

/// The folder that a program has as its home and for temporary files. It is locked while it is in use. A drop removes it.
#[derive(Debug)]
pub(crate) struct PrivateHome {
    /// The folder, without links.
    pub(crate) path: PathBuf,
    _locked: File,
}

impl PrivateHome {
    /// Creates one in a folder, and removes those there whose hosts have died. Blocks.
    pub(crate) fn create(above: &Path) -> io::Result<Self> {
        private::create_folder(above)?;
        // Walls take no path with a link.
        let above = above.canonicalize()?;
        // Another host takes a folder that is not locked yet for a left one.
        let one_at_a_time = lock_folder(&above, FlockOperation::LockExclusive)?;
        let left: Vec<_> = entries(&above).map(Self::lock).collect();
        let home = Self::create_in(&above);
        drop(one_at_a_time);
        drop(left);
        home
    }

    /// Creates one in a folder that others use, too.
    pub(crate) fn create_in(above: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir_in(above.canonicalize()?)?;
        Self::lock(folder.keep())
    }

    /// Takes over a folder that no host uses.
    fn lock(path: PathBuf) -> io::Result<Self> {
        let locked = lock_folder(&path, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            path,
            _locked: locked,
        })
    }
}

impl Drop for PrivateHome {
    fn drop(&mut self) {
        // The next program removes one of which this fails.
        let _ = Spot::own(&self.path).and_then(|spot| spot.remove());
    }
}

fn lock_folder(folder: &Path, lock: FlockOperation) -> io::Result<File> {
    let folder = File::open(folder)?;
    flock(&folder, lock)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    use super::*;

    #[test]
    fn the_home_of_a_dead_host_is_removed_whatever_its_program_made_in_it_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (above, outside) = (folder.path().join("homes"), folder.path().join("outside"));
        let living = PrivateHome::create(&above).unwrap();
        fs::write(living.path.join("file"), "").unwrap();
        let left = above.join("left");
        fs::create_dir_all(left.join("0/0")).unwrap();
        fs::write(left.join("0/file"), "").unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, left.join("link")).unwrap();
        std::os::unix::fs::symlink(&outside, left.join("0/link")).unwrap();
        let mut deep = openat(CWD, &left, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20_000 {
            mkdirat(&deep, "d", Mode::RWXU).unwrap();
            deep = openat(&deep, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let own = PrivateHome::create(&above).unwrap();
        assert!(!left.exists() && own.path.exists());
        assert!(living.path.join("file").exists() && outside.join("file").exists());
        drop((living, own));
        assert_eq!(fs::read_dir(&above).unwrap().count(), 0);
    }

    #[test]
    fn hosts_that_start_at_the_same_time_leave_each_other_their_homes() {
        let folder = tempfile::tempdir().unwrap();
        let create = || {
            for _ in 0..50 {
                let home = PrivateHome::create(folder.path()).unwrap();
                fs::write(home.path.join("file"), "").unwrap();
                assert!(home.path.join("file").exists());
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(create))));
    }
}
