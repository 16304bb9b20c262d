//! [`WireNames`]: the wire names of a set of tools.

use std::collections::BTreeMap;

use super::NameGrammar;
use crate::name::ToolName;

/// Resolves the names in calls of a model to the tools of a set.
///
/// ```
/// use protocol::ToolName;
/// use protocol::wire::{NameGrammar, WireNames};
///
/// let (read, long) = (ToolName::new("fs.read")?, ToolName::new(format!("server.{}", "x".repeat(80)))?);
/// let names = WireNames::new(NameGrammar::Provider, [&read, &long])?;
/// assert_eq!(names.tool("fs__read"), Some(read.clone()));
/// assert_eq!(names.tool("fs.read"), Some(read));
/// assert_eq!(names.tool(&NameGrammar::Provider.encode(&long)), Some(long));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireNames {
    grammar: NameGrammar,
    /// The names whose wire form is digested. Usually empty.
    digested: BTreeMap<String, ToolName>,
}

/// Begins the text for a wire name of an unknown tool. Names of tools have no spaces, so no tool is called or blamed.
const ABSENT: &str = "not offered: ";

/// Two names of a set with the same digested form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tools {first} and {second} have the same name on the wire, {wire}; rename one of them"
)]
#[non_exhaustive]
pub struct NameCollision {
    /// The common wire form.
    pub wire: String,
    /// The first name in the order of the set.
    pub first: ToolName,
    /// The second name.
    pub second: ToolName,
}

impl WireNames {
    /// Creates the table of a set of names.
    ///
    /// # Errors
    /// Returns an error if the digests of two names agree in 96 bits.
    pub fn new<'a>(
        grammar: NameGrammar,
        names: impl IntoIterator<Item = &'a ToolName>,
    ) -> Result<Self, NameCollision> {
        Self::with_encoding(grammar, names, |name| {
            let wire = grammar.encode(name);
            grammar.decode(&wire).is_none().then(|| wire.into_owned())
        })
    }

    /// Returns the name that a model means, in the set or not: the name with this wire form, otherwise the text itself. So a tool
    /// named like the wire form of another is never called in its place, even if the other is outside the set.
    ///
    /// Returns `None` for the digested form of a name outside the set, and for a text that is no name.
    pub fn tool(&self, text: &str) -> Option<ToolName> {
        if NameGrammar::is_digested(text) {
            // The text could also be the own name of another tool, which this call does not mean.
            return self.digested.get(text).cloned();
        }
        self.grammar
            .decode(text)
            .or_else(|| ToolName::new(text).ok())
    }

    /// Returns a text that names no tool in any set, for a call by a wire name that stands for an unknown tool.
    pub fn absent(wire: &str) -> String {
        format!("{ABSENT}{wire}")
    }

    /// Returns the wire name in an [`absent`](Self::absent) text. Returns `None` for any other text.
    pub fn absent_wire(text: &str) -> Option<&str> {
        text.strip_prefix(ABSENT)
    }

    fn with_encoding<'a>(
        grammar: NameGrammar,
        names: impl IntoIterator<Item = &'a ToolName>,
        digested_form: impl Fn(&ToolName) -> Option<String>,
    ) -> Result<Self, NameCollision> {
        let mut digested = BTreeMap::new();
        for name in names {
            let Some(wire) = digested_form(name) else {
                continue;
            };
            match digested.get(&wire) {
                Some(first) if first != name => {
                    return Err(NameCollision {
                        first: ToolName::clone(first),
                        second: name.clone(),
                        wire,
                    });
                }
                _ => drop(digested.insert(wire, name.clone())),
            }
        }
        Ok(Self { grammar, digested })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_with_one_digested_form_are_refused() {
        let names = ["a", "b"].map(|name| ToolName::new(name).unwrap());
        let collision =
            WireNames::with_encoding(NameGrammar::Provider, &names, |_| Some("same".to_owned()))
                .unwrap_err();
        assert_eq!(
            (collision.first, collision.second),
            (names[0].clone(), names[1].clone())
        );
        let twice = [&names[0], &names[0]];
        assert!(
            WireNames::with_encoding(NameGrammar::Provider, twice, |_| Some("same".to_owned()))
                .is_ok()
        );
    }
}
