//! [`Target`]: a resource that a call accesses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::dot_segment::has_dot_segment;
use crate::invalid_target::InvalidTarget;
use crate::name::ToolName;
use crate::normalise;
use crate::words::Words;

/// A resource that a call accesses, with the access: `fs:read:src/main.rs`.
///
/// The scheme names the kind of resource: 1 to 32 of `[a-z0-9+.-]`, a letter first. The rules for the value depend on it:
///
/// - `fs`: a path below the workspace root, kept [normalised](crate::Normaliser::Path). Escapes such as `%2e` are literal text.
/// - `exec`: a command, as a list of [words](Words) in its canonical text: `exec:write:cargo test --workspace`. In a text over
///   [`MAX_LENGTH`](Self::MAX_LENGTH), a digest of the whole takes the place of the last words: `exec:write:echo #sha256:…`.
/// - `world`: a tool name, for tools with unbounded effects.
/// - Other schemes: text kept as it is. Segments that URL parsers resolve to `.` or `..`, such as `%2e%2e` and `..;x=y`, are
///   rejected.
///
/// No value contains control characters.
///
/// ```
/// use protocol::{Access, Target};
///
/// let target = Target::new(Access::Read, "fs", "src/../README.md")?;
/// assert_eq!(target.to_string(), "fs:read:README.md");
/// assert!(Target::new(Access::Read, "fs", "../secret").is_err());
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    scheme: String,
    access: Access,
    value: String,
}

impl Target {
    /// The maximum length of a value, in bytes. A longer list of words is cut.
    pub const MAX_LENGTH: usize = InvalidTarget::MAX_LENGTH;

    /// The scheme for tools with undeclared or unbounded effects.
    pub(crate) const UNBOUNDED_SCHEME: &str = "world";

    /// The scheme for commands.
    pub(crate) const COMMAND_SCHEME: &str = "exec";

    /// The scheme for jobs, which run later.
    pub(crate) const JOB_SCHEME: &str = "cron";

    /// Creates a target and normalises its value.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if the scheme or the value breaks a rule of [`Target`].
    pub fn new(
        access: Access,
        scheme: &str,
        value: impl Into<String>,
    ) -> Result<Self, InvalidTarget> {
        InvalidTarget::check_scheme(scheme)?;
        let value = value.into();
        if scheme == Self::COMMAND_SCHEME {
            return Ok(Self {
                scheme: scheme.to_owned(),
                access,
                value: value.parse::<Words>()?.to_value(),
            });
        }
        if value.is_empty() {
            return Err(InvalidTarget::Empty);
        }
        if value.len() > Self::MAX_LENGTH {
            return Err(InvalidTarget::TooLong {
                length: value.len(),
            });
        }
        InvalidTarget::check_control(&value)?;
        let value = match scheme {
            "fs" => normalise::path(value)?,
            // In tool names, dots have no meaning.
            "world" => value,
            // The pattern `docs/**` must not cover a value that a server resolves to `docs/../secret`.
            _ if has_dot_segment(&value) => {
                return Err(InvalidTarget::DotSegment {
                    value: InvalidTarget::excerpt(&value),
                });
            }
            _ => value,
        };
        Ok(Self {
            scheme: scheme.to_owned(),
            access,
            value,
        })
    }

    /// Creates `world:write:<tool name>`, the target of a tool with undeclared or unbounded effects.
    pub fn unbounded(tool: &ToolName) -> Self {
        Self {
            scheme: Self::UNBOUNDED_SCHEME.to_owned(),
            access: Access::Write,
            value: tool.to_string(),
        }
    }

    /// Returns the access.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the command, if the scheme is `exec`.
    pub fn command(&self) -> Option<Words> {
        (self.scheme == Self::COMMAND_SCHEME)
            .then(|| self.value.parse().ok())
            .flatten()
    }

    /// Returns true if the target is a command with [words that are not known](Words::is_known) before it runs. It is always asked about.
    pub fn has_unknown_words(&self) -> bool {
        self.command().is_some_and(|command| !command.is_known())
    }

    /// Returns the value, normalised.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.scheme, self.access, self.value)
    }
}

crate::text_form::text_form!(Target, InvalidTarget);

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let mut parts = text.splitn(3, ':');
        let (Some(scheme), Some(access), Some(value)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidTarget::Syntax {
                text: InvalidTarget::excerpt(text),
            });
        };
        Self::new(access.parse()?, scheme, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_may_contain_colons() {
        let target: Target = "net:read:[::1]".parse().unwrap();
        assert_eq!(
            (target.scheme(), target.access(), target.value()),
            ("net", Access::Read, "[::1]")
        );
    }

    #[test]
    fn dots_are_resolved_in_paths_and_refused_elsewhere() {
        assert_eq!("fs:write:a/./b".parse::<Target>().unwrap().value(), "a/b");
        for text in ["git:read:a/../b", "git:read:.", "git:read:a\\..\\b"] {
            assert!(
                matches!(
                    text.parse::<Target>(),
                    Err(InvalidTarget::DotSegment { .. })
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn every_tool_name_makes_an_unbounded_target_that_reads_back() {
        for name in ["shell", "a/../b", "..", "ns:tool", "50%25"] {
            let target = Target::unbounded(&ToolName::new(name).unwrap());
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }
}
