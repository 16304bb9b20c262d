//! [`Extent`]: the size of a JSON value.

use super::{Kind, Node};

/// The depth at which walking stops. More than [`MAX_DEPTH`](super::MAX_DEPTH), and far below a stack overflow.
const DEEPEST: usize = 512;

/// The size of a JSON value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extent {
    /// The levels of arrays and objects: 0 for a scalar. Deeper values than 512 count as 512.
    pub depth: usize,
    /// The number of values and keys.
    pub values: usize,
    /// An upper bound of the total length of strings and keys, in bytes.
    pub text: usize,
    /// True if a number is an integer beyond 64 bits.
    pub has_big_integer: bool,
}

impl Extent {
    /// Returns an upper bound of the length as JSON text without white space, in bytes. A byte of a string becomes at most six bytes,
    /// and the longest float with its separators has fewer than 34.
    pub fn max_encoded_len(self) -> usize {
        self.text
            .saturating_mul(6)
            .saturating_add(self.values.saturating_mul(34))
    }

    pub(super) fn walk(node: Node<'_>) -> Self {
        let mut extent = Self::default();
        extent.add(node, 0);
        extent
    }

    fn add(&mut self, node: Node<'_>, outer: usize) {
        self.values += 1;
        match node.kind() {
            Kind::String(string) => self.text = self.text.saturating_add(string.len()),
            Kind::Float(_) | Kind::BigInteger(_) => self.has_big_integer |= node.is_big_integer(),
            Kind::Array if self.enter(outer) => node
                .elements()
                .for_each(|element| self.add(element, outer + 1)),
            Kind::Object if self.enter(outer) => {
                for (key, member) in node.members() {
                    self.values += 1;
                    self.text = self.text.saturating_add(key.len());
                    self.add(member, outer + 1);
                }
            }
            _ => {}
        }
    }

    /// Records a container below `outer` levels. Returns true if it should be walked; an unwalked one counts as unlimited text.
    fn enter(&mut self, outer: usize) -> bool {
        self.depth = self.depth.max(outer + 1);
        if self.depth == DEEPEST {
            // A value that is not walked must count as too large, not as small.
            self.text = usize::MAX;
        }
        self.depth < DEEPEST
    }
}
