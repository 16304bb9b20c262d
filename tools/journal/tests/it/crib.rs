//! A journal in a folder of its own, and calls to fill it with.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each program of tests uses a part of it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::{Catalog, Effects, Grant, Tool, ToolContext};
use tools_journal::{Audit, AuditEntry, Durability, Head, JournalOptions, SqliteJournal};

pub struct Crib {
    dir: TempDir,
}

impl Crib {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("calls.journal")
    }

    /// What a test need not wait for a disk for.
    pub fn journal(&self) -> SqliteJournal {
        self.journal_with(JournalOptions::new().with_durability(Durability::Process))
    }

    pub fn journal_with(&self, options: JournalOptions) -> SqliteJournal {
        SqliteJournal::open(self.path(), options).unwrap()
    }

    pub fn audit(&self) -> Audit {
        Audit::open(self.path()).unwrap()
    }

    pub fn head(&self) -> Head {
        self.audit().verify(None).unwrap()
    }

    pub fn entries(&self) -> Vec<AuditEntry> {
        let mut entries = Vec::new();
        let visitor = |entry| {
            entries.push(entry);
            std::ops::ControlFlow::Continue(())
        };
        self.audit().visit(None, visitor).unwrap();
        entries
    }

    /// Does to the file what only an attacker does.
    pub fn tamper(&self, sql: &str) -> usize {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        connection.execute(sql, []).unwrap()
    }
}

/// A context that may do everything, in the session `s`.
pub fn context(journal: &SqliteJournal) -> ToolContext {
    ToolContext::new().with_grant(Grant::all()).with_session("s").with_journal(Arc::new(journal.clone()))
}

/// A catalog of `send`, which may run only once, and of `think`, which is pure, with how often each was run.
pub struct Workshop {
    pub catalog: Catalog,
    pub sent: Arc<AtomicU32>,
    pub thought: Arc<AtomicU32>,
}

impl Workshop {
    pub fn new() -> Self {
        Self::of(Catalog::new())
    }

    pub fn of(mut catalog: Catalog) -> Self {
        let (sent, thought) = (Arc::default(), Arc::default());
        let effects: Effects = serde_json::from_value(json!({"writes": ["mail:outbox"]})).unwrap();
        add(&mut catalog, "send", effects, &sent);
        add(&mut catalog, "think", Effects::Pure, &thought);
        Self { catalog, sent, thought }
    }

    pub fn runs(&self) -> (u32, u32) {
        (self.sent.load(Ordering::SeqCst), self.thought.load(Ordering::SeqCst))
    }
}

fn add(catalog: &mut Catalog, name: &str, effects: Effects, runs: &Arc<AtomicU32>) {
    let tool = Tool::new(name, "Does it.", json!({"type": "object"})).unwrap().with_effects(effects);
    let runs = runs.clone();
    let count = move |_: ToolContext, arguments: Value| {
        let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
        async move { json!({"run": run, "of": arguments}) }
    };
    catalog.register(tool, count).unwrap();
}
