//! [`WireNames`]: the names of a tool set, as providers allow them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;

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
    tools: BTreeMap<String, ToolName>,
    /// The names whose spelling is not [`plain_spelling`]: in most sets none.
    respelt: BTreeMap<ToolName, String>,
}

impl WireNames {
    /// The greatest length of a spelling, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Creates the table of these tools.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a ToolName>) -> Self {
        let mut claims: Vec<(String, &ToolName)> = names.into_iter().map(|name| (legal(name), name)).collect();
        claims.sort();
        claims.dedup();
        // Plain spellings go first: a digest gives way to them, never the other way round.
        let (mut plain, mut crowded) = (Vec::with_capacity(claims.len()), Vec::new());
        for rivals in claims.chunk_by_mut(|(one, _), (other, _)| one == other) {
            let is_alone = rivals.len() == 1;
            for (spelling, name) in rivals {
                let is_plain = spelling.len() <= Self::MAX_LENGTH && (is_alone || *spelling == name.as_str());
                if is_plain {
                    plain.push((mem::take(spelling), name.clone()));
                } else {
                    crowded.push(*name);
                }
            }
        }
        let mut table = Self { tools: plain.into_iter().collect(), respelt: BTreeMap::new() };
        for name in crowded {
            let spelling = table.first_free(name);
            table.respelt.insert(name.clone(), spelling.clone());
            table.tools.insert(spelling, name.clone());
        }
        table
    }

    /// Returns the spelling of a name. A name outside of the set, such as one in an older message, gets a legal spelling that
    /// may be another tool's.
    pub fn spelling(&self, name: &str) -> Cow<'_, str> {
        match self.respelt.get(name) {
            Some(spelling) => Cow::Borrowed(spelling),
            None => Cow::Owned(plain_spelling(name)),
        }
    }

    /// Returns the spelling of a tool of the set if it is not the [plain](plain_spelling) one.
    pub fn spelling_with_digest(&self, name: &ToolName) -> Option<&str> {
        self.respelt.get(name).map(String::as_str)
    }

    /// Returns the tool of that spelling, or `None` if the set has none.
    pub fn tool(&self, spelling: &str) -> Option<&ToolName> {
        self.tools.get(spelling)
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

/// Returns the spelling of a name in a set where no other tool wants it.
pub fn plain_spelling(name: &str) -> String {
    let mut spelling = legal(name);
    spelling.truncate(WireNames::MAX_LENGTH);
    spelling
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Only letters that are allowed, at least one; it may be too long.
fn legal(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    let mut spelling = String::with_capacity(name.len());
    spelling.extend(name.chars().map(|c| if is_allowed(c) { c } else { '_' }));
    spelling
}

fn digested(name: &str, salt: u64) -> String {
    const DIGITS: usize = 8;
    let digest = Digest::hash_bytes(format!("{name} {salt}").as_bytes()).to_string();
    let legal = legal(name);
    format!("{}_{}", cut(&legal, WireNames::MAX_LENGTH - DIGITS - 1), cut(&digest, DIGITS))
}

/// The beginning of an ASCII text.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.len().min(length)]
}
