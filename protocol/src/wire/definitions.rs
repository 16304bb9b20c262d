//! [`Definitions`]: the tools of a set, as a provider is told of them.

use std::fmt;
use std::sync::Arc;

use super::Definition;

/// The definitions of a set of tools as JSON text in the format of a provider: an array. Clones share the text.
///
/// The text is that of the [`Definition`]s in a row, so to make it is to copy theirs, and nothing is written as JSON again.
#[derive(Clone, PartialEq, Eq)]
pub struct Definitions(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    text: String,
    /// Where each definition ends; each begins one byte after the end of the one before it.
    ends: Vec<usize>,
}

impl Definitions {
    /// These definitions in this order, each with the spelling of its tool's name, which must be a legal one.
    pub fn new<'a, I>(definitions: I) -> Self
    where
        I: IntoIterator<Item = (&'a Definition, &'a str), IntoIter: Clone>,
    {
        let definitions = definitions.into_iter();
        let size = definitions.clone().map(|(definition, spelling)| definition.length(spelling)).sum();
        let mut array = Array::new(definitions.clone().count(), size);
        for (definition, spelling) in definitions {
            array.push(|text| definition.write(spelling, text));
        }
        array.finish()
    }

    /// Those at these positions, in the order of the positions, spelt as they are here. Positions without a definition are
    /// passed over.
    #[must_use]
    pub fn subset(&self, positions: impl IntoIterator<Item = usize, IntoIter: Clone>) -> Self {
        let chosen = positions.into_iter().filter_map(|position| self.get(position));
        let mut array = Array::new(chosen.clone().count(), chosen.clone().map(str::len).sum());
        chosen.for_each(|definition| array.push(|text| text.push_str(definition)));
        array.finish()
    }

    /// The text: a JSON array.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The definition at a position.
    pub fn get(&self, position: usize) -> Option<&str> {
        let end = *self.0.ends.get(position)?;
        let begin = position.checked_sub(1).map_or(0, |before| self.0.ends[before]) + 1;
        Some(&self.0.text[begin..end])
    }

    /// How many definitions there are.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions").field("len", &self.len()).field("bytes", &self.as_str().len()).finish()
    }
}

/// An array that is being written.
struct Array(Inner);

impl Array {
    /// For so many definitions, of so many bytes together.
    fn new(count: usize, bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes + count + 2);
        text.push('[');
        Self(Inner { text, ends: Vec::with_capacity(count) })
    }

    fn push(&mut self, write: impl FnOnce(&mut String)) {
        let Inner { text, ends } = &mut self.0;
        if !ends.is_empty() {
            text.push(',');
        }
        write(text);
        ends.push(text.len());
    }

    fn finish(mut self) -> Definitions {
        self.0.text.push(']');
        Definitions(Arc::new(self.0))
    }
}
