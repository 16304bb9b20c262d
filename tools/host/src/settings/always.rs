//! [`Always`]: a clause that the user permits in one project.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use tools::Clause;

use super::slot::Document;

/// The line above an entry that the program writes.
const REMARK: &str = "# Written by the answer \"always in this project\"; the command `always --remove` takes it back.";

/// A clause that the user permits in the project at one root, and no other. Only the user's own file has such entries.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Always {
    /// The absolute path of the root, with links resolved. A root whose path leads elsewhere now is another one.
    pub root: PathBuf,
    /// The clause. Calls on its targets need no question.
    pub clause: Clause,
}

/// Writes the entry as TOML.
impl fmt::Display for Always {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (root, clause) = (json!(self.root), json!(self.clause));
        let entry = format!("\n{REMARK}\n[[always]]\nroot = {root}\nclause = {clause}\n");
        // A string of JSON is one of TOML, too, but for this character.
        f.write_str(&entry.replace('\u{7f}', "\\u007f"))
    }
}

impl Document for Always {
    fn document(&self) -> Value {
        json!({"root": self.root.display().to_string(), "clause": self.clause})
    }
}
