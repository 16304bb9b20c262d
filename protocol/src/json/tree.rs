//! [`Tree`]: JSON text with a flat list of its values.

/// How many members an object may have before lookups use a sorted list of its keys.
pub(super) const FEW: usize = 16;

/// A JSON text and, in [`marks`](Self::marks), where each of its values stands. The first mark is the root; the marks of
/// the values inside a container follow the container's own.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) text: String,
    /// Strings that had escapes, and the digits of integers beyond 64 bits.
    pub(super) other: String,
    pub(super) marks: Vec<Mark>,
    /// For each object with more than [`FEW`] members, the places of its keys in the order of the keys.
    pub(super) sorted: Vec<u32>,
    /// Levels of arrays and objects.
    pub(super) depth: usize,
    /// True if a number is an integer beyond 64 bits.
    pub(super) has_big_integer: bool,
}

/// A tree of nothing.
pub(super) static EMPTY: Tree = Tree {
    text: String::new(),
    other: String::new(),
    marks: Vec::new(),
    sorted: Vec::new(),
    depth: 0,
    has_big_integer: false,
};

/// One value of a tree. Lengths and places are in bytes of a text, which has at most 4 GiB.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Always below 0.
    Negative(i64),
    /// A number with a fraction or an exponent, or `-0`.
    Float(f64),
    /// The digits of an integer beyond 64 bits, with its sign, in [`Tree::other`].
    BigInteger {
        start: u32,
        len: u32,
    },
    /// A string without escapes, in [`Tree::text`].
    Plain {
        start: u32,
        len: u32,
    },
    /// A string that had escapes, in [`Tree::other`].
    Unescaped {
        start: u32,
        len: u32,
    },
    /// `end` is the place after its last element.
    Array {
        len: u32,
        end: u32,
    },
    /// Its members are pairs of a string and a value. `sorted` is where the order of its keys begins, if it has many.
    Object {
        len: u32,
        end: u32,
        sorted: u32,
    },
}

impl Tree {
    /// Returns the mark at a place. A tree without marks, which only a default is, reads as `null`.
    #[inline]
    pub(super) fn mark(&self, place: u32) -> Mark {
        self.marks.get(place as usize).copied().unwrap_or(Mark::Null)
    }

    /// Returns the string or the digits of a mark. Returns `None` for any other value.
    #[inline]
    pub(super) fn string(&self, mark: Mark) -> Option<&str> {
        mark.string(&self.text, &self.other)
    }
}

impl Mark {
    /// Returns the string or the digits, from the text of a tree or from its other strings.
    #[inline]
    pub(super) fn string<'a>(self, text: &'a str, other: &'a str) -> Option<&'a str> {
        let (source, start, len) = match self {
            Self::Plain { start, len } => (text, start, len),
            Self::Unescaped { start, len } | Self::BigInteger { start, len } => (other, start, len),
            _ => return None,
        };
        source.get(start as usize..start as usize + len as usize)
    }

    /// Returns the place after the value at `place` and everything inside it.
    #[inline]
    pub(super) fn end(self, place: u32) -> u32 {
        match self {
            Self::Array { end, .. } | Self::Object { end, .. } => end,
            _ => place + 1,
        }
    }
}
