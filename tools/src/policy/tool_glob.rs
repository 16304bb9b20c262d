//! [`ToolGlob`]: a glob over tool names.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use protocol::ToolNames;

/// A glob over tool names, with its text. `*` also matches dots and slashes. Equality compares the texts.
#[derive(Clone)]
pub struct ToolGlob {
    text: String,
    glob: GlobMatcher,
}

impl ToolGlob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// Returns the reason if the text is empty or no glob.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        // A tool name is not a path: it has no separators, and escapes are the same on every platform.
        let glob = GlobBuilder::new(text)
            .literal_separator(false)
            .backslash_escape(true)
            .build();
        let glob = glob
            .map_err(|error| error.kind().to_string())?
            .compile_matcher();
        Ok(Self {
            text: text.to_owned(),
            glob,
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the glob matches the name or a former name of the tool.
    pub fn matches<'a>(&self, tool: impl Into<ToolNames<'a>>) -> bool {
        tool.into()
            .iter()
            .any(|name| self.glob.is_match(name.as_str()))
    }
}

impl fmt::Debug for ToolGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for ToolGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ToolGlob {}
