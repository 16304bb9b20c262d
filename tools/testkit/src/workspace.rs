//! [`TempWorkspace`]: a temporary directory with files.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary directory that is removed when it is dropped. The test makes its own service from the [path](Self::path).
///
/// Every method that accesses files panics if the file system refuses.
///
/// ```
/// use tools_testkit::TempWorkspace;
///
/// let workspace = TempWorkspace::from_files([("README.md", "# Title"), ("src/main.rs", "fn main() {}")]);
/// // TestHost::new(…).with_service(tools_fs::Workspace::open(workspace.path())?)
/// workspace.write("notes/a.md", "text");
/// assert_eq!(workspace.read("notes/a.md"), "text");
/// assert_eq!(workspace.files(), ["README.md", "notes/a.md", "src/main.rs"]);
/// ```
#[derive(Debug)]
pub struct TempWorkspace(TempDir);

impl TempWorkspace {
    /// Creates an empty workspace.
    #[track_caller]
    pub fn new() -> Self {
        Self(
            tempfile::tempdir()
                .unwrap_or_else(|error| panic!("cannot create a temporary directory: {error}")),
        )
    }

    /// Creates a workspace with these files: pairs of a relative path and the content. Creates missing directories.
    #[track_caller]
    pub fn from_files<P: AsRef<Path>, C: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (P, C)>,
    ) -> Self {
        let workspace = Self::new();
        for (path, content) in files {
            workspace.write(path, content);
        }
        workspace
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of an entry, which need not exist.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path().join(path)
    }

    /// Writes a file and creates missing directories.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.join(path);
        let parent = path.parent().unwrap_or(self.path());
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content));
        written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// Returns the text of a file.
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.join(path);
        fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    /// Returns the content of a file.
    #[track_caller]
    pub fn read_bytes(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.join(path);
        fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    /// Returns true if the path has an entry: a file, a directory or a link, even a dangling one.
    pub fn contains(&self, path: impl AsRef<Path>) -> bool {
        self.join(path).symlink_metadata().is_ok()
    }

    /// Returns the paths of all files and links below the directory, relative to it, with `/` and sorted.
    #[track_caller]
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(self.path(), "", &mut files)
            .unwrap_or_else(|error| panic!("cannot list {}: {error}", self.path().display()));
        files.sort();
        files
    }
}

impl Default for TempWorkspace {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

/// Appends the files below a directory. `prefix` is its relative path with a slash.
fn collect(dir: &Path, prefix: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
