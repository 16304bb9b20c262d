//! [`Builder`]: a tree that grows in the order of its text.

use serde_json::Number;

use super::read::{Refusal, inside, syntax};
use super::tree::{FEW, Mark, Tree};
use super::{InvalidJson, MAX_DEPTH};

pub(super) struct Builder<'t> {
    text: &'t str,
    tree: Tree,
    depth: usize,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // Most texts have a value or a key for every eight bytes, or fewer.
        let tree = Tree { marks: Vec::with_capacity(8 + text.len() / 8), ..Tree::default() };
        Self { text, tree, depth: 0 }
    }

    /// Returns the tree, without its text.
    pub(super) fn finish(self) -> Tree {
        self.tree
    }

    /// Returns the place that the next value will have.
    pub(super) fn next_place(&self) -> usize {
        self.tree.marks.len()
    }

    /// Returns the string at a place.
    pub(super) fn string_at(&self, place: usize) -> &str {
        self.tree.marks.get(place).and_then(|mark| mark.string(self.text, &self.tree.other)).unwrap_or_default()
    }

    pub(super) fn scalar(&mut self, mark: Mark) {
        self.tree.marks.push(mark);
    }

    /// Adds a number that is written as `text`.
    pub(super) fn number(&mut self, number: &Number, text: &str) -> Result<(), Refusal> {
        let mark = match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => Mark::Unsigned(number),
            // `-0` is a float, also where serde_json keeps numbers as they are written (its `arbitrary_precision`).
            (None, Some(number @ ..0), _) => Mark::Negative(number),
            (None, _, Some(float)) if text.contains(['.', 'e', 'E']) || float == 0.0 => Mark::Float(float),
            (None, _, Some(_)) => {
                let (start, len) = (small(self.tree.other.len())?, small(text.len())?);
                self.tree.other.push_str(text);
                self.tree.has_big_integer = true;
                Mark::BigInteger { start, len }
            }
            (None, _, None) => return Err(syntax()),
        };
        self.scalar(mark);
        Ok(())
    }

    /// Adds a string that stands in the text as it is.
    pub(super) fn plain(&mut self, start: usize, len: usize) -> Result<(), Refusal> {
        let (start, len) = (small(start)?, small(len)?);
        self.scalar(Mark::Plain { start, len });
        Ok(())
    }

    /// Adds a string that had escapes.
    pub(super) fn unescaped(&mut self, string: &str) -> Result<(), Refusal> {
        let (start, len) = (small(self.tree.other.len())?, small(string.len())?);
        self.tree.other.push_str(string);
        self.scalar(Mark::Unescaped { start, len });
        Ok(())
    }

    /// Begins a container and returns its place.
    pub(super) fn open(&mut self) -> Result<usize, Refusal> {
        if self.depth == MAX_DEPTH {
            return Err(Box::new(InvalidJson::TooDeep { pointer: String::new() }));
        }
        self.depth += 1;
        self.tree.depth = self.tree.depth.max(self.depth);
        let place = self.tree.marks.len();
        self.scalar(Mark::Null);
        Ok(place)
    }

    /// Ends the array that began at `place`.
    pub(super) fn close_array(&mut self, place: usize, len: usize) -> Result<(), Refusal> {
        self.depth -= 1;
        self.tree.marks[place] = Mark::Array { len: small(len)?, end: small(self.tree.marks.len())? };
        Ok(())
    }

    /// Ends the object that began at `place`. With `differ` the caller says that no two of up to [`FEW`] keys are equal.
    pub(super) fn close_object(&mut self, place: usize, len: usize, differ: bool) -> Result<(), Refusal> {
        self.depth -= 1;
        let (end, sorted) = (small(self.tree.marks.len())?, small(self.tree.sorted.len())?);
        self.tree.marks[place] = Mark::Object { len: small(len)?, end, sorted };
        let repeated = match (len > FEW, differ) {
            (true, _) => self.sort(place),
            (false, true) => None,
            (false, false) => self.repeated(place),
        };
        repeated.map_or(Ok(()), |key| Err(inside(Box::new(InvalidJson::RepeatedKey { pointer: String::new() }), &key)))
    }

    /// Returns a key that the object at `place` has twice.
    fn repeated(&self, place: usize) -> Option<String> {
        let is_repeated = |(own, key): &(u32, &str)| {
            self.keys(place).take_while(|(other, _)| other < own).any(|(_, other)| other == *key)
        };
        self.keys(place).find(is_repeated).map(|(_, key)| key.to_owned())
    }

    /// Notes the order of the keys of the object at `place`, and returns one that it has twice.
    fn sort(&mut self, place: usize) -> Option<String> {
        let mut keys: Vec<_> = self.keys(place).collect();
        keys.sort_unstable_by_key(|(_, key)| *key);
        let repeated = keys.windows(2).find(|pair| pair[0].1 == pair[1].1).map(|pair| pair[0].1.to_owned());
        let order: Vec<u32> = keys.into_iter().map(|(place, _)| place).collect();
        self.tree.sorted.extend(order);
        repeated
    }

    /// Returns the keys of the object that was closed last, with their places.
    fn keys(&self, object: usize) -> impl Iterator<Item = (u32, &str)> {
        let Tree { marks, other, .. } = &self.tree;
        let mut place = object as u32 + 1;
        std::iter::from_fn(move || {
            let (key_place, key) = (place, marks.get(place as usize)?);
            place = marks.get(place as usize + 1)?.end(place + 1);
            Some((key_place, key.string(self.text, other).unwrap_or_default()))
        })
    }
}

fn small(number: usize) -> Result<u32, Refusal> {
    number.try_into().map_err(|_| Box::new(InvalidJson::TooLarge))
}
