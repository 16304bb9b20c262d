//! [`Node`]: a borrowed value inside a JSON document.

use std::{fmt, slice};

use serde_json::map::Iter;
use serde_json::{Map, Number, Value};

use super::Extent;
use super::tree::{EMPTY, MAX_UNSORTED, Mark, Tree};

/// A borrowed value inside a JSON document, which is a [`Json`](super::Json) or a [`Value`]. Cheap to copy.
///
/// ```
/// use protocol::json::{Json, Kind, Node};
/// use serde_json::json;
///
/// let text = Json::parse(r#"{"path": "a.txt", "limit": 36893488147419103232}"#)?;
/// assert_eq!(text.node().get("path").and_then(Node::as_str), Some("a.txt"));
/// assert!(matches!(text.node().get("limit").map(Node::kind), Some(Kind::BigInteger("36893488147419103232"))));
///
/// let value = json!({"path": "a.txt"});
/// assert_eq!(Node::from(&value).get("path").and_then(Node::as_str), Some("a.txt"));
/// # Ok::<(), protocol::json::InvalidJson>(())
/// ```
#[derive(Clone, Copy)]
pub struct Node<'a>(NodeForm<'a>);

#[derive(Clone, Copy)]
enum NodeForm<'a> {
    Value(&'a Value),
    Tree(&'a Tree, u32),
}

/// The type of a JSON value, with the content of scalars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of at least 0 that fits into 64 bits.
    Unsigned(u64),
    /// An integer below 0 that fits into 64 bits.
    Negative(i64),
    /// A number with a fraction or an exponent, or `-0`.
    Float(f64),
    /// An integer beyond 64 bits, as its digits and sign.
    BigInteger(&'a str),
    /// A string.
    String(&'a str),
    /// An array; see [`Node::elements`].
    Array,
    /// An object; see [`Node::members`].
    Object,
}

/// An iterator over the members of an object, in the order of the text or of the [`Value`]'s map.
#[derive(Clone, Debug)]
pub struct Members<'a>(Children<'a, Iter<'a>>);

/// An iterator over the elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a>(Children<'a, slice::Iter<'a, Value>>);

#[derive(Clone)]
enum Children<'a, I> {
    Values(I),
    Tree {
        tree: &'a Tree,
        place: u32,
        left: u32,
    },
}

impl<'a> Node<'a> {
    pub(super) fn root(tree: &'a Tree) -> Self {
        Self(NodeForm::Tree(tree, 0))
    }

    /// Returns the type of the value.
    #[inline(always)] // Lets the compiler drop the content if a caller needs only the type.
    pub fn kind(self) -> Kind<'a> {
        match self.0 {
            NodeForm::Tree(tree, place) => match tree.mark(place) {
                Mark::Null => Kind::Null,
                Mark::Bool(flag) => Kind::Bool(flag),
                Mark::Unsigned(number) => Kind::Unsigned(number),
                Mark::Negative(number) => Kind::Negative(number),
                Mark::Float(number) => Kind::Float(number),
                mark @ Mark::BigInteger { .. } => {
                    Kind::BigInteger(tree.string(mark).unwrap_or_default())
                }
                mark @ (Mark::Plain { .. } | Mark::Unescaped { .. }) => {
                    Kind::String(tree.string(mark).unwrap_or_default())
                }
                Mark::Array { .. } => Kind::Array,
                Mark::Object { .. } => Kind::Object,
            },
            NodeForm::Value(value) => match value {
                Value::Null => Kind::Null,
                Value::Bool(flag) => Kind::Bool(*flag),
                Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                    (Some(number), _) => Kind::Unsigned(number),
                    (None, Some(number @ ..0)) => Kind::Negative(number),
                    _ => Kind::Float(number.as_f64().unwrap_or(f64::INFINITY)),
                },
                Value::String(string) => Kind::String(string),
                Value::Array(_) => Kind::Array,
                Value::Object(_) => Kind::Object,
            },
        }
    }

    /// Returns true if the value is an integer beyond 64 bits. A [`Value`] holds such integers only with `arbitrary_precision`.
    pub(super) fn is_big_integer(self) -> bool {
        match self.0 {
            NodeForm::Value(Value::Number(number)) => {
                !(number.is_u64() || number.is_i64() || number.is_f64())
            }
            _ => matches!(self.kind(), Kind::BigInteger(_)),
        }
    }

    /// Returns the string. Returns `None` if the value is not a string.
    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        match self.kind() {
            Kind::String(string) => Some(string),
            _ => None,
        }
    }

    /// Returns true if the value is an object.
    #[inline]
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Returns the number as `serde_json` reads it: an integer beyond 64 bits becomes the nearest float. Returns `None` if the value
    /// is not a number.
    #[inline]
    pub fn to_number(self) -> Option<Number> {
        match self.kind() {
            Kind::Unsigned(number) => Some(number.into()),
            Kind::Negative(number) => Some(number.into()),
            Kind::Float(number) => Number::from_f64(number),
            Kind::BigInteger(digits) => Number::from_f64(digits.parse().ok()?),
            _ => None,
        }
    }

    /// Returns the elements of an array. The iterator is empty for other values.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements(match self.0 {
            NodeForm::Value(value) => {
                Children::Values(value.as_array().map_or(&[][..], Vec::as_slice).iter())
            }
            NodeForm::Tree(tree, place) => match tree.mark(place) {
                Mark::Array { len, .. } => Children::below(tree, place, len),
                _ => Children::below(tree, place, 0),
            },
        })
    }

    /// Returns the members of an object. The iterator is empty for other values.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members(match self.0 {
            NodeForm::Value(Value::Object(members)) => Children::Values(members.iter()),
            NodeForm::Value(_) => Children::below(&EMPTY, 0, 0),
            NodeForm::Tree(tree, place) => match tree.mark(place) {
                Mark::Object { len, .. } => Children::below(tree, place, len),
                _ => Children::below(tree, place, 0),
            },
        })
    }

    /// Returns the member with this name. Returns `None` if it does not exist or the value is not an object.
    #[inline]
    pub fn get(self, name: &str) -> Option<Self> {
        let (tree, place) = match self.0 {
            NodeForm::Value(value) => return value.get(name).map(Self::from),
            NodeForm::Tree(tree, place) => (tree, place),
        };
        let Mark::Object { len, sorted, .. } = tree.mark(place) else {
            return None;
        };
        // A few keys are found sooner one by one than in a sorted list.
        if len as usize <= MAX_UNSORTED {
            return self
                .members()
                .find(|(key, _)| *key == name)
                .map(|(_, member)| member);
        }
        let order = tree
            .sorted
            .get(sorted as usize..sorted as usize + len as usize)?;
        let found = order
            .binary_search_by(|place| tree.string(tree.mark(*place)).unwrap_or_default().cmp(name))
            .ok()?;
        Some(Self(NodeForm::Tree(tree, order[found] + 1)))
    }

    /// Returns the address of the value. Two live nodes have equal addresses exactly if they borrow the same value.
    pub fn identity(self) -> (usize, u32) {
        match self.0 {
            NodeForm::Value(value) => (std::ptr::from_ref(value).addr(), 0),
            NodeForm::Tree(tree, place) => (std::ptr::from_ref(tree).addr(), place),
        }
    }

    /// Returns the size of the value. Walks the value unless it is the root of parsed text.
    pub fn extent(self) -> Extent {
        match self.0 {
            NodeForm::Tree(tree, 0) => Extent {
                depth: tree.depth,
                values: tree.marks.len(),
                text: tree.text.len() + tree.other.len(),
                has_big_integer: tree.has_big_integer,
            },
            _ => Extent::walk(self),
        }
    }

    /// Converts to a [`Value`]. An integer beyond 64 bits becomes a string of its digits, because [`Number`] cannot hold it.
    pub fn to_value(self) -> Value {
        self.to_value_with(&|digits, _| digits.into())
    }

    /// Converts to a [`Value`] as `serde_json` does: an integer beyond 64 bits becomes the nearest float.
    pub fn to_rounded_value(self) -> Value {
        self.to_value_with(&|_, node| node.to_number().into())
    }

    fn to_value_with(self, from_big_integer: &impl Fn(&str, Self) -> Value) -> Value {
        if let NodeForm::Value(value) = self.0 {
            return value.clone();
        }
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => flag.into(),
            Kind::Unsigned(number) => number.into(),
            Kind::Negative(number) => number.into(),
            Kind::Float(number) => number.into(),
            Kind::BigInteger(digits) => from_big_integer(digits, self),
            Kind::String(string) => string.into(),
            Kind::Array => self
                .elements()
                .map(|element| element.to_value_with(from_big_integer))
                .collect(),
            Kind::Object => {
                let members = self
                    .members()
                    .map(|(key, member)| (key.to_owned(), member.to_value_with(from_big_integer)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Self {
        Self(NodeForm::Value(value))
    }
}

impl fmt::Debug for Node<'_> {
    /// Hides the content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

impl<I> fmt::Debug for Children<'_, I> {
    /// Hides the content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Children").finish_non_exhaustive()
    }
}

/// Compares values. The order of members is ignored. An integer and a float are never equal, as in `serde_json`.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.kind(), other.kind()) {
            (Kind::Array, Kind::Array) => self.elements().eq(other.elements()),
            (Kind::Object, Kind::Object) => {
                self.members().len() == other.members().len()
                    && self
                        .members()
                        .all(|(key, member)| other.get(key) == Some(member))
            }
            (own, other) => own == other,
        }
    }
}

impl<'a, I: ExactSizeIterator> Children<'a, I> {
    /// Creates an iterator over the `left` children of the array or object at a place of the tree.
    #[inline]
    fn below(tree: &'a Tree, outer: u32, left: u32) -> Self {
        let place = outer + 1;
        Self::Tree { tree, place, left }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Self::Values(values) => values.len(),
            Self::Tree { left, .. } => *left as usize,
        };
        (left, Some(left))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Node<'a>);

    #[inline(always)] // Lets the compiler drop the member if a caller compares only the key.
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Children::Values(members) => {
                members.next().map(|(key, member)| (&**key, member.into()))
            }
            Children::Tree { tree, place, left } => {
                *left = left.checked_sub(1)?;
                let key = *place;
                let member = *place + 1;
                *place = tree.mark(member).end(member);
                Some((
                    tree.string(tree.mark(key)).unwrap_or_default(),
                    Node(NodeForm::Tree(tree, member)),
                ))
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Members<'_> {}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Children::Values(elements) => elements.next().map(Node::from),
            Children::Tree { tree, place, left } => {
                *left = left.checked_sub(1)?;
                let element = *place;
                *place = tree.mark(element).end(element);
                Some(Node(NodeForm::Tree(tree, element)))
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Elements<'_> {}
