//! [`Trap`]: a workspace surrounded by canary files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tools::{Catalog, ErrorCode, Grant, Host, ToolResult};
use tools_fs::Workspace;

/// The text of every file outside, also used in a file name there. Never part of an argument.
pub(crate) const CANARY: &str = "canary-7f3a";

/// A directory whose entry `root` is the workspace, with everything granted. The other entries are outside.
pub(crate) struct Trap {
    dir: TempDir,
    catalog: Catalog,
    cx: Host,
}

/// The metadata and the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    mode: u32,
    links: u64,
    modified: (i64, i64),
    content: Vec<u8>,
}

impl Trap {
    pub(crate) fn new() -> Self {
        // In memory if possible: syncing to a disk would dominate the run time.
        let dir = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("root")).unwrap();
        fs::create_dir_all(path("outside/sub")).unwrap();
        for file in [
            "file",
            "outside/file",
            "outside/sub/file",
            &format!("outside/{CANARY}"),
        ] {
            fs::write(path(file), CANARY).unwrap();
        }
        // Includes the tools that the test defines.
        let catalog = Catalog::linked();
        let cx = Host::new()
            .with_grant(Grant::all())
            .with_service(Workspace::open(path("root")).unwrap());
        Self { dir, catalog, cx }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Calls a tool and returns its result or error as text. Asserts that it contains no canary.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Result<String, String> {
        let result = self
            .catalog
            .execute(&self.cx, tool, arguments.clone())
            .await;
        assert!(
            !matches!(&result, Err(error) if error.code() == ErrorCode::Panicked),
            "{tool} {arguments}: {result:?}"
        );
        let is_ok = result.is_ok();
        let shown = result.unwrap_or_else(|error| ToolResult::from(&error));
        let shown = serde_json::to_string(&shown).unwrap();
        assert!(
            !shown.contains(CANARY),
            "{tool} {arguments} escaped: {shown}"
        );
        if is_ok { Ok(shown) } else { Err(shown) }
    }

    /// Returns everything outside except the root itself.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, State> {
        let mut states = BTreeMap::new();
        gather(self.dir.path(), &self.path("root"), &mut states);
        states
    }
}

fn gather(dir: &Path, root: &Path, states: &mut BTreeMap<PathBuf, State>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path == root {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        states.insert(
            path.clone(),
            State {
                mode: metadata.mode(),
                links: metadata.nlink(),
                modified,
                content,
            },
        );
        if metadata.is_dir() {
            gather(&path, root, states);
        }
    }
}
