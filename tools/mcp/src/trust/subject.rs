//! [`Subject`]: the facts about a project's server that the user approves.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tools::Digest;

use crate::client::ServerName;
use crate::config::{ServerEntry, Transport};
use crate::trust::executable::Executable;

/// The facts about a project's server that the user approves: the command, its resolved executable, arguments, environment and working
/// directory, or the URL and headers. Values are as the file has them, so variables are not expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    workspace: String,
    server: String,
    facts: Map<String, Value>,
}

/// A fact that differs between two subjects. A value is JSON, or `None` if the fact is absent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The fact, such as `args`.
    pub fact: String,
    /// The value before.
    pub before: Option<Value>,
    /// The value now.
    pub after: Option<Value>,
}

impl Subject {
    /// Creates a subject from the entry of a project's file. The workspace is the absolute path of its root. A server without an
    /// executable has `None`. `folder` is the working directory with all links resolved; it is a part of the subject if the entry names
    /// one.
    pub fn new(
        workspace: &str,
        server: &ServerName,
        entry: &ServerEntry,
        executable: Option<&Executable>,
        folder: Option<&Path>,
    ) -> Self {
        let facts = match &entry.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => json!({
                "command": command,
                "executable": executable.map(ToString::to_string),
                "args": args,
                "env": env,
                "cwd": cwd.as_ref().map(|cwd| match folder {
                    Some(folder) if folder != Path::new(cwd) => json!([cwd, folder.to_string_lossy()]),
                    _ => json!(cwd),
                }),
            }),
            Transport::Http {
                url,
                headers,
                oauth,
            } => {
                json!({"url": url, "headers": headers, "oauth": oauth.to_json()})
            }
        };
        let facts = match facts {
            Value::Object(facts) => facts
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .collect(),
            _ => Map::new(),
        };
        Self {
            workspace: workspace.to_owned(),
            server: server.to_string(),
            facts,
        }
    }

    /// Creates a subject of another kind than a server, which has a folder of approvals of its own.
    pub fn from_facts(workspace: &str, name: &str, facts: Map<String, Value>) -> Self {
        Self {
            workspace: workspace.to_owned(),
            server: name.to_owned(),
            facts,
        }
    }

    /// Adds a fact. `null` adds none.
    #[must_use]
    pub fn with_fact(mut self, fact: &str, value: Value) -> Self {
        if !value.is_null() {
            self.facts.insert(fact.to_owned(), value);
        }
        self
    }

    /// Returns a fact. Returns `None` if it is absent.
    pub fn fact(&self, fact: &str) -> Option<&Value> {
        self.facts.get(fact)
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Returns the name of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the facts with their values as JSON.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.facts
            .iter()
            .map(|(fact, value)| (fact.as_str(), value))
    }

    /// Returns the digest, which an approval names.
    pub fn digest(&self) -> Digest {
        Digest::hash_json(
            &json!({"workspace": self.workspace, "server": self.server, "facts": self.facts}),
        )
    }

    /// Returns the facts that differ from those of an earlier subject.
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let mut facts: Vec<_> = earlier.facts.keys().chain(self.facts.keys()).collect();
        facts.sort();
        facts.dedup();
        let change = |fact: &String| {
            let (before, after) = (
                earlier.facts.get(fact).cloned(),
                self.facts.get(fact).cloned(),
            );
            (before != after).then(|| Change {
                fact: fact.clone(),
                before,
                after,
            })
        };
        facts.into_iter().filter_map(change).collect()
    }
}
