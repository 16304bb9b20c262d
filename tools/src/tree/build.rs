//! The growing of a tree, and trees of values.

use serde_json::{Number, Value};

use super::node::{FEW, Mark};
use super::{Tree, Unfit};
use crate::strict::MAX_DEPTH;

/// A tree that grows mark by mark, in the order of its text.
pub(super) struct Builder<'t> {
    /// What plain strings stand in.
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

    /// The tree, still without its text.
    pub(super) fn finish(self) -> Tree {
        self.tree
    }

    pub(super) fn scalar(&mut self, mark: Mark) {
        self.tree.marks.push(mark);
    }

    /// Adds a number. `text` is how it is written, if that is known.
    pub(super) fn number(&mut self, number: &Number, text: Option<&str>) -> Result<(), Unfit> {
        self.scalar(match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => Mark::Unsigned(number),
            // `-0` is a float, also where serde_json keeps numbers as they are written (its `arbitrary_precision`).
            (None, Some(number @ ..0), _) => Mark::Negative(number),
            (None, _, Some(float)) => return self.float_or_wide(number, float, text),
            (None, _, None) => return Err(Unfit),
        });
        Ok(())
    }

    /// Adds a number that is no integer of 64 bits.
    fn float_or_wide(&mut self, number: &Number, float: f64, text: Option<&str>) -> Result<(), Unfit> {
        // With its `arbitrary_precision`, a number of serde_json knows how it was written.
        let own = text.is_none().then(|| number.to_string());
        let digits = text.or(own.as_deref()).filter(|digits| !digits.contains(['.', 'e', 'E']) && float != 0.0);
        let Some(digits) = digits else {
            self.scalar(Mark::Float(float));
            return Ok(());
        };
        let (start, len) = (small(self.tree.other.len())?, small(digits.len())?);
        self.tree.other.push_str(digits);
        self.tree.has_wide = true;
        self.scalar(Mark::Wide { start, len });
        Ok(())
    }

    /// A string that stands in the text.
    pub(super) fn plain(&mut self, start: usize, len: usize) -> Result<(), Unfit> {
        let (start, len) = (small(start)?, small(len)?);
        self.scalar(Mark::Plain { start, len });
        Ok(())
    }

    /// A string that stands nowhere yet, in pieces.
    pub(super) fn other(&mut self, push: impl FnOnce(&mut String) -> Result<(), Unfit>) -> Result<(), Unfit> {
        let start = self.tree.other.len();
        push(&mut self.tree.other)?;
        let len = small(self.tree.other.len() - start)?;
        self.scalar(Mark::Other { start: small(start)?, len });
        Ok(())
    }

    fn copied(&mut self, string: &str) -> Result<(), Unfit> {
        self.other(|other| {
            other.push_str(string);
            Ok(())
        })
    }

    /// Begins a container, and gives its place.
    pub(super) fn open(&mut self) -> Result<usize, Unfit> {
        if self.depth == MAX_DEPTH {
            return Err(Unfit);
        }
        self.depth += 1;
        self.tree.depth = self.tree.depth.max(self.depth);
        let place = self.tree.marks.len();
        self.scalar(Mark::Null);
        Ok(place)
    }

    /// Ends the array that began there.
    pub(super) fn close_array(&mut self, place: usize, len: usize) -> Result<(), Unfit> {
        self.depth -= 1;
        self.tree.marks[place] = Mark::Array { len: small(len)?, end: small(self.tree.marks.len())? };
        Ok(())
    }

    /// Ends the object that began there. Refuses one that has a key twice; where all keys are known to differ, few of them
    /// are not looked at again.
    pub(super) fn close_object(&mut self, place: usize, len: usize, differ: bool) -> Result<(), Unfit> {
        self.depth -= 1;
        let (end, sorted) = (small(self.tree.marks.len())?, small(self.tree.sorted.len())?);
        self.tree.marks[place] = Mark::Object { len: small(len)?, end, sorted };
        let has_twins = if len > FEW { self.sort(place) } else { !differ && self.has_twins(place) };
        if has_twins { Err(Unfit) } else { Ok(()) }
    }

    /// Whether two of a few keys are the same.
    fn has_twins(&self, place: usize) -> bool {
        self.keys(place)
            .any(|(own, key)| self.keys(place).take_while(|(other, _)| *other < own).any(|(_, other)| other == key))
    }

    /// Brings many keys into an order, and says whether two are the same.
    fn sort(&mut self, place: usize) -> bool {
        let mut keys: Vec<(u32, &[u8])> = self.keys(place).collect();
        keys.sort_unstable_by_key(|(_, key)| *key);
        let has_twins = keys.windows(2).any(|pair| pair[0].1 == pair[1].1);
        let order: Vec<u32> = keys.into_iter().map(|(place, _)| place).collect();
        self.tree.sorted.extend(order);
        has_twins
    }

    /// The keys of the object that was closed last, with their places.
    fn keys(&self, object: usize) -> impl Iterator<Item = (u32, &[u8])> {
        let marks = &self.tree.marks;
        let mut place = object as u32 + 1;
        std::iter::from_fn(move || {
            let (key_place, key) = (place, marks.get(place as usize)?);
            place = marks.get(place as usize + 1)?.end(place + 1);
            Some((key_place, key.bytes(self.text, &self.tree.other)))
        })
    }
}

/// The tree of a value.
pub(super) fn build(value: &Value) -> Result<Tree, Unfit> {
    let mut builder = Builder::new("");
    add(&mut builder, value)?;
    Ok(builder.finish())
}

/// Recurses no deeper than a tree may be.
fn add(builder: &mut Builder<'_>, value: &Value) -> Result<(), Unfit> {
    match value {
        Value::Null => builder.scalar(Mark::Null),
        Value::Bool(flag) => builder.scalar(Mark::Bool(*flag)),
        Value::Number(number) => builder.number(number, None)?,
        Value::String(string) => builder.copied(string)?,
        Value::Array(items) => {
            let place = builder.open()?;
            items.iter().try_for_each(|item| add(builder, item))?;
            builder.close_array(place, items.len())?;
        }
        Value::Object(members) => {
            let place = builder.open()?;
            for (key, member) in members {
                builder.copied(key)?;
                add(builder, member)?;
            }
            builder.close_object(place, members.len(), true)?;
        }
    }
    Ok(())
}

fn small(number: usize) -> Result<u32, Unfit> {
    number.try_into().map_err(|_| Unfit)
}
