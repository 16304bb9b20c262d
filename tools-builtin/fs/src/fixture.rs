//! [`Fixture`]: a temporary workspace and calls of this crate's tools in it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tools::{Catalog, ErrorCode, Grant, ToolContext, ToolError, ToolResult};

use crate::Workspace;
use crate::draft_name::is_draft;

pub(crate) struct Fixture {
    dir: TempDir,
    catalog: Catalog,
    cx: ToolContext,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cx = context(dir.path());
        Self { dir, catalog: catalog(), cx }
    }

    /// Creates a workspace with the given files.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let fixture = Self::new();
        files.iter().for_each(|(path, content)| fixture.write(path, content));
        fixture
    }

    /// Opens an existing directory as the workspace.
    pub(crate) fn for_dir(path: &str) -> Self {
        Self { cx: context(path.as_ref()), ..Self::new() }
    }

    pub(crate) fn with_context(self, cx: ToolContext) -> Self {
        Self { cx, ..self }
    }

    pub(crate) fn granted(self, clause: &str) -> Self {
        self.granted_all(&[clause])
    }

    pub(crate) fn granted_all(self, clauses: &[&str]) -> Self {
        Self { cx: self.cx.clone().with_grant(Grant::parse(clauses).unwrap()), ..self }
    }

    pub(crate) fn cx(&self) -> &ToolContext {
        &self.cx
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, path: &str, content: &(impl AsRef<[u8]> + ?Sized)) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    /// Returns the names in a directory, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root().join(path)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Waits until a directory contains a draft.
    pub(crate) fn wait_for_draft(&self, path: &str) {
        let start = Instant::now();
        while !self.root().join(path).is_dir() || !self.names(path).iter().any(|name| is_draft(name)) {
            assert!(start.elapsed() < Duration::from_secs(60), "no draft in `{path}`");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn cancel(&self) {
        self.cx.cancellation().cancel();
    }

    #[cfg(unix)]
    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn mode(&self, path: &str) -> u32 {
        std::os::unix::fs::MetadataExt::mode(&fs::metadata(self.root().join(path)).unwrap()) & 0o7777
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, destination: &str, path: &str) {
        std::os::unix::fs::symlink(destination, self.root().join(path)).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn pipe(&self, path: &str) {
        let status = std::process::Command::new("mkfifo").arg(self.root().join(path)).status();
        assert!(status.unwrap().success());
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
        self.catalog.execute(&self.cx, tool, arguments).await
    }

    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap().to_text()
    }

    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.unwrap().structured.unwrap().into_value()
    }

    /// Asserts that the grant does not cover a call.
    pub(crate) async fn denies(&self, tool: &str, arguments: Value) {
        let error = self.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
    }

    /// Asserts that a call fails with a message that contains `part`.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value, part: &str) {
        let message = self.call(tool, arguments).await.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

fn context(root: &Path) -> ToolContext {
    ToolContext::new().with_grant(Grant::all()).with_service(Workspace::open(root).unwrap())
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    crate::register(&mut catalog).unwrap();
    catalog
}
