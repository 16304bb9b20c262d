//! Files that only the user can read and write.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Creates a folder and its parents for the user only. An existing folder stays as it is.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Reads a file of at most that many bytes. Returns `None` if there is none.
///
/// # Errors
/// Returns an error if other users have access to the file, because they could have written it.
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    check_access(&file.metadata()?)?;
    let mut text = String::new();
    file.take(max_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("it is longer than {max_bytes} bytes")));
    }
    Ok(Some(text))
}

/// Writes a file at once: other processes see the old or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    written(path, text)?.persist(path)?;
    Ok(())
}

/// Writes a file at once, unless there is one. Returns false if there is.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<bool> {
    match written(path, text)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Removes a file. Returns false if there was none.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes a temporary file, which is for the user only, beside the path.
fn written(path: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut file = tempfile::Builder::new().tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(unix)]
fn check_access(metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.is_file() && metadata.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::Error::other("other users have access to it; remove it, or run chmod 600 on it"))
    }
}

#[cfg(not(unix))]
fn check_access(_metadata: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
