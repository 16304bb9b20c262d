//! [`Key`]: what one call needs of the world, in a form that can be compared.

use std::sync::Arc;

use protocol::{Access, Target};

/// One target of one call, below the domain that its scheme has in this context.
///
/// The text is the scheme, the domain and the value. That of a path ends in `/`, so that one path holds another exactly when its
/// text begins the other's. Neither scheme nor value has control characters, and the domain is preceded by its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(super) text: Arc<str>,
    pub(super) writes: bool,
    pub(super) reach: Reach,
}

/// What else a key touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing: a host, a name.
    Exact,
    /// What is below it and what it is below: a path. The value begins there.
    Tree { root: usize },
    /// Nothing, and it is no more than the name of a tool that does not say what it touches.
    World,
}

impl Key {
    /// The key of a target. The domain says what values of the scheme are relative to.
    pub(crate) fn new(target: &Target, domain: &str) -> Self {
        let (scheme, value) = (target.scheme(), target.value());
        let mut text = String::with_capacity(scheme.len() + domain.len() + value.len() + 12);
        text.push_str(scheme);
        text.push('\0');
        text.extend((domain.len() as u64).to_le_bytes().map(char::from));
        text.push_str(domain);
        text.push('\0');
        let reach = match scheme {
            "fs" => {
                let root = text.len();
                text.push('/');
                if value != "." {
                    text.push_str(value);
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
        Self { text: text.into(), writes: target.access() != Access::Read, reach }
    }

    /// Whether there is something that both touch.
    #[cfg(all(test, not(shuttle)))]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self.reach, other.reach) {
            (Reach::Tree { .. }, Reach::Tree { .. }) => {
                self.text.starts_with(&*other.text) || other.text.starts_with(&*self.text)
            }
            _ => self.text == other.text,
        }
    }

    /// Whether whoever has this key keeps everybody away whom the other would keep away.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_inside = match self.reach {
            Reach::Tree { .. } => other.text.starts_with(&*self.text),
            Reach::Exact | Reach::World => self.text == other.text,
        };
        is_inside && (self.writes || !other.writes)
    }

    /// The texts of everything that it is below, the outermost first.
    pub(super) fn above(&self) -> impl Iterator<Item = &str> {
        let root = match self.reach {
            Reach::Tree { root } => root,
            Reach::Exact | Reach::World => self.text.len(),
        };
        let ends = self.text.match_indices('/').map(|(at, _)| at + 1);
        ends.filter(move |end| *end > root && *end < self.text.len()).map(|end| &self.text[..end])
    }
}
