//! [`Run`]: definitions that can be copied at once.

use std::ops::Range;

use super::{Definition, Definitions};

/// A part of an array that is put together of what is written already.
#[derive(Clone)]
pub(super) enum Run<'a> {
    /// Those of some others at these positions, as they stand there, with what is between them.
    Neighbours(&'a Definitions, Range<usize>),
    /// One, by another spelling of its name.
    Respelt(&'a Definition, &'a str),
}

impl<'a> Run<'a> {
    /// These as as few as can be, in the same order.
    pub(super) fn joined(runs: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut runs = runs.into_iter();
        let (mut joined, mut next) = (Vec::new(), runs.next());
        while let Some(run) = next {
            let Self::Neighbours(set, Range { start, mut end }) = run else {
                joined.push(run);
                next = runs.next();
                continue;
            };
            next = loop {
                match runs.next() {
                    Some(Self::Neighbours(same, others)) if set.is(same) && others.start == end => end = others.end,
                    other => break other,
                }
            };
            joined.push(Self::Neighbours(set, start..end));
        }
        joined
    }

    /// How many definitions there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Neighbours(_, positions) => positions.len(),
            Self::Respelt(..) => 1,
        }
    }
}
