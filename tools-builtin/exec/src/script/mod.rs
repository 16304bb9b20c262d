//! Reads a shell script before it runs: the commands and files that it names, and whether it can do anything else.
//!
//! [`Script::parse`] relies on two readings that must agree: the syntax tree of tree-sitter, and this module's own rules about words,
//! blanks and line ends, which are stricter than the shell's. A script in which they do not agree is opaque.

mod builtins;
mod readings;
mod reason;
mod tree;
mod word;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tools::protocol::{Access, Words, is_invisible};
use tools::schemars::{self, JsonSchema};
use tree_sitter::{ParseOptions, Parser, Tree};

use self::readings::Readings;
pub(crate) use reason::Reason;

/// The readings of all calls of this process.
static READINGS: Readings = Readings::new();

/// A shell of `exec.shell`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shell {
    /// The language of bash.
    #[default]
    Bash,
    /// The language of any POSIX shell.
    Sh,
}

/// The commands and files of a script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// The simple commands, also those of substitutions, functions and loops, each once.
    pub(crate) commands: Vec<Words>,
    /// The files that redirections open, as paths below the workspace root, each once.
    pub(crate) files: Vec<(Access, String)>,
    /// Reasons why the script can do more than it names. A script without a reason is *transparent*, others are *opaque*.
    pub(crate) reasons: Vec<Reason>,
    /// The transparent script with every word in quotes. It means the same in every shell, whatever the shell reads into plain words.
    pub(crate) quoted: Option<String>,
}

/// A script that cannot run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScriptError {
    #[error("the script has {0} bytes, more than {max}; write it to a file of the workspace and run that", max = Script::MAX_BYTES)]
    TooLong(usize),
    #[error("the script has a NUL, which no shell reads; leave it out")]
    Nul,
    #[error("the script has no command; write one")]
    Empty,
    #[error("the script takes too long to read; write it to a file of the workspace and run that")]
    TooSlow,
}

impl Script {
    /// The maximum length of a script, in bytes.
    pub(crate) const MAX_BYTES: usize = 16 * 1024;

    /// The most time for the parser, which takes quadratic time for some scripts. The longest plain script takes a tenth of it.
    const MAX_TIME: Duration = Duration::from_millis(200);

    /// Reads a script that runs in the folder `cwd`, a path below the workspace root. The latest readings are kept, because a call needs
    /// its own several times: for its targets, its preview and its run.
    ///
    /// # Errors
    /// Returns [`ScriptError`] if the script is too long, has a NUL or no command, or if the parser takes too long for it. The last one
    /// depends on the machine, so that such a script does not run: another reading of the call may have judged it by its commands.
    pub(crate) fn read(text: &str, dialect: Shell, cwd: &str) -> Result<Arc<Self>, ScriptError> {
        READINGS.get(text, dialect, cwd)
    }

    /// Parses a script.
    fn parse(text: &str, dialect: Shell, cwd: &str) -> Result<Self, ScriptError> {
        Self::parse_within(Self::MAX_TIME, text, dialect, cwd)
    }

    fn parse_within(
        max_time: Duration,
        text: &str,
        dialect: Shell,
        cwd: &str,
    ) -> Result<Self, ScriptError> {
        if text.len() > Self::MAX_BYTES {
            return Err(ScriptError::TooLong(text.len()));
        }
        if text.contains('\0') {
            return Err(ScriptError::Nul);
        }
        let tree = tree(text, max_time).ok_or(ScriptError::TooSlow)?;
        let script = tree::read(&tree, text, dialect, cwd);
        if script.commands.is_empty() && script.reasons.is_empty() {
            return Err(ScriptError::Empty);
        }
        Ok(script)
    }

    /// Makes the script opaque for a reason outside of its text.
    pub(crate) fn make_opaque(&mut self, what: &'static str) {
        self.quoted = None;
        self.reasons.push(Reason::outside(what));
    }
}

/// Returns the first character that the shell and a person may read in different ways. It has no place in a transparent script, not
/// even in quotes.
fn find_invisible(text: &str) -> Option<usize> {
    text.find(|c: char| is_invisible(c) && !matches!(c, '\n' | '\t'))
}

/// Returns `None` if the parser takes longer. It gets `x` for each byte that is not ASCII: there are no such characters in the syntax
/// of a shell, and the parser reads beyond its tables for some of them.
fn tree(text: &str, max_time: Duration) -> Option<Tree> {
    let ascii: Vec<u8> = text
        .bytes()
        .map(|byte| if byte.is_ascii() { byte } else { b'x' })
        .collect();
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let start = Instant::now();
    parser.parse_with_options(
        &mut |at, _| ascii.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut |_| {
            if start.elapsed() > max_time {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })),
    )
}

#[cfg(test)]
mod tests;
