//! Files and folders that only the user can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// The mode of a private folder.
pub(crate) const FOLDER: u32 = 0o700;
/// The mode of a private file.
pub(crate) const FILE: u32 = 0o600;

/// Creates a folder and its parents for the user only. Tightens the permissions of an existing folder.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER);
    builder.create(path)?;
    tighten(path, FOLDER)
}

/// Creates a file for the user only. Returns an error of the kind `AlreadyExists` if there is one.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    to_write().create_new(true).open(path)
}

/// Opens a file for writing. Creates a missing one for the user only.
#[cfg(feature = "journal")]
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    to_write().create(true).truncate(false).open(path)
}

fn to_write() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE);
    options
}

/// Removes the permissions of other users from a file or folder. Link targets and files of other users are left unchanged.
#[cfg(unix)]
pub(crate) fn tighten(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let metadata = path.symlink_metadata()?;
    let is_ours = !metadata.is_symlink() && metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn tighten(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Reads a file that only the user can read. Returns an error if other users have permissions on it.
#[cfg(feature = "mcp")]
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    check_access(&file.metadata()?)?;
    io::read_to_string(file)
}

/// Returns an error if the path is not a folder, or other users have permissions on it. Follows links.
#[cfg(feature = "journal")]
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    check_access(&metadata)?;
    if metadata.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Returns an error if the path is not a regular file, or other users have permissions on it. A link is not followed.
#[cfg(feature = "journal")]
pub(crate) fn check_file(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    check_access(&metadata)
}

#[cfg(all(any(feature = "journal", feature = "mcp"), unix))]
fn check_access(metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::Error::other("other users have access to it"))
    }
}

#[cfg(all(any(feature = "journal", feature = "mcp"), not(unix)))]
fn check_access(_metadata: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
