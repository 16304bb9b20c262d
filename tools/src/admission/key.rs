//! [`Key`]: a target of a call, in a form for finding conflicts.

use std::sync::Arc;

use protocol::{Access, Target, Words};

/// A target of a call, within the domain of its scheme.
///
/// The text consists of scheme, domain and value. A path or a command ends in `/`, so that it contains another exactly if its text is
/// a prefix of the other's. The encoding is unambiguous: scheme and value have no control characters, and the domain has a length prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(super) text: Arc<str>,
    pub(super) writes: bool,
    pub(super) reach: Reach,
}

/// The other keys that a key overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Only equal keys, such as a host or a name.
    Exact,
    /// A path or a command: its ancestors and descendants. `root` is the offset of the value in the text.
    Tree { root: usize },
    /// Only equal keys: the name of a tool that declares no targets.
    World,
}

impl Key {
    /// Creates the key of a target within the domain of its scheme.
    pub(crate) fn new(target: &Target, domain: &str) -> Self {
        let scheme = target.scheme();
        let value = target.value();
        let mut text = String::with_capacity(scheme.len() + domain.len() + value.len() + 12);
        text.push_str(scheme);
        text.push('\0');
        // A separator would not do: a domain may have any character, and could imitate the beginning of a path.
        text.extend((domain.len() as u64).to_le_bytes().map(char::from));
        text.push_str(domain);
        text.push('\0');
        let reach = match scheme {
            "fs" => {
                let root = text.len();
                text.push('/');
                // The root itself is the prefix of all paths.
                if value != "." {
                    text.push_str(value);
                    text.push('/');
                }
                Reach::Tree { root }
            }
            "exec" => {
                let root = text.len();
                text.push('/');
                // A command with unknown words can be any other. Known ones are alternatives below it, without folders of their own.
                if value.parse::<Words>().is_ok_and(|words| words.is_known()) {
                    text.extend(value.chars().map(|c| if c == '/' { '\0' } else { c }));
                    text.push('/');
                }
                Reach::Tree { root }
            }
            "world" => {
                text.push_str(value);
                Reach::World
            }
            _ => {
                text.push_str(value);
                Reach::Exact
            }
        };
        Self {
            text: text.into(),
            // Two removals of one path conflict as two writes do.
            writes: target.access() != Access::Read,
            reach,
        }
    }

    /// Returns true if the keys overlap.
    #[cfg(all(test, not(shuttle)))]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self.reach, other.reach) {
            (Reach::Tree { .. }, Reach::Tree { .. }) => {
                self.text.starts_with(&*other.text) || other.text.starts_with(&*self.text)
            }
            _ => self.text == other.text,
        }
    }

    /// Returns true if every call that conflicts with the other key conflicts with this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_inside = match self.reach {
            Reach::Tree { .. } => other.text.starts_with(&*self.text),
            Reach::Exact | Reach::World => self.text == other.text,
        };
        is_inside && (self.writes || !other.writes)
    }

    /// Returns the texts of the key's ancestors, the outermost first.
    pub(super) fn above(&self) -> impl Iterator<Item = &str> {
        let root = match self.reach {
            Reach::Tree { root } => root,
            Reach::Exact | Reach::World => self.text.len(),
        };
        let ends = self.text.match_indices('/').map(|(at, _)| at + 1);
        ends.filter(move |end| *end > root && *end < self.text.len())
            .map(|end| &self.text[..end])
    }
}
