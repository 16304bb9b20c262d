//! [`WireNames`]: tool names as providers allow them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;

use crate::{Digest, ToolName};

/// The names of a tool set as they are spelt for providers: `^[a-zA-Z0-9_-]{1,64}$`, which OpenAI and Anthropic both accept.
///
/// - Each spelling belongs to exactly one tool of the set.
/// - A valid name is its own spelling. In other names, `_` replaces each invalid character.
/// - If such a spelling is too long or collides with another, eight digits of the name's digest make it unique.
/// - The spellings depend on the set of names, but not on their order.
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
    /// The names whose spelling has a digest instead of being [`plain_spelling`]. Usually empty.
    with_digest: BTreeMap<ToolName, String>,
}

impl WireNames {
    /// The maximum length of a spelling, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Creates the spellings of a set of names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a ToolName>) -> Self {
        let mut claims: Vec<(String, &ToolName)> = names.into_iter().map(|name| (legal(name), name)).collect();
        claims.sort();
        claims.dedup();
        // Plain spellings are assigned first, so that a digest never displaces one.
        let (mut plain, mut rest) = (Vec::with_capacity(claims.len()), Vec::new());
        for rivals in claims.chunk_by_mut(|(one, _), (other, _)| one == other) {
            let is_alone = rivals.len() == 1;
            for (spelling, name) in rivals {
                let is_plain = spelling.len() <= Self::MAX_LENGTH && (is_alone || *spelling == name.as_str());
                if is_plain {
                    plain.push((mem::take(spelling), name.clone()));
                } else {
                    rest.push(*name);
                }
            }
        }
        let mut table = Self { tools: plain.into_iter().collect(), with_digest: BTreeMap::new() };
        for name in rest {
            let spelling = table.first_free(name);
            table.with_digest.insert(name.clone(), spelling.clone());
            table.tools.insert(spelling, name.clone());
        }
        table
    }

    /// Returns the spelling of a name. For a name outside the set, such as one in an older message, the spelling is valid but may
    /// belong to another tool.
    pub fn spelling(&self, name: &str) -> Cow<'_, str> {
        match self.with_digest.get(name) {
            Some(spelling) => Cow::Borrowed(spelling),
            None => Cow::Owned(plain_spelling(name)),
        }
    }

    /// Returns the spelling of a name if it has a digest. Returns `None` if the spelling is the [plain](plain_spelling) one.
    pub fn spelling_with_digest(&self, name: &ToolName) -> Option<&str> {
        self.with_digest.get(name).map(String::as_str)
    }

    /// Returns the name with this spelling. Returns `None` if no name of the set has it.
    pub fn tool(&self, spelling: &str) -> Option<&ToolName> {
        self.tools.get(spelling)
    }

    /// Returns the first unused spelling with a digest. Terminates, because the set is finite and each salt gives another digest.
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

/// Returns the spelling of a name that collides with no other name.
pub fn plain_spelling(name: &str) -> String {
    let mut spelling = legal(name);
    spelling.truncate(WireNames::MAX_LENGTH);
    spelling
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Replaces invalid characters with `_`. Returns `_` for an empty name. The result may be too long.
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

/// Returns the first `length` bytes of an ASCII text.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.len().min(length)]
}
