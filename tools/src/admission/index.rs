//! [`Index`]: the calls by their keys.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::key::{Key, Reach};

/// Calls by the text of their keys. The sorted map keeps a path and its subtree adjacent, because they share a prefix.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<Arc<str>, Holders>);

/// The calls with one key, in order of arrival. Readers conflict only with writers, so the two are separate.
#[derive(Debug, Default)]
struct Holders {
    readers: Vec<u64>,
    writers: Vec<u64>,
}

impl Holders {
    fn list(&mut self, writes: bool) -> &mut Vec<u64> {
        if writes {
            &mut self.writers
        } else {
            &mut self.readers
        }
    }
}

impl Index {
    pub(super) fn insert(&mut self, call: u64, keys: &[Key]) {
        for Key { text, writes, .. } in keys {
            self.0
                .entry(text.clone())
                .or_default()
                .list(*writes)
                .push(call);
        }
    }

    pub(super) fn remove(&mut self, call: u64, keys: &[Key]) {
        for key in keys {
            if let Some(holders) = self.0.get_mut(&*key.text) {
                let list = holders.list(key.writes);
                // The list is sorted, because call numbers increase with arrival.
                if let Ok(position) = list.binary_search(&call) {
                    list.remove(position);
                }
                // Paths come from calls, so keys without holders would grow without bound.
                if holders.readers.is_empty() && holders.writers.is_empty() {
                    self.0.remove(&*key.text);
                }
            }
        }
    }

    /// Returns the calls that conflict with these keys, in order of arrival and without duplicates.
    pub(super) fn conflicts(&self, keys: &[Key]) -> Vec<u64> {
        let mut found = Vec::new();
        if self.0.is_empty() {
            return found;
        }
        for key in keys {
            let mut look_at = |holders: &Holders| {
                found.extend_from_slice(&holders.writers);
                if key.writes {
                    found.extend_from_slice(&holders.readers);
                }
            };
            key.above()
                .filter_map(|text| self.0.get(text))
                .for_each(&mut look_at);
            match key.reach {
                Reach::Exact | Reach::World => {
                    self.0.get(&*key.text).into_iter().for_each(&mut look_at);
                }
                Reach::Tree { .. } => {
                    let from = self
                        .0
                        .range::<str, _>((Bound::Included(&*key.text), Bound::Unbounded));
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
