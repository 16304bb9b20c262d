//! [`Index`]: which calls have which keys.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::key::{Key, Reach};

/// Calls by the text of their keys. Texts that begin with a path's text are its subtree and stand side by side.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<Box<str>, Vec<Holder>>);

#[derive(Clone, Copy, Debug)]
struct Holder {
    call: u64,
    writes: bool,
}

impl Index {
    pub(super) fn insert(&mut self, call: u64, keys: &[Key]) {
        for Key { text, writes, .. } in keys {
            self.0.entry(text.clone()).or_default().push(Holder { call, writes: *writes });
        }
    }

    pub(super) fn remove(&mut self, call: u64, keys: &[Key]) {
        for key in keys {
            if let Some(holders) = self.0.get_mut(&*key.text) {
                holders.retain(|holder| holder.call != call);
                if holders.is_empty() {
                    self.0.remove(&*key.text);
                }
            }
        }
    }

    /// The calls that these keys conflict with, in the order of their arrival, each once.
    pub(super) fn conflicts(&self, keys: &[Key]) -> Vec<u64> {
        let mut found = Vec::new();
        for key in keys {
            let mut look_at = |holders: &[Holder]| {
                let conflicting = holders.iter().filter(|holder| holder.writes || key.writes);
                found.extend(conflicting.map(|holder| holder.call));
            };
            key.above().filter_map(|text| self.0.get(text)).for_each(|holders| look_at(holders));
            match key.reach {
                Reach::Exact | Reach::World => {
                    self.0.get(&*key.text).into_iter().for_each(|holders| look_at(holders));
                }
                Reach::Tree { .. } => {
                    let from = self.0.range::<str, _>((Bound::Included(&*key.text), Bound::Unbounded));
                    let inside = from.take_while(|(text, _)| text.starts_with(&*key.text));
                    inside.for_each(|(_, holders)| look_at(holders));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
