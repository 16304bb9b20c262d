//! [`Tree`]: arguments as they are read, checked and handed on.
//!
//! Building a `serde_json::Value` costs two to three times a typed parse: an allocation for each string and each object. A
//! tree is two buffers, the text and a flat list of nodes that say where in the text they stand, and both are used again by
//! the thread's next call. A `Value` is built only for who asks for one.

mod build;
mod deserialize;
mod node;
mod read;
mod spare;

use serde_json::Value;

use self::node::Mark;

pub(crate) use self::node::{Elements, Members, Node};
pub(crate) use self::spare::{Loan, keep_text, text as spare_text};

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
}

/// A value that nests too deep, or is too large, to be a tree.
#[derive(Debug)]
pub(crate) struct Unfit;

impl Tree {
    const fn new() -> Self {
        Self { text: String::new(), other: String::new(), marks: Vec::new(), sorted: Vec::new(), depth: 0 }
    }

    /// The whole text, read strictly: no object has a key twice, and nothing nests deeper than
    /// [`MAX_DEPTH`](crate::strict::MAX_DEPTH).
    ///
    /// # Errors
    /// The text, when it is refused; [`strict::read`](crate::strict::read) says why.
    pub(crate) fn read(text: String) -> Result<Loan, String> {
        read::read(text)
    }

    /// A value.
    ///
    /// # Errors
    /// [`Unfit`] when it nests deeper than [`MAX_DEPTH`](crate::strict::MAX_DEPTH), or has more than 4 GiB of text.
    pub(crate) fn of_value(value: &Value) -> Result<Loan, Unfit> {
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

    /// Makes it the tree of one string.
    pub(crate) fn set_string(&mut self, string: &str) {
        self.clear();
        self.text.push_str(string);
        // The name of a property: no longer than the tree it comes from may be.
        self.marks.push(Mark::Plain { start: 0, len: string.len() as u32 });
    }

    fn clear(&mut self) {
        self.text.clear();
        self.other.clear();
        self.marks.clear();
        self.sorted.clear();
        self.depth = 0;
    }
}

#[cfg(test)]
mod tests;
