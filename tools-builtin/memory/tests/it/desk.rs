//! A store of memories in a temporary folder, and hosts of the tools.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tools::Grant;
use tools::context::Exposure;
use tools_memory::{Filter, Memory, MemoryEntry};
use tools_testkit::TestHost;

pub(crate) struct Desk {
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        ["one", "two"]
            .iter()
            .for_each(|name| std::fs::create_dir(folder.path().join(name)).unwrap());
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data/memory.sqlite")
    }

    /// Returns the service of a session in the project `one`.
    pub(crate) fn memory(&self) -> Memory {
        self.memory_in("one")
    }

    pub(crate) fn memory_in(&self, project: &str) -> Memory {
        Memory::new(self.path()).with_project(&self.folder.path().join(project))
    }

    /// Returns a host whose sessions have read nothing from outside.
    pub(crate) fn host(&self) -> TestHost {
        host(self.memory())
    }

    pub(crate) fn entries(&self) -> Vec<MemoryEntry> {
        self.memory().entries(&Filter::default()).unwrap()
    }

    /// Returns the digest of a new session in the project `one` with this grant.
    pub(crate) fn digest(&self, clauses: &[&str]) -> Option<String> {
        let cx = self
            .host()
            .context()
            .clone()
            .with_grant(Grant::parse(clauses).unwrap());
        self.memory().digest(&cx).unwrap()
    }
}

pub(crate) fn host(memory: Memory) -> TestHost {
    TestHost::new(tools_memory::register)
        .with_service(memory)
        .with_service(Exposure::new())
}

pub(crate) async fn save(host: &TestHost, text: &str) -> String {
    host.text("memory.save", json!({"text": text})).await
}

pub(crate) async fn refusal(host: &TestHost, tool: &str, arguments: Value) -> String {
    host.call(tool, arguments).await.unwrap_err().to_string()
}

/// Returns the texts that a search finds.
pub(crate) async fn found(host: &TestHost, arguments: Value) -> Vec<String> {
    texts(&host.value("memory.search", arguments).await)
}

pub(crate) fn texts(result: &Value) -> Vec<String> {
    let memories = result["memories"].as_array().unwrap();
    memories
        .iter()
        .map(|memory| memory["text"].as_str().unwrap().to_owned())
        .collect()
}

pub(crate) fn name(path: &Path) -> String {
    Memory::new("x")
        .with_project(path)
        .project()
        .unwrap()
        .to_owned()
}
