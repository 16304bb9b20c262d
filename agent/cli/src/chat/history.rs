//! Where a chat's history is kept: a file of the user's state, which nobody else can read.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::folders;

/// So many entries are kept, the newest ones.
pub(super) const MAX_ENTRIES: usize = 1000;
/// What is longer is not kept, in bytes.
pub(super) const MAX_ENTRY_BYTES: usize = 8 * 1024;
/// What a file has at most, with every character escaped.
const MAX_FILE_BYTES: u64 = 2 * (MAX_ENTRIES * MAX_ENTRY_BYTES) as u64;

/// `history` in the program's state folder.
pub(super) fn path() -> Option<PathBuf> {
    Some(folders::state()?.join("history"))
}

/// Makes the file and its directory where they are missing, and refuses a file that is no history of ours. Both are for the user
/// alone, also if an earlier program made them for more.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory)?;
        keep_private(directory, 0o700)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(drop),
    }
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("that is something else than a history"));
    }
    keep_private(path, 0o600)
}

/// Takes the permissions of others away from a folder or file of this program. Those that a link leads to, and those of other users,
/// stay as they are.
#[cfg(unix)]
fn keep_private(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let metadata = path.symlink_metadata()?;
    let is_ours = !metadata.is_symlink() && metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_private(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_history_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(prepare(dir.path()).is_err());
        let large = dir.path().join("large");
        fs::File::create(&large).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
        assert!(prepare(&large).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/history");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let folder = path.parent().unwrap();
        prepare(&path).unwrap();
        assert_eq!((mode(&path), mode(folder)), (0o600, 0o700));
        set(&path, 0o644);
        set(folder, 0o755);
        set(dir.path(), 0o755);
        prepare(&path).unwrap();
        assert_eq!((mode(&path), mode(folder), mode(dir.path())), (0o600, 0o700, 0o755));
    }
}
