//! [`ServerName`]: the name of a server, and the names of its tools in a catalog.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use tools::protocol::InvalidName;
use tools::{Digest, ToolName};

/// The name of an MCP server: 1 to 64 characters of `[A-Za-z0-9_.-]`, at least one of them a letter or a digit.
///
/// Its tools are named `mcp:<server>/<tool>` in a catalog. Characters of a tool's name that a [`ToolName`] cannot have are
/// percent-escaped. Two suffixes begin with a `%` that no escape has, so no other name has the same form:
///
/// - `%-2`, `%-3`, … follow the name of a tool that has the name of an earlier one. An empty name is `%-1`.
/// - `%.` and 32 hexadecimal digits of a digest follow the beginning of a name that is too long.
///
/// ```
/// use tools_mcp::client::ServerName;
///
/// let name: ServerName = "github".parse()?;
/// assert_eq!(name.as_str(), "github");
/// assert!("git/hub".parse::<ServerName>().is_err());
/// # Ok::<(), tools_mcp::client::InvalidServerName>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

/// The error for a text that is not a [`ServerName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} cannot be the name of an MCP server; use 1 to {} of A-Z a-z 0-9 _ . -, one of them a letter or a digit",
    ServerName::MAX_LENGTH
)]
#[non_exhaustive]
pub struct InvalidServerName {
    /// The text as given, cut after 80 characters.
    pub name: String,
}

/// The number of characters of a long name that precede its digest. Escaped, they have at most 12 times as many.
const KEPT: usize = 32;

/// The number of hexadecimal digits of the digest in a shortened name.
const DIGITS: usize = 32;

impl ServerName {
    /// The maximum length of a name, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Parses a name.
    ///
    /// # Errors
    /// Returns [`InvalidServerName`] if the text is empty, too long or has other characters.
    pub fn new(name: impl AsRef<str>) -> Result<Self, InvalidServerName> {
        let name = name.as_ref();
        let mut bytes = name.bytes();
        let is_allowed = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        let has_word = name.bytes().any(|byte| byte.is_ascii_alphanumeric());
        if name.len() > Self::MAX_LENGTH || !has_word || !is_allowed {
            return Err(InvalidServerName {
                name: name.chars().take(80).collect(),
            });
        }
        Ok(Self(name.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name in a catalog of the server's tool with this name. `ordinal` counts the tools with the same name, from 1.
    pub(crate) fn tool_name(&self, tool: &str, ordinal: usize) -> Result<ToolName, InvalidName> {
        let suffix = if ordinal > 1 || tool.is_empty() {
            format!("%-{ordinal}")
        } else {
            String::new()
        };
        let others = "mcp:/".len() + self.0.len() + suffix.len();
        match ToolName::from_foreign(tool) {
            Ok(escaped) if others + escaped.len() <= ToolName::MAX_LENGTH => {
                ToolName::new(format!("mcp:{self}/{escaped}{suffix}"))
            }
            Err(InvalidName::Empty) => ToolName::new(format!("mcp:{self}/{suffix}")),
            Ok(_) | Err(InvalidName::TooLong { .. }) => {
                let begin = ToolName::from_foreign(&tool.chars().take(KEPT).collect::<String>())?;
                let digest =
                    Digest::hash_bytes(format!("{ordinal}\n{tool}").as_bytes()).to_string();
                ToolName::new(format!("mcp:{self}/{begin}%.{}", &digest[..DIGITS]))
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for ServerName {
    type Err = InvalidServerName;

    fn from_str(name: &str) -> Result<Self, InvalidServerName> {
        Self::new(name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;
    use tools::protocol::wire::NameGrammar;

    use super::*;

    fn server(name: &str) -> ServerName {
        ServerName::new(name).unwrap()
    }

    #[test]
    fn a_name_has_letters_digits_and_three_separators() {
        for name in ["a", "github", "My-server_2.0", "0", &"x".repeat(64)] {
            assert_eq!(server(name).as_str(), name);
        }
        for name in [
            "",
            ".",
            "..",
            "-",
            "a/b",
            "a b",
            "a:b",
            "a%20",
            "ä",
            "a\u{200b}",
            &"x".repeat(65),
        ] {
            assert!(ServerName::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_tools_name_is_qualified_and_escaped_without_loss() {
        let server = server("s");
        for tool in [
            "read",
            "a/b",
            "weather in 東京",
            "50%",
            "%-2",
            "%2F",
            "a\u{202e}b",
            ".",
        ] {
            let name = server.tool_name(tool, 1).unwrap();
            assert_eq!(
                name,
                ToolName::from_foreign(&format!("mcp:s/{tool}")).unwrap()
            );
        }
        assert_eq!(server.tool_name("read", 1).unwrap(), "mcp:s/read");
        assert_eq!(server.tool_name("read", 2).unwrap(), "mcp:s/read%-2");
        assert_eq!(server.tool_name("", 1).unwrap(), "mcp:s/%-1");
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_differs_from_others() {
        let server = server(&"s".repeat(64));
        let mut names = HashSet::new();
        for tool in [
            "x".repeat(600),
            "x".repeat(601),
            "東".repeat(600),
            "x".repeat(442),
            "x".repeat(443),
        ] {
            for ordinal in 1..4 {
                let name = server.tool_name(&tool, ordinal).unwrap();
                assert!(name.starts_with(&format!("mcp:{server}/")), "{name}");
                assert!(names.insert(name));
            }
        }
        assert!(
            server
                .tool_name(&"東".repeat(600), 1)
                .unwrap()
                .contains(&"%E6%9D%B1".repeat(KEPT))
        );
    }

    proptest! {
        #[test]
        fn no_tool_has_the_name_or_the_wire_name_of_another(
            tools in prop::collection::hash_set(
                (prop::sample::select(vec!["a", "a.b", "a-b", "a_b", "A", "a--b"]), "[-a%_./: 東2]{0,6}|x{440,460}", 1..4usize), 0..16,
            ),
        ) {
            let mut seen = HashMap::new();
            for (name, tool, ordinal) in tools {
                let tool_name = server(name).tool_name(&tool, ordinal).unwrap();
                for grammar in [NameGrammar::Provider, NameGrammar::Gemini, NameGrammar::Mcp] {
                    let wire = grammar.encode(&tool_name).into_owned();
                    prop_assert!(grammar.allows(&wire));
                    let earlier = seen.insert((grammar, wire), (name, tool.clone(), ordinal));
                    prop_assert!(earlier.is_none(), "{earlier:?} and {name} {tool:?} {ordinal}");
                }
            }
        }
    }
}
