//! Files and folders that only the user can read and write.
//!
//! Elsewhere than on Unix, these functions neither set nor check permissions.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Creates a folder and its parents for the user alone. An existing folder stays as it is.
///
/// # Errors
/// Returns an error if a folder cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a folder as [`create_folder`] does. Removes the permissions of other users from an existing one.
///
/// # Errors
/// Returns the errors of [`create_folder`] and [`tighten`].
pub fn prepare_folder(path: &Path) -> io::Result<()> {
    create_folder(path)?;
    tighten(path)
}

/// Creates a file for the user alone.
///
/// # Errors
/// Returns an error of the kind `AlreadyExists` if there is a file or a link, or another one if the file cannot be created.
pub fn create_file(path: &Path) -> io::Result<File> {
    // `create_new` does not follow a link that another user planted at the path.
    to_write().create_new(true).open(path)
}

/// Opens a file for writing. Creates a missing one for the user alone.
///
/// # Errors
/// Returns an error if the file cannot be opened or created.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    to_write().create(true).truncate(false).open(path)
}

/// Writes a file as a whole by way of a draft in the same folder, so that it is complete whenever the process dies. Both are for the user
/// alone. Replaces existing ones.
///
/// # Errors
/// Returns an error if a file cannot be written or renamed.
pub fn replace(path: &Path, draft: &Path, content: &[u8]) -> io::Result<()> {
    // A process that died may have left a draft, which `create_file` would refuse.
    remove(draft)?;
    create_file(draft)?.write_all(content)?;
    fs::rename(draft, path)
}

/// Removes a file. Returns false if there was none.
///
/// # Errors
/// Returns an error if the file cannot be removed.
pub fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn to_write() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Reads a text file of at most that many bytes. Follows links.
///
/// # Errors
/// Returns an error if the file cannot be read or is longer, or if other users have access to it, because they could have written it.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<String> {
    let file = File::open(path)?;
    // Of the open file, because the path can lead to another one a moment later.
    check_access(&file.metadata()?)?;
    let mut text = String::new();
    file.take(max_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max_bytes {
        return Err(io::Error::other(format!(
            "it is longer than {max_bytes} bytes"
        )));
    }
    Ok(text)
}

/// Checks a folder. Follows links.
///
/// # Errors
/// Returns an error if the path is not a folder, or other users have access to it.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    check_access(&metadata)?;
    if metadata.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

/// Checks a file.
///
/// # Errors
/// Returns an error if the path is a link or no regular file, or other users have access to it.
pub fn check_file(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    check_access(&metadata)
}

/// Removes the permissions of other users from a file or folder. Leaves links and files of other users as they are.
///
/// # Errors
/// Returns an error if there is no file, or its permissions cannot be changed.
pub fn tighten(path: &Path) -> io::Result<()> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt};

    let metadata = path.symlink_metadata()?;
    if is_own(&metadata) && !metadata.is_symlink() && metadata.mode() & OTHERS != 0 {
        // Through the open file: a link that took its place meanwhile is not followed, and a pipe is not waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = options.open(path)?;
        file.set_permissions(PermissionsExt::from_mode(metadata.mode() & 0o700))?;
    }
    Ok(())
}

/// The permissions of other users.
const OTHERS: u32 = 0o077;

/// Returns true if the file belongs to the user of this process.
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

fn check_access(metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    if !is_own(metadata) {
        return Err(io::Error::other(
            "other users have access to it, because it belongs to one",
        ));
    }
    match metadata.mode() & OTHERS {
        0 => Ok(()),
        _ if metadata.is_dir() => Err(io::Error::other(
            "other users have access to it; run chmod 700 on it",
        )),
        _ => Err(io::Error::other(
            "other users have access to it; run chmod 600 on it",
        )),
    }
}
