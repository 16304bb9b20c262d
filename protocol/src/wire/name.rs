//! [`WireNames`]: the names of a tool set, as providers allow them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::{Digest, ToolName};

/// The spellings that the tools of one set go by on the wire: `^[a-zA-Z0-9_-]{1,64}$`, the set that OpenAI and Anthropic
/// share.
///
/// Within the set, no two tools are spelt alike, so every spelling leads back to one tool. A name that is legal as it is
/// stays; another has `_` for each character that is not, and a few digits of its digest where that would be too long or
/// would meet another tool's. The table depends on the set of names alone, not on their order.
///
/// ```
/// use protocol::{ToolName, wire::WireNames};
///
/// let read = ToolName::new("fs.read")?;
/// let names = WireNames::new([&read]);
/// assert_eq!(names.spelling("fs.read"), "fs_read");
/// assert_eq!(names.tool("fs_read"), Some(&read));
/// # Ok::<(), protocol::InvalidName>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireNames {
    spellings: BTreeMap<ToolName, String>,
    /// Those that are not spelt as they would be alone: of most sets none.
    crowded: BTreeMap<ToolName, String>,
    tools: BTreeMap<String, ToolName>,
}

impl WireNames {
    /// The greatest length of a spelling, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// The table of these tools.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a ToolName>) -> Self {
        let names: BTreeSet<&ToolName> = names.into_iter().collect();
        let mut claims: BTreeMap<String, usize> = BTreeMap::new();
        for name in &names {
            *claims.entry(legal(name)).or_default() += 1;
        }
        // Plain spellings go first, whatever the order: a digest gives way to them, never the other way round.
        let is_plain = |name: &ToolName| {
            is_legal(name) || (name.len() <= Self::MAX_LENGTH && claims.get(&legal(name)) == Some(&1))
        };
        let (plain, crowded): (Vec<&ToolName>, Vec<_>) = names.into_iter().partition(|name| is_plain(name));
        let mut table = Self::default();
        for name in plain {
            table.add(name, legal(name));
        }
        for name in crowded {
            let spelling = table.first_free(name);
            table.crowded.insert(name.clone(), spelling.clone());
            table.add(name, spelling);
        }
        table
    }

    /// How a name is spelt on the wire. A name outside of the set, such as one in an older message, gets a legal spelling
    /// that may be another tool's.
    pub fn spelling(&self, name: &str) -> Cow<'_, str> {
        match self.spellings.get(name) {
            Some(spelling) => Cow::Borrowed(spelling),
            None => Cow::Owned(plain(name)),
        }
    }

    /// The spelling of a tool of the set, where it is not the one that the name has by itself.
    #[inline]
    pub fn respelt(&self, name: &ToolName) -> Option<&str> {
        // Of most sets this is all there is to it, and not even the name has to be looked at.
        if self.crowded.is_empty() { None } else { self.spelling_in_crowd(name) }
    }

    /// The tool of that spelling, `None` where the set has none.
    pub fn tool(&self, spelling: &str) -> Option<&ToolName> {
        self.tools.get(spelling)
    }

    /// Apart, so that the loop which asks stays small.
    #[cold]
    fn spelling_in_crowd(&self, name: &ToolName) -> Option<&str> {
        self.crowded.get(name).map(String::as_str)
    }

    fn add(&mut self, name: &ToolName, spelling: String) {
        self.spellings.insert(name.clone(), spelling.clone());
        self.tools.insert(spelling, name.clone());
    }

    /// Ends: the digests differ, and only finitely many spellings are taken.
    fn first_free(&self, name: &ToolName) -> String {
        let mut salt = 0_u64;
        loop {
            let spelling = digested(name, salt);
            if !self.tools.contains_key(&spelling) {
                return spelling;
            }
            salt += 1;
        }
    }
}

/// A legal spelling, which names that are alike may share.
pub(super) fn plain(name: &str) -> String {
    let mut spelling = legal(name);
    spelling.truncate(WireNames::MAX_LENGTH);
    spelling
}

fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= WireNames::MAX_LENGTH && name.chars().all(is_allowed)
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Only letters that are allowed, at least one; it may be too long.
fn legal(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
}

fn digested(name: &str, salt: u64) -> String {
    const DIGITS: usize = 8;
    let digest = Digest::of_bytes(format!("{name} {salt}").as_bytes()).to_string();
    let legal = legal(name);
    format!("{}_{}", cut(&legal, WireNames::MAX_LENGTH - DIGITS - 1), cut(&digest, DIGITS))
}

/// The beginning of an ASCII text.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.len().min(length)]
}
