//! Records: files of JSON in a folder of the user's state, which sessions share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io, process};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tools_store::private;

/// Returns the records of a folder whose names begin so. A missing folder has none.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub(crate) fn list(folder: &Path, begin: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|file| {
        let name = file.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(begin) && name.ends_with(".json"))
    });
    Ok(files)
}

/// Returns what lies in a folder. A missing folder has nothing.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect(),
    }
}

/// Reads a record.
///
/// # Errors
/// Returns an error if it cannot be read or has another form.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Writes a record as a whole, in a folder that is there.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(crate) fn write(file: &Path, value: &impl Serialize) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Two sessions may write one record at the same time.
    let draft = file.with_extension(format!("{}-{count}.draft", process::id()));
    private::replace(file, &draft, &serde_json::to_vec(value)?)
}

/// Returns the nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos() as u64)
}
