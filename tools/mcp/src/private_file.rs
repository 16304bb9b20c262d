//! Files that only the user can read and write.

use std::io::{self, Write as _};
use std::path::Path;

use tools_store::private;

/// Reads a file of at most that many bytes. Returns `None` if there is none.
///
/// # Errors
/// Returns an error if other users have access to the file, because they could have written it.
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Option<String>> {
    match private::read(path, max_bytes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Writes a file at once: other processes see the old or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    write_temporary(path, text)?.persist(path)?;
    Ok(())
}

/// Writes a file at once, unless there is one. Returns false if there is.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<bool> {
    match write_temporary(path, text)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Writes a temporary file, which is for the user only, beside the path.
fn write_temporary(path: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private::create_folder(folder)?;
    // In the same folder, because a rename stays within one file system.
    let mut file = tempfile::Builder::new().tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}
