//! [`Node`]: one value of a tree.

use serde_json::{Map, Number, Value};

use super::Tree;

/// What a node is. Lengths and places are those of a tree, which has at most 4 GiB.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Always below 0.
    Negative(i64),
    /// A number with a fraction or an exponent, or `-0`.
    Float(f64),
    /// The digits of an integer beyond 64 bits, with its sign. They stand elsewhere.
    Wide {
        start: u32,
        len: u32,
    },
    /// A string that stands in the text as it is.
    Plain {
        start: u32,
        len: u32,
    },
    /// A string that stands elsewhere.
    Other {
        start: u32,
        len: u32,
    },
    /// `end` is the place after its last element.
    Array {
        len: u32,
        end: u32,
    },
    /// Its members are pairs of a string and a value. `sorted` is where the order of its keys begins, if it is large.
    Object {
        len: u32,
        end: u32,
        sorted: u32,
    },
}

impl Mark {
    /// The bytes of the string, out of the text or what else there is; none where it is no string.
    #[inline]
    pub(super) fn bytes<'a>(self, text: &'a str, other: &'a str) -> &'a [u8] {
        let (source, start, len) = match self {
            Self::Plain { start, len } => (text, start, len),
            Self::Other { start, len } => (other, start, len),
            _ => return &[],
        };
        source.as_bytes().get(start as usize..start as usize + len as usize).unwrap_or_default()
    }

    /// The string, out of the text or what else there is.
    #[inline]
    pub(super) fn string<'a>(self, text: &'a str, other: &'a str) -> Option<&'a str> {
        let (source, start, len) = match self {
            Self::Plain { start, len } => (text, start, len),
            Self::Other { start, len } => (other, start, len),
            _ => return None,
        };
        source.get(start as usize..start as usize + len as usize)
    }

    /// The place after what stands at `place` and all that is inside it.
    #[inline]
    pub(super) fn end(self, place: u32) -> u32 {
        match self {
            Self::Array { end, .. } | Self::Object { end, .. } => end,
            _ => place + 1,
        }
    }
}

/// How many keys an object may have to be searched from the first to the last.
pub(super) const FEW: usize = 16;

/// One value of a tree. A handle: two of the same value are the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    tree: &'a Tree,
    place: u32,
}

/// The members of an object, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Members<'a> {
    tree: &'a Tree,
    place: u32,
    left: u32,
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a> {
    tree: &'a Tree,
    place: u32,
    left: u32,
}

impl<'a> Node<'a> {
    #[inline]
    pub(super) fn root(tree: &'a Tree) -> Self {
        Self { tree, place: 0 }
    }

    /// What tells this value from all others of its tree.
    #[inline]
    pub(crate) fn place(self) -> u32 {
        self.place
    }

    #[inline]
    pub(crate) fn tree(self) -> &'a Tree {
        self.tree
    }

    /// A tree without marks, which only a default is, reads as `null`.
    #[inline]
    pub(super) fn mark(self) -> Mark {
        self.tree.marks.get(self.place as usize).copied().unwrap_or(Mark::Null)
    }

    #[inline]
    pub(crate) fn as_str(self) -> Option<&'a str> {
        self.mark().string(&self.tree.text, &self.tree.other)
    }

    #[inline]
    pub(crate) fn is_string(self) -> bool {
        matches!(self.mark(), Mark::Plain { .. } | Mark::Other { .. })
    }

    #[inline]
    pub(crate) fn is_number(self) -> bool {
        matches!(self.mark(), Mark::Unsigned(_) | Mark::Negative(_) | Mark::Float(_) | Mark::Wide { .. })
    }

    /// The digits of an integer beyond 64 bits, with its sign. Returns `None` for any other value.
    pub(crate) fn as_wide(self) -> Option<&'a str> {
        match self.mark() {
            Mark::Wide { start, len } => self.tree.other.get(start as usize..start as usize + len as usize),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn is_null(self) -> bool {
        matches!(self.mark(), Mark::Null)
    }

    #[inline]
    pub(crate) fn as_bool(self) -> Option<bool> {
        match self.mark() {
            Mark::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn as_number(self) -> Option<Number> {
        match self.mark() {
            Mark::Unsigned(number) => Some(number.into()),
            Mark::Negative(number) => Some(number.into()),
            Mark::Float(number) => Number::from_f64(number),
            Mark::Wide { .. } => Number::from_f64(self.as_rounded()?),
            _ => None,
        }
    }

    /// The float next to an integer beyond 64 bits. Returns `None` for any other value.
    pub(super) fn as_rounded(self) -> Option<f64> {
        self.as_wide()?.parse().ok()
    }

    /// The number, where it is written as an integer and fits into 64 bits.
    #[inline]
    pub(crate) fn as_integer(self) -> Option<i128> {
        match self.mark() {
            Mark::Unsigned(number) => Some(number.into()),
            Mark::Negative(number) => Some(number.into()),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn as_array(self) -> Option<Elements<'a>> {
        match self.mark() {
            Mark::Array { len, .. } => Some(Elements { tree: self.tree, place: self.place + 1, left: len }),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn as_object(self) -> Option<Members<'a>> {
        match self.mark() {
            Mark::Object { len, .. } => Some(Members { tree: self.tree, place: self.place + 1, left: len }),
            _ => None,
        }
    }

    /// Its elements; none where it is no array.
    #[inline]
    pub(crate) fn elements(self) -> Elements<'a> {
        self.as_array().unwrap_or(Elements { tree: self.tree, place: 0, left: 0 })
    }

    /// Its members; none where it is no object.
    #[inline]
    pub(crate) fn members(self) -> Members<'a> {
        self.as_object().unwrap_or(Members { tree: self.tree, place: 0, left: 0 })
    }

    /// The member of that name, where this is an object.
    #[inline]
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let Mark::Object { len, end, sorted } = self.mark() else { return None };
        if len as usize <= FEW {
            return self.search(name, end);
        }
        let order = self.tree.sorted.get(sorted as usize..sorted as usize + len as usize)?;
        let key = |place: u32| Self { tree: self.tree, place };
        let found = order.binary_search_by(|place| key(*place).as_str().unwrap_or_default().cmp(name)).ok()?;
        Some(key(order[found] + 1))
    }

    /// Looks at the keys one after the other, and at the text only of those that have the length.
    #[inline]
    fn search(self, name: &str, end: u32) -> Option<Self> {
        let Tree { text, other, marks, .. } = self.tree;
        let mut place = self.place + 1;
        while place < end {
            let [key, member] = marks.get(place as usize..place as usize + 2)? else { return None };
            if let Mark::Plain { len, .. } | Mark::Other { len, .. } = *key
                && len as usize == name.len()
                && key.bytes(text, other) == name.as_bytes()
            {
                return Some(Self { tree: self.tree, place: place + 1 });
            }
            place = member.end(place + 1);
        }
        None
    }

    /// Returns the value as `serde_json` reads it: an integer beyond 64 bits is the nearest float. For verdicts and their
    /// explanations only.
    pub(crate) fn to_value(self) -> Value {
        self.to_value_with(&|wide| wide.as_number().into())
    }

    /// Returns the value for showing, recording and authorising: an integer beyond 64 bits is a string of its digits, since no
    /// [`Number`] holds one.
    pub(crate) fn to_exact_value(self) -> Value {
        self.to_value_with(&|wide| wide.as_wide().into())
    }

    fn to_value_with(self, of_wide: &impl Fn(Self) -> Value) -> Value {
        match self.mark() {
            Mark::Null => Value::Null,
            Mark::Bool(flag) => flag.into(),
            Mark::Unsigned(number) => number.into(),
            Mark::Negative(number) => number.into(),
            Mark::Float(number) => number.into(),
            Mark::Wide { .. } => of_wide(self),
            Mark::Plain { .. } | Mark::Other { .. } => self.as_str().unwrap_or_default().into(),
            Mark::Array { .. } => self.elements().map(|element| element.to_value_with(of_wide)).collect(),
            Mark::Object { .. } => {
                let members = self.members().map(|(key, member)| (key.to_owned(), member.to_value_with(of_wide)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

impl<'a> Members<'a> {
    /// The next key and its value.
    #[inline]
    fn pair(&mut self) -> Option<(Node<'a>, Node<'a>)> {
        self.left = self.left.checked_sub(1)?;
        let key = Node { tree: self.tree, place: self.place };
        let member = Node { tree: self.tree, place: self.place + 1 };
        self.place = member.mark().end(member.place);
        Some((key, member))
    }

    /// The members, with the bytes of their keys.
    #[inline]
    pub(crate) fn by_bytes(mut self) -> impl Iterator<Item = (&'a [u8], Node<'a>)> {
        let Tree { text, other, .. } = self.tree;
        std::iter::from_fn(move || self.pair().map(|(key, member)| (key.mark().bytes(text, other), member)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.pair().map(|(key, member)| (key.as_str().unwrap_or_default(), member))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Members<'_> {}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element = Node { tree: self.tree, place: self.place };
        self.place = element.mark().end(element.place);
        Some(element)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Elements<'_> {}
