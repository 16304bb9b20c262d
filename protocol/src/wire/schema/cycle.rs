//! Cycles of references.

use std::collections::{BTreeMap, BTreeSet};

/// The names to which each name refers.
type References<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Returns the names on a cycle of references, and those on a path from one cycle to another.
pub(super) fn on_cycles(references: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut all: References<'_> = BTreeMap::new();
    for (name, targets) in references {
        all.insert(name, targets.iter().map(String::as_str).collect());
    }
    let cyclic = reversed_without_ends(&reversed_without_ends(&all));
    cyclic.into_keys().map(str::to_owned).collect()
}

/// Removes names without references until all have some. Returns the references from each target to its users.
fn reversed_without_ends<'a>(references: &References<'a>) -> References<'a> {
    let mut users: References<'_> = references
        .keys()
        .map(|name| (*name, BTreeSet::new()))
        .collect();
    for (name, targets) in references {
        for target in targets {
            users.entry(*target).or_default().insert(*name);
        }
    }
    let mut counts: BTreeMap<_, _> = references
        .iter()
        .map(|(name, targets)| (*name, targets.len()))
        .collect();
    let mut ends: Vec<_> = counts
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(name, _)| *name)
        .collect();
    // Removing the ends takes linear time and no recursion, however long a chain of definitions is.
    while let Some(end) = ends.pop() {
        for user in users.remove(end).into_iter().flatten() {
            let count = counts.entry(user).or_default();
            *count -= 1;
            if *count == 0 {
                ends.push(user);
            }
        }
    }
    let kept: BTreeSet<_> = users.keys().copied().collect();
    users
        .values_mut()
        .for_each(|users| users.retain(|user| kept.contains(user)));
    users
}
