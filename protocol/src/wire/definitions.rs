//! [`Definitions`]: the tools of a set, as a provider is told of them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::Definition;
use super::run::Run;

/// The definitions of a set of tools as JSON text in the format of a provider: an array. Clones share the text.
///
/// The text is that of the [`Definition`]s in a row, so to make it is to copy theirs, and nothing is written as JSON again. What
/// stands together in another text is copied at once, and a text that is the same as a whole not at all, but shared.
#[derive(Clone, PartialEq, Eq)]
pub struct Definitions(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    text: String,
    /// Where each definition ends; each begins one byte after the end of the one before it.
    ends: Vec<usize>,
}

impl Definitions {
    /// These definitions in this order, each with the spelling of its tool's name where that is not the plain one. It must be a
    /// legal one.
    pub fn new<'a>(definitions: impl IntoIterator<Item = (&'a Definition, Option<&'a str>)>) -> Self {
        Self::of_runs(definitions.into_iter().map(|(definition, spelling)| match spelling {
            None => definition.run(),
            Some(spelling) => Run::Respelt(definition, spelling),
        }))
    }

    /// Those at these positions, in the order of the positions, spelt as they are here. Positions without a definition are
    /// passed over.
    #[must_use]
    pub fn subset(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        let chosen = positions.into_iter().filter(|position| *position < self.len());
        Self::of_runs(chosen.map(|position| Run::Neighbours(self, position..position + 1)))
    }

    /// Those that this writes of these.
    pub(super) fn written<T>(items: impl IntoIterator<Item = T>, write: impl Fn(T, &mut String)) -> Self {
        let mut array = Array::new(0, 0);
        items.into_iter().for_each(|item| array.push(|text| write(item, text)));
        array.0.text.shrink_to(array.0.text.len() + 1);
        array.finish()
    }

    /// The text: a JSON array.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The definition at a position.
    pub fn get(&self, position: usize) -> Option<&str> {
        (position < self.len()).then(|| self.0.neighbours(position..position + 1))
    }

    /// How many definitions there are.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// Whether this is the same text in the same memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn of_runs<'a>(runs: impl Iterator<Item = Run<'a>>) -> Self {
        let runs = Run::joined(runs);
        if let [Run::Neighbours(set, positions)] = &runs[..]
            && positions.len() == set.len()
        {
            return Self::clone(set);
        }
        let bytes = runs.iter().map(|run| match run {
            Run::Neighbours(set, positions) => set.0.range(positions.clone()).len(),
            Run::Respelt(definition, spelling) => definition.respelt(spelling).map(str::len).iter().sum(),
        });
        let mut array = Array::new(runs.iter().map(Run::len).sum(), bytes.sum());
        for run in &runs {
            match run {
                Run::Neighbours(set, positions) => array.copy(&set.0, positions.clone()),
                Run::Respelt(definition, spelling) => array.push(|text| text.extend(definition.respelt(spelling))),
            }
        }
        array.finish()
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions").field("len", &self.len()).field("bytes", &self.as_str().len()).finish()
    }
}

impl Inner {
    fn begin(&self, position: usize) -> usize {
        position.checked_sub(1).map_or(0, |before| self.ends[before]) + 1
    }

    /// Where those at these positions stand in the text, of which there is at least one, with what is between them.
    fn range(&self, positions: Range<usize>) -> Range<usize> {
        self.begin(positions.start)..self.ends[positions.end - 1]
    }

    fn neighbours(&self, positions: Range<usize>) -> &str {
        &self.text[self.range(positions)]
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
        self.separate();
        write(&mut self.0.text);
        self.0.ends.push(self.0.text.len());
    }

    /// Adds those at these positions of another array, of which there is at least one.
    fn copy(&mut self, source: &Inner, positions: Range<usize>) {
        self.separate();
        let (begin, to) = (source.begin(positions.start), self.0.text.len());
        self.0.text.push_str(source.neighbours(positions.clone()));
        self.0.ends.extend(source.ends[positions].iter().map(|end| end - begin + to));
    }

    fn separate(&mut self) {
        if !self.0.ends.is_empty() {
            self.0.text.push(',');
        }
    }

    fn finish(mut self) -> Definitions {
        self.0.text.push(']');
        Definitions(Arc::new(self.0))
    }
}
