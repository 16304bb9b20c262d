//! A journal in a temporary folder, and tools whose calls fill it.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each program of tests uses a part of it"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent::{Driver, Scripted, Selection, Session, Turn};
use rusqlite::Connection;
use rusqlite::types::Value as SqlValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::{Catalog, Digest, Grant, Host, Tool, ToolCall, ToolContext};
use tools_journal::{Audit, AuditEntry, Durability, Head, JournalOptions, SqliteJournal};

pub struct Crib {
    dir: TempDir,
}

impl Crib {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("calls.journal")
    }

    /// Opens the journal with [`Durability::Process`], so that tests do not wait for the disk.
    pub fn journal(&self) -> SqliteJournal {
        self.journal_with(JournalOptions {
            durability: Durability::Process,
            ..JournalOptions::default()
        })
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
        entries(&self.audit())
    }

    /// Changes the file directly, as an attacker would.
    pub fn tamper(&self, sql: &str) -> usize {
        let connection = Connection::open(self.path()).unwrap();
        connection
            .busy_timeout(std::time::Duration::from_secs(20))
            .unwrap();
        connection.execute(sql, []).unwrap()
    }
}

impl Crib {
    /// Turns the journal into a file of version 4.
    pub fn turn_into_version_4(&self) {
        let sql = "ALTER TABLE session DROP COLUMN job; PRAGMA user_version = 4;";
        Connection::open(self.path())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    }

    /// Turns the journal into a file of version 3.
    pub fn turn_into_version_3(&self) {
        let sql = "
            ALTER TABLE session DROP COLUMN job;
            ALTER TABLE session DROP COLUMN provider;
            ALTER TABLE session DROP COLUMN model;
            ALTER TABLE session DROP COLUMN base_url;
            PRAGMA user_version = 3;";
        Connection::open(self.path())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    }

    /// Turns the journal into a file of version 1, with the hashes of that version.
    pub fn turn_into_version_1(&self) {
        let connection = Connection::open(self.path()).unwrap();
        let sql = "
            ALTER TABLE entry DROP COLUMN salt;
            ALTER TABLE entry DROP COLUMN content;
            ALTER TABLE entry DROP COLUMN ruling;
            DROP TABLE session;
            DROP TABLE message;
            ALTER TABLE state DROP COLUMN checkpoint;
            PRAGMA user_version = 1;";
        connection.execute_batch(sql).unwrap();
        let mut last = Digest::hash_bytes(b"toolcrib journal 1");
        let mut rows = connection
            .prepare("SELECT * FROM entry ORDER BY seq")
            .unwrap();
        let columns = rows.column_count() - 1;
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let mut bytes = last.as_bytes().to_vec();
            for column in 0..columns {
                match row.get(column).unwrap() {
                    SqlValue::Null => bytes.push(0),
                    SqlValue::Integer(number) => {
                        bytes.extend([&[1][..], &number.to_be_bytes()].concat())
                    }
                    SqlValue::Text(text) => bytes.extend(sized(2, text.as_bytes())),
                    SqlValue::Blob(blob) => bytes.extend(sized(3, &blob)),
                    SqlValue::Real(_) => panic!("no column is a real number"),
                }
            }
            last = Digest::hash_bytes(&bytes);
            let seq: i64 = row.get(0).unwrap();
            connection
                .execute(
                    "UPDATE entry SET hash = ? WHERE seq = ?",
                    (last.as_bytes(), seq),
                )
                .unwrap();
        }
    }
}

fn sized(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind][..], &(content.len() as u64).to_be_bytes(), content].concat()
}

pub fn entries(audit: &Audit) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    let visitor = |entry| {
        entries.push(entry);
        std::ops::ControlFlow::Continue(())
    };
    audit.visit(None, visitor).unwrap();
    entries
}

/// Creates a driver that plays these turns and writes checkpoints.
pub fn driver(turns: impl IntoIterator<Item = Turn>) -> Driver {
    Driver::new(Arc::new(Scripted::new(turns))).with_checkpoints(true)
}

/// Creates a turn that calls these tools with the ids `c0`, `c1`, ….
pub fn calling(names: &[&str]) -> Turn {
    Turn::calls(
        names
            .iter()
            .zip(0..)
            .map(|(name, id)| ToolCall::new(format!("c{id}"), *name, json!({}))),
    )
}

/// Runs a session to its answer: a call of `send` in the session of that name.
pub async fn answered(crib: &Crib, workshop: &Workshop, name: &str) {
    let cx = context(&crib.journal()).with_session(name);
    let mut session = Session::new(workshop.catalog.list(), Selection::new(), cx);
    let turns = [
        Turn::calls([ToolCall::new("c", "send", json!({"canary": name}))]),
        Turn::answer(format!("done {name}")),
    ];
    driver(turns)
        .run(&mut session, format!("go {name}"))
        .await
        .unwrap();
}

/// A tool that takes any arguments.
pub fn tool(name: &str, effects: Value) -> Tool {
    let tool = Tool::new(name, "Does it.", json!({"type": "object"})).unwrap();
    tool.with_effects(serde_json::from_value(effects).unwrap())
}

/// The effects of a tool that may run only once.
pub fn sends() -> Value {
    json!({"writes": ["mail:outbox"]})
}

/// A context that may do everything, in the session `s`.
pub fn context(journal: &SqliteJournal) -> Host {
    Host::new()
        .with_grant(Grant::all())
        .with_session("s")
        .with_journal(Arc::new(journal.clone()))
}

/// A catalog of `send`, which may run only once, and `think`, which is pure. Counts the runs of each.
pub struct Workshop {
    pub catalog: Catalog,
    pub sent: Arc<AtomicU32>,
    pub thought: Arc<AtomicU32>,
}

impl Workshop {
    pub fn new() -> Self {
        Self::from_catalog(Catalog::new())
    }

    pub fn from_catalog(mut catalog: Catalog) -> Self {
        let (sent, thought) = (Arc::default(), Arc::default());
        add(&mut catalog, tool("send", sends()), &sent);
        add(&mut catalog, tool("think", json!("pure")), &thought);
        Self {
            catalog,
            sent,
            thought,
        }
    }

    pub fn runs(&self) -> (u32, u32) {
        (
            self.sent.load(Ordering::SeqCst),
            self.thought.load(Ordering::SeqCst),
        )
    }
}

fn add(catalog: &mut Catalog, tool: Tool, runs: &Arc<AtomicU32>) {
    let runs = runs.clone();
    let count = move |_: ToolContext, arguments: Value| {
        let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
        async move { json!({"run": run, "of": arguments}) }
    };
    catalog.register(tool, count).unwrap();
}
