//! [`Tree`]: arguments as they are read, checked and handed on.
//!
//! A tree is two buffers: the text, and a flat list of marks that say where in the text each value stands. A `Value` is built
//! only where one is asked for.

mod access;
mod build;
mod deserialize;
mod key;
mod node;
mod read;

use serde_json::Value;

use self::node::Mark;

pub(crate) use self::deserialize::{Floats, Reader};
pub(crate) use self::node::{Elements, Members, Node};

/// A JSON value, flat. The first mark is the root; the marks of what is inside a container follow its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// What was read.
    text: String,
    /// Strings that do not stand in the text as they are: those with escapes, and those of a tree made from a value.
    other: String,
    marks: Vec<Mark>,
    /// The places of the keys of each large object, in the order of the keys.
    sorted: Vec<u32>,
    depth: usize,
    /// Whether one of its numbers is an integer beyond 64 bits.
    has_wide: bool,
}

/// A value that nests too deep, or is too large, to be a tree.
#[derive(Debug)]
pub(crate) struct Unfit;

impl Tree {
    /// The whole text, read strictly: no object has a key twice, and nothing nests deeper than
    /// [`MAX_DEPTH`](crate::strict::MAX_DEPTH).
    ///
    /// # Errors
    /// The text, when it is refused; [`strict::read`](crate::strict::read) says why.
    pub(crate) fn read(text: String) -> Result<Self, String> {
        read::read(text)
    }

    /// A value.
    ///
    /// # Errors
    /// [`Unfit`] when it nests deeper than [`MAX_DEPTH`](crate::strict::MAX_DEPTH), or has more than 4 GiB of text.
    pub(crate) fn of_value(value: &Value) -> Result<Self, Unfit> {
        build::build(value)
    }

    /// The whole value.
    pub(crate) fn root(&self) -> Node<'_> {
        Node::root(self)
    }

    /// How many values and keys it has.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    /// Levels of arrays and objects.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// No fewer bytes than all its strings and keys have together.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len() + self.other.len()
    }

    /// Returns true if one of its numbers is an integer beyond 64 bits, which no `Value` holds.
    pub(crate) fn has_wide(&self) -> bool {
        self.has_wide
    }

    /// Returns true if one of its numbers is written with a fraction or an exponent and is an integer all the same.
    pub(crate) fn has_integral_float(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::Float(number) if deserialize::integer(*number).is_some()))
    }

    /// Makes it the tree of one string.
    pub(crate) fn set_string(&mut self, string: &str) {
        self.other.clear();
        self.marks.clear();
        self.sorted.clear();
        self.text.clear();
        self.text.push_str(string);
        // The name of a property: no longer than the tree it comes from may be.
        self.marks.push(Mark::Plain { start: 0, len: string.len() as u32 });
    }
}

#[cfg(test)]
mod tests;
