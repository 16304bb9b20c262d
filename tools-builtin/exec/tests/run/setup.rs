//! A workspace, and calls of the tool in it.

use std::sync::OnceLock;

use libtest_mimic::{Completion, Trial};
use serde_json::{Value, json};
use tools::{ToolError, ToolResult};
use tools_exec::Sandbox;
use tools_exec::walls::{Confinement, Layers, WallsError};
use tools_testkit::{TempWorkspace, TestHost};
use tools_workspace::Workspace;

/// Everything in the workspace.
pub(crate) const ALL: [&str; 3] = ["fs:read:**", "fs:write:**", "exec:write:**"];

/// Returns a host with these files, in which the file `hidden/key` is hidden.
pub(crate) fn host(workspace: &TempWorkspace, grant: &[&str]) -> TestHost {
    host_with(workspace, grant, Sandbox::default())
}

/// Returns such a host with this sandbox.
pub(crate) fn host_with(workspace: &TempWorkspace, grant: &[&str], sandbox: Sandbox) -> TestHost {
    let root = Workspace::open(workspace.path())
        .unwrap()
        .with_hidden([workspace.join("hidden")])
        .unwrap();
    TestHost::new(tools_exec::register)
        .with_grant(grant)
        .with_service(root)
        .with_service(sandbox)
}

/// Runs a script by `sh`.
pub(crate) fn sh(host: &TestHost, script: &str) -> String {
    text(run(host, json!({"program": "sh", "args": ["-c", script]})).unwrap())
}

pub(crate) fn run(host: &TestHost, arguments: Value) -> Result<ToolResult, ToolError> {
    call(host, "exec.run", arguments)
}

pub(crate) fn call(host: &TestHost, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(host.call(tool, arguments))
}

pub(crate) fn text(result: ToolResult) -> String {
    result.to_text()
}

/// Returns true if this machine keeps protected paths, so that programs may write.
pub(crate) fn may_write() -> bool {
    confinement()
        .as_ref()
        .is_ok_and(Confinement::keeps_protected_paths)
}

fn confinement() -> &'static Result<Confinement, WallsError> {
    static FOUND: OnceLock<Result<Confinement, WallsError>> = OnceLock::new();
    FOUND.get_or_init(|| Layers::probe().confinement())
}

/// A test that is left out, with the reason, if this machine cannot confine programs.
pub(crate) fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || {
        if let Err(missing) = confinement() {
            return Ok(Completion::ignored_with(missing.to_string()));
        }
        test();
        Ok(Completion::Completed)
    })
}
