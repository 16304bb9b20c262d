//! [`Redirection`]: a stream of a command that is a file.

use tools::protocol::{Access, Normaliser};

/// The beginning of a redirection: `2>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Redirection {
    /// One digit, or empty.
    pub(super) descriptor: String,
    pub(super) operator: String,
}

/// The other end of a redirection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// A file with a path below the workspace root.
    File(Access, String),
    /// `/dev/null`.
    Nothing,
    /// Another descriptor: `2>&1`.
    Descriptor,
}

impl Redirection {
    /// Returns true if the redirection is complete without a word.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&*self.operator, "<&-" | ">&-")
    }

    /// Returns true if only bash reads the operator in this way.
    pub(super) fn is_of_bash(&self) -> bool {
        self.operator.starts_with('&')
    }

    /// Returns the file that a command in the folder `cwd` opens. `source` is the word as it is written.
    pub(super) fn open(&self, word: &str, source: &str, cwd: &str) -> Result<Opened, &'static str> {
        let access = match &*self.operator {
            "<" => Access::Read,
            ">" | ">>" | ">|" | "&>" | "&>>" => Access::Write,
            ">&" | "<&"
                if source.len() == 1 && source.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                return Ok(Opened::Descriptor);
            }
            _ => return Err("a redirection that shells read in different ways"),
        };
        if word == "/dev/null" {
            return Ok(Opened::Nothing);
        }
        // A `..` after a link leads elsewhere than the path says.
        if word.starts_with('/') || word.split('/').any(|segment| segment == "..") {
            return Err("a redirection to a path that is absolute or has `..`");
        }
        let path = Normaliser::Path.apply(&format!("{cwd}/{word}"));
        match path {
            Ok(path) if !word.is_empty() && path != "." => Ok(Opened::File(access, path)),
            _ => Err("a redirection to a path that is not valid"),
        }
    }
}
