//! [`Subject`]: the facts about a part of a project that the user approves.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tools::Digest;

/// The facts that the user approves about a part of a project that has a name, such as a server or a skill. Each kind has a folder of
/// approvals of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The workspace of the project.
    pub workspace: String,
    /// The name of the server or the skill.
    #[serde(rename = "server")]
    pub name: String,
    /// The facts by name. A host adds what it knows.
    pub facts: Map<String, Value>,
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
    /// Creates a subject. The workspace is the absolute path of the root.
    pub fn from_facts(workspace: &str, name: &str, facts: Map<String, Value>) -> Self {
        Self {
            workspace: workspace.to_owned(),
            name: name.to_owned(),
            facts,
        }
    }

    /// Returns the digest, which an approval names.
    pub fn digest(&self) -> Digest {
        Digest::hash_json(
            &json!({"workspace": self.workspace, "server": self.name, "facts": self.facts}),
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
