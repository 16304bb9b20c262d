//! [`Tree`]: parsed JSON text with a flat list of its values.

/// The number of members up to which an object is searched linearly. Larger objects have a sorted list of keys.
pub(super) const MAX_UNSORTED: usize = 16;

/// A JSON text and the [`marks`](Self::marks) of its values. The first mark is the root; the marks of a container's values follow
/// its own mark.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) text: String,
    /// The decoded strings that had escapes, and the digits of integers beyond 64 bits.
    pub(super) other: String,
    pub(super) marks: Vec<Mark>,
    /// For each object with more than [`MAX_UNSORTED`] members, the indexes of its keys, sorted by key.
    pub(super) sorted: Vec<u32>,
    /// The levels of arrays and objects.
    pub(super) depth: usize,
    /// True if a number is an integer beyond 64 bits.
    pub(super) has_big_integer: bool,
}

/// The empty tree.
pub(super) static EMPTY: Tree = Tree {
    text: String::new(),
    other: String::new(),
    marks: Vec::new(),
    sorted: Vec::new(),
    depth: 0,
    has_big_integer: false,
};

/// One value of a tree. `start` and `len` of strings are in bytes of a text of at most 4 GiB; `end` is an index of a mark.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// A number below 0.
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
    /// An array of `len` elements. `end` is the index after its last element.
    Array {
        len: u32,
        end: u32,
    },
    /// An object of `len` members, each a string and a value. `sorted` is the start of its keys in [`Tree::sorted`].
    Object {
        len: u32,
        end: u32,
        sorted: u32,
    },
}

impl Tree {
    /// Returns the mark at an index, or [`Mark::Null`] beyond the end, as in the empty tree.
    #[inline]
    pub(super) fn mark(&self, place: u32) -> Mark {
        self.marks
            .get(place as usize)
            .copied()
            .unwrap_or(Mark::Null)
    }

    /// Returns the string or the digits of a mark. Returns `None` for other marks.
    #[inline]
    pub(super) fn string(&self, mark: Mark) -> Option<&str> {
        mark.string(&self.text, &self.other)
    }
}

impl Mark {
    /// Returns the string or the digits, given [`Tree::text`] and [`Tree::other`]. Returns `None` for other marks.
    #[inline]
    pub(super) fn string<'a>(self, text: &'a str, other: &'a str) -> Option<&'a str> {
        let (source, start, len) = match self {
            Self::Plain { start, len } => (text, start, len),
            Self::Unescaped { start, len } | Self::BigInteger { start, len } => (other, start, len),
            _ => return None,
        };
        source.get(start as usize..start as usize + len as usize)
    }

    /// Returns the index after the value at `place` and all its descendants.
    #[inline]
    pub(super) fn end(self, place: u32) -> u32 {
        match self {
            Self::Array { end, .. } | Self::Object { end, .. } => end,
            _ => place + 1,
        }
    }
}
