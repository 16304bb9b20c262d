//! [`ProtectedFile`]: a protected file that a program created or changed, for the person at the host.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ToolContext;

/// A protected file that a program created or changed, as the person at the host is told. Its texts are visible lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProtectedFile {
    /// The path below the workspace root.
    pub path: String,
    /// A phrase that describes the file and the program that runs it.
    pub note: String,
    /// The state in which the call left the file.
    #[serde(flatten)]
    pub fate: ProtectedFate,
}

/// The state in which a call left a [`ProtectedFile`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProtectedFate {
    /// Moved out of the workspace.
    SetAside {
        /// The path at which it lies.
        place: String,
    },
    /// Moved out of the workspace, and put back by a person's yes.
    PutBack,
    /// As the program left it, because the grant names it, or the host has no folder to move it to.
    Changed,
    /// Removed by the program, and there again.
    Restored,
    /// Changed or removed by the program, and its former content is not kept.
    Lost,
    /// In the workspace as the program left it, because it could not be moved.
    Stuck,
    /// Not known: the path is that of a folder that could not be looked at, and the note is the reason.
    Unknown,
}

impl ProtectedFile {
    /// Creates a record.
    pub fn new(path: impl Into<String>, note: impl Into<String>, fate: ProtectedFate) -> Self {
        Self {
            path: path.into(),
            note: note.into(),
            fate,
        }
    }
}

/// Writes a sentence without a full stop.
impl fmt::Display for ProtectedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, note, fate } = self;
        match fate {
            ProtectedFate::SetAside { place } => {
                write!(f, "a program left {path}, {note}; it was moved to {place}")
            }
            ProtectedFate::PutBack => write!(
                f,
                "a program left {path}, {note}; it remains, because you agreed"
            ),
            ProtectedFate::Changed => {
                write!(
                    f,
                    "a program changed or removed {path}, {note}; nothing was put back, because the grant permits it"
                )
            }
            ProtectedFate::Restored => {
                write!(f, "a program removed {path}, {note}; it was put back")
            }
            ProtectedFate::Lost => write!(
                f,
                "a program changed or removed {path}, {note}; its former content could not be put back, so get it from a copy"
            ),
            ProtectedFate::Unknown => write!(
                f,
                "a program may have left files in {path} that run or configure programs, and nobody could look: {note}"
            ),
            ProtectedFate::Stuck => {
                write!(
                    f,
                    "a program left {path}, {note}; it could not be moved away, so look at it and remove it"
                )
            }
        }
    }
}

impl ToolContext {
    /// Tells the person at the host about protected files that a program created or changed, through the
    /// [`ProgressSink`](crate::ProgressSink). Returns false if none shows it.
    pub fn report_protected(&self, files: &[ProtectedFile]) -> bool {
        self.facts
            .progress
            .as_ref()
            .is_some_and(|sink| sink.protected_files(self, files))
    }
}
