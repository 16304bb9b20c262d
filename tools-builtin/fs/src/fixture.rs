//! [`Fixture`]: a temporary workspace and calls of this crate's tools in it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tools::{Decision, ErrorCode, Execution, Host, Policy, Preview, ToolError};
use tools_testkit::{RecordingApprover, TempWorkspace, TestHost};
use tools_workspace::Workspace;

use crate::draft_name::is_draft;

pub(crate) struct Fixture {
    files: TempWorkspace,
    host: TestHost,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_files(&[])
    }

    /// Creates a workspace with the given files.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let files = TempWorkspace::from_files(files.iter().copied());
        let host = host(files.path());
        Self { files, host }
    }

    /// Opens an existing directory as the workspace.
    pub(crate) fn for_dir(path: &str) -> Self {
        Self {
            host: host(path.as_ref()),
            ..Self::new()
        }
    }

    pub(crate) fn with_context(mut self, cx: Host) -> Self {
        self.host = self.host.with_context(|_| cx);
        self
    }

    pub(crate) fn granted(self, clause: &str) -> Self {
        self.granted_all(&[clause])
    }

    pub(crate) fn granted_all(mut self, clauses: &[&str]) -> Self {
        self.host = self.host.with_grant(clauses);
        self
    }

    pub(crate) fn cx(&self) -> &Host {
        self.host.context()
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.path()
    }

    pub(crate) fn write(&self, path: &str, content: &(impl AsRef<[u8]> + ?Sized)) {
        self.files.write(path, content);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        self.files.read(path)
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        self.files.read_bytes(path)
    }

    /// Returns the names in a directory, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root().join(path)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Waits until a directory contains a draft.
    pub(crate) fn wait_for_draft(&self, path: &str) {
        let start = Instant::now();
        while !self.root().join(path).is_dir()
            || !self.names(path).iter().any(|name| is_draft(name))
        {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "no draft in `{path}`"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn cancel(&self) {
        self.cx().cancellation().cancel();
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        std::os::unix::fs::MetadataExt::mode(&fs::metadata(self.root().join(path)).unwrap())
            & 0o7777
    }

    pub(crate) fn link(&self, destination: &str, path: &str) {
        std::os::unix::fs::symlink(destination, self.root().join(path)).unwrap();
    }

    pub(crate) fn pipe(&self, path: &str) {
        let status = std::process::Command::new("mkfifo")
            .arg(self.root().join(path))
            .status();
        assert!(status.unwrap().success());
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Execution {
        self.host.call(tool, arguments)
    }

    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.host.text(tool, arguments).await
    }

    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        self.host.value(tool, arguments).await
    }

    /// Returns the preview of a call that is then denied.
    pub(crate) async fn preview(&self, tool: &str, arguments: Value) -> Result<Preview, ToolError> {
        let approver = RecordingApprover::new(Decision::Deny {
            reason: "only the preview matters".to_owned(),
        });
        let host = self.host.clone().with_approver(approver.clone());
        let host = host.with_context(|cx| cx.with_policy(Policy::by_effects()));
        assert_eq!(
            host.call(tool, arguments).await.unwrap_err().code(),
            ErrorCode::Denied
        );
        approver
            .requests()
            .remove(0)
            .preview
            .expect("the tool has a preview")
    }

    /// Asserts that the grant does not cover a call.
    pub(crate) async fn denies(&self, tool: &str, arguments: Value) {
        let error = self.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
    }

    /// Asserts that a call fails with a message that contains `part`, and that names no other tool: a model knows tools by other names,
    /// and may not have them.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value, part: &str) {
        let message = self.call(tool, arguments).await.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
        let own = message.replacen(tool, "", 1);
        let named = self
            .host
            .catalog()
            .list()
            .into_iter()
            .find(|entry| own.contains(entry.name().as_str()));
        assert!(named.is_none(), "{message}");
    }
}

fn host(root: &Path) -> TestHost {
    // The dot files of the tests have to be named.
    let named = [
        "**/.conf/**",
        "**/.state/**",
        "**/.toolcrib-0123456789abcdef.tmp/**",
    ];
    let named = named.map(|pattern| format!("fs:write:{pattern}"));
    let grant: Vec<&str> = named.iter().map(String::as_str).chain(["*:*:**"]).collect();
    TestHost::new(crate::register)
        .with_grant(&grant)
        .with_service(Workspace::open(root).unwrap())
}
