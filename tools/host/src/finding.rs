//! [`Finding`]: a problem that `doctor` has found, and [`FamilyReport`]: all that it says of a family.

use std::fmt::Display;

use serde::Serialize;
use tools::linked::{self, NamedSubmission};

use crate::program;

/// A problem.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct Finding {
    /// The check that failed, such as `conflict`, `settings` or the name of a family.
    pub check: &'static str,
    /// The tool, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The provider, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The problem and the next step, for people.
    pub message: String,
    /// The command that repairs it, or shows what to repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// All that `doctor` says of a family.
#[derive(Clone, Debug, Default)]
pub struct FamilyReport {
    /// Facts, each on one line. A line that begins with two blanks is a command, which no page breaks.
    pub lines: Vec<String>,
    /// Problems.
    pub findings: Vec<Finding>,
    /// Documents that `doctor --json` prints.
    pub documents: Vec<serde_json::Value>,
    /// A tool that is not available although nothing is wrong, such as one whose program is not installed, and the line that says why.
    pub absent: Option<&'static str>,
}

impl Finding {
    /// Creates a problem.
    pub fn new(check: &'static str, message: String) -> Self {
        Self {
            check,
            tool: None,
            provider: None,
            message,
            fix: None,
        }
    }

    /// Names the command that repairs it, by the words after the name of the program.
    pub fn with_fix(mut self, words: impl Display) -> Self {
        self.fix = Some(format!("{} {words}", program::name()));
        self
    }

    /// Names the tool.
    pub fn for_tool(mut self, name: impl ToString) -> Self {
        self.tool = Some(name.to_string());
        self
    }

    /// Creates the finding of a name that several claim.
    pub fn conflict(conflict: impl Display) -> Self {
        let message = format!("{conflict}; unlink or rename one of them");
        Self::new("conflict", message)
    }

    /// Names the provider.
    pub fn for_provider(mut self, name: impl ToString) -> Self {
        self.provider = Some(name.to_string());
        self
    }

    /// Creates the problems of link-time records: names that several claim, and unusable ones.
    pub fn of_linked<T: NamedSubmission>() -> Vec<Self> {
        let conflicts = linked::conflicts::<T>().into_iter().map(Self::conflict);
        let problems = linked::problems::<T>().into_iter();
        let problems = problems.map(|problem| Self::new("definition", problem.to_string()));
        conflicts.chain(problems).collect()
    }
}
