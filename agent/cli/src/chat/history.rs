//! The file of the prompt history, readable by the user only.

use std::fs;
use std::io;
use std::path::Path;

use tools_store::private;

/// The maximum number of entries; the oldest are dropped.
pub(super) const MAX_ENTRIES: usize = 1000;
/// The maximum size of an entry, in bytes. Longer ones are not kept.
pub(super) const MAX_ENTRY_BYTES: usize = 8 * 1024;
/// The maximum size of the file in bytes, if every character is escaped.
const MAX_FILE_BYTES: u64 = 2 * (MAX_ENTRIES * MAX_ENTRY_BYTES) as u64;

/// Creates the file and its directory if missing, with permissions for the user only. Existing permissions are tightened.
///
/// Returns an error if the path is not a regular file or the file is too large for a history.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private::prepare_folder(directory)?;
    }
    match private::create_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(drop),
    }
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("not a history file"));
    }
    private::tighten(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_a_history_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(prepare(dir.path()).is_err());
        let large = dir.path().join("large");
        fs::File::create(&large)
            .unwrap()
            .set_len(MAX_FILE_BYTES + 1)
            .unwrap();
        assert!(prepare(&large).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/history");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap()
        };
        let folder = path.parent().unwrap();
        prepare(&path).unwrap();
        assert_eq!((mode(&path), mode(folder)), (0o600, 0o700));
        set(&path, 0o644);
        set(folder, 0o755);
        set(dir.path(), 0o755);
        prepare(&path).unwrap();
        assert_eq!(
            (mode(&path), mode(folder), mode(dir.path())),
            (0o600, 0o700, 0o755)
        );
    }
}
