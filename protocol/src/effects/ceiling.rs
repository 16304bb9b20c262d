//! The upper bound of a tool's targets.

use super::Effects;
use crate::{Clause, Target, ToolName};

impl Effects {
    /// Returns clauses that cover the targets of every possible call, sorted and without duplicates. A template with fields gives
    /// the subtree below the text before its first field: `fs:{path}` gives `fs:read:**`.
    ///
    /// ```
    /// use protocol::{Effects, ToolName};
    /// use serde_json::json;
    ///
    /// let effects: Effects = serde_json::from_value(json!({"reads": ["clock:now", "db:main/{table}"]}))?;
    /// let ceiling = effects.ceiling(&ToolName::new("report")?);
    /// assert_eq!(ceiling.iter().map(|clause| clause.as_str()).collect::<Vec<_>>(), ["clock:read:now", "db:read:main/**"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ceiling(&self, tool: &ToolName) -> Vec<Clause> {
        let declared = match self {
            Self::Pure => return Vec::new(),
            Self::Declared(declared) if !declared.is_unbounded() => declared,
            Self::Undeclared | Self::Declared(_) => {
                return vec![Target::unbounded(tool).to_clause()];
            }
        };
        let mut clauses: Vec<Clause> = declared
            .templates()
            .map(|(access, template)| template.ceiling(access))
            .collect();
        clauses.sort();
        clauses.dedup();
        clauses
    }
}
