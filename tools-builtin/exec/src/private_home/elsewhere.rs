//! [`PrivateHome`] on systems without walls.

use std::path::Path;
use std::{fs, io};

use tempfile::TempDir;

/// The folder that a program has as its home and for temporary files. A drop removes it.
#[derive(Debug)]
pub(crate) struct PrivateHome(TempDir);

impl PrivateHome {
    /// Creates one in a folder.
    pub(crate) fn create(above: &Path) -> io::Result<Self> {
        fs::create_dir_all(above)?;
        Self::create_in(above)
    }

    /// Creates one in a folder that others use, too.
    pub(crate) fn create_in(above: &Path) -> io::Result<Self> {
        tempfile::tempdir_in(above).map(Self)
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}
