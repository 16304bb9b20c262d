//! [`TreeBuilder`]: builds a [`Tree`] in the order of its text.

use serde_json::Number;

use super::error::{ParseError, inside, syntax};
use super::tree::{MAX_UNSORTED, Mark, Tree};
use super::{InvalidJson, MAX_DEPTH};

pub(super) struct TreeBuilder<'t> {
    text: &'t str,
    pub(super) tree: Tree,
    depth: usize,
}

impl<'t> TreeBuilder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // Most texts have at most one value or key for every eight bytes.
        let tree = Tree {
            marks: Vec::with_capacity(8 + text.len() / 8),
            ..Tree::default()
        };
        Self {
            text,
            tree,
            depth: 0,
        }
    }

    /// Returns the string at an index.
    pub(super) fn string_at(&self, place: usize) -> &str {
        self.tree
            .marks
            .get(place)
            .and_then(|mark| mark.string(self.text, &self.tree.other))
            .unwrap_or_default()
    }

    pub(super) fn scalar(&mut self, mark: Mark) {
        self.tree.marks.push(mark);
    }

    /// Adds a number, given its parsed value and its text.
    pub(super) fn number(&mut self, number: &Number, text: &str) -> Result<(), ParseError> {
        let mark = match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => Mark::Unsigned(number),
            // `-0` is a float, even with serde_json's `arbitrary_precision`.
            (None, Some(number @ ..0), _) => Mark::Negative(number),
            (None, _, Some(float)) if text.contains(['.', 'e', 'E']) || float == 0.0 => {
                Mark::Float(float)
            }
            (None, _, Some(_)) => {
                let start = to_u32(self.tree.other.len())?;
                let len = to_u32(text.len())?;
                self.tree.other.push_str(text);
                self.tree.has_big_integer = true;
                Mark::BigInteger { start, len }
            }
            (None, _, None) => return Err(syntax()),
        };
        self.scalar(mark);
        Ok(())
    }

    /// Adds a string without escapes, which stays in the text.
    pub(super) fn plain(&mut self, start: usize, len: usize) -> Result<(), ParseError> {
        let start = to_u32(start)?;
        let len = to_u32(len)?;
        self.scalar(Mark::Plain { start, len });
        Ok(())
    }

    /// Adds a string that had escapes.
    pub(super) fn push_unescaped(&mut self, string: &str) -> Result<(), ParseError> {
        let start = to_u32(self.tree.other.len())?;
        let len = to_u32(string.len())?;
        self.tree.other.push_str(string);
        self.scalar(Mark::Unescaped { start, len });
        Ok(())
    }

    /// Begins a container. Returns the index of its mark.
    pub(super) fn open(&mut self) -> Result<usize, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(Box::new(InvalidJson::TooDeep {
                pointer: String::new(),
            }));
        }
        self.depth += 1;
        self.tree.depth = self.tree.depth.max(self.depth);
        let place = self.tree.marks.len();
        self.scalar(Mark::Null);
        Ok(place)
    }

    /// Ends an array of `len` elements. `place` is the index of its mark, which `open` returned.
    pub(super) fn close_array(&mut self, place: usize, len: usize) -> Result<(), ParseError> {
        self.depth -= 1;
        self.tree.marks[place] = Mark::Array {
            len: to_u32(len)?,
            end: to_u32(self.tree.marks.len())?,
        };
        Ok(())
    }

    /// Ends the object at index `place`. `distinct` skips the check for repeated keys in objects of up to [`MAX_UNSORTED`] members.
    pub(super) fn close_object(
        &mut self,
        place: usize,
        len: usize,
        distinct: bool,
    ) -> Result<(), ParseError> {
        self.depth -= 1;
        self.tree.marks[place] = Mark::Object {
            len: to_u32(len)?,
            end: to_u32(self.tree.marks.len())?,
            sorted: to_u32(self.tree.sorted.len())?,
        };
        let repeated = match (len > MAX_UNSORTED, distinct) {
            // Comparing each pair of keys would take quadratic time in a large object.
            (true, _) => self.sort(place),
            (false, true) => None,
            (false, false) => self.find_repeated(place),
        };
        repeated.map_or(Ok(()), |key| {
            Err(inside(
                Box::new(InvalidJson::RepeatedKey {
                    pointer: String::new(),
                }),
                &key,
            ))
        })
    }

    /// Returns a repeated key of the object at `place`. Returns `None` if all keys are distinct.
    fn find_repeated(&self, place: usize) -> Option<String> {
        self.keys(place)
            .find(|(own, key)| {
                self.keys(place)
                    .take_while(|(other, _)| other < own)
                    .any(|(_, other)| other == *key)
            })
            .map(|(_, key)| key.to_owned())
    }

    /// Stores the sorted order of the keys of the object at `place`. Returns a repeated key, or `None`.
    fn sort(&mut self, place: usize) -> Option<String> {
        let mut keys: Vec<_> = self.keys(place).collect();
        keys.sort_unstable_by_key(|(_, key)| *key);
        let repeated = keys
            .windows(2)
            .find(|pair| pair[0].1 == pair[1].1)
            .map(|pair| pair[0].1.to_owned());
        let order: Vec<u32> = keys.into_iter().map(|(place, _)| place).collect();
        self.tree.sorted.extend(order);
        repeated
    }

    /// Returns the keys of the last closed object, with their indexes.
    fn keys(&self, object: usize) -> impl Iterator<Item = (u32, &str)> {
        let Tree { marks, other, .. } = &self.tree;
        let mut place = object as u32 + 1;
        std::iter::from_fn(move || {
            let key_place = place;
            let key = marks.get(place as usize)?;
            place = marks.get(place as usize + 1)?.end(place + 1);
            Some((key_place, key.string(self.text, other).unwrap_or_default()))
        })
    }
}

fn to_u32(number: usize) -> Result<u32, ParseError> {
    number
        .try_into()
        .map_err(|_| Box::new(InvalidJson::TooLarge))
}
