//! [`Values`]: the values of all keys, in one layer or merged.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;

use once_cell::sync::Lazy;
use serde_json::Value;

use super::access::AccessKeys;
use super::error::SettingsError;
use super::key::{self, AnyKey, FileUse, KeyAbout};
use super::origin::Origin;
use super::section::Section;
use super::slot::AnySlot;
use crate::extension;

/// The keys of all linked families, by their sets.
static KEYS: Lazy<Vec<Vec<Box<dyn AnyKey>>>> = Lazy::new(|| {
    Values::default()
        .sets
        .iter()
        .map(|set| set.keys())
        .collect()
});

/// The values of a set of keys. [`declare_keys!`](crate::declare_keys) implements it.
pub trait KeySet: Any + Debug + Send + Sync {
    /// Returns the values of a layer that sets none.
    fn unset() -> &'static Self
    where
        Self: Sized;

    /// Returns the keys.
    fn keys(&self) -> Vec<Box<dyn AnyKey>>;

    /// Returns the slots of the keys, in their order.
    fn slots(&self) -> Vec<&dyn AnySlot>;

    /// Returns the slots of the keys, in their order.
    fn slots_mut(&mut self) -> Vec<&mut dyn AnySlot>;

    /// Returns a copy.
    fn clone_box(&self) -> Box<dyn KeySet>;
}

/// The values of the keys of all linked families, in one layer or merged.
#[derive(Debug)]
pub struct Values {
    sets: Vec<Box<dyn KeySet>>,
}

impl Default for Values {
    fn default() -> Self {
        let mut sets: Vec<Box<dyn KeySet>> = vec![Box::new(AccessKeys::default())];
        for extension in extension::list() {
            sets.extend((extension.parts.keys)());
        }
        Self { sets }
    }
}

impl Clone for Values {
    fn clone(&self) -> Self {
        Self {
            sets: self.sets.iter().map(|set| set.clone_box()).collect(),
        }
    }
}

impl Values {
    /// Returns the values of a set of keys. Those of a family that is not linked are unset.
    pub fn of<K: KeySet>(&self) -> &K {
        let mut sets = self.sets.iter().map(|set| &**set as &dyn Any);
        match sets.find_map(|set| set.downcast_ref()) {
            Some(keys) => keys,
            None => K::unset(),
        }
    }

    /// Returns the values of a set of keys for changes. Those of a family that is not linked take no part in layers.
    pub fn of_mut<K: KeySet + Default>(&mut self) -> &mut K {
        let mut sets = self.sets.iter().map(|set| &**set as &dyn Any);
        let at = sets.position(|set| set.is::<K>());
        let at = at.unwrap_or_else(|| {
            self.sets.push(Box::new(K::default()));
            self.sets.len() - 1
        });
        let set: &mut dyn Any = &mut *self.sets[at];
        set.downcast_mut()
            .expect("the set at this place is of the type")
    }

    /// Returns what is said about all keys.
    pub fn keys() -> impl Iterator<Item = &'static KeyAbout> {
        KEYS.iter().flatten().map(|key| key.about())
    }

    /// Returns every value as JSON, with its key and its origin.
    pub fn rows(&self) -> impl Iterator<Item = (&'static KeyAbout, Value, Origin)> {
        self.entries().flat_map(|(key, slot)| {
            key.documents(slot)
                .into_iter()
                .map(|(value, origin)| (key.about(), value, origin))
        })
    }

    /// Reads the keys of a file, or those of a profile. Returns the first mistake, too.
    pub(super) fn read(
        section: &mut Section<'_>,
        is_profile: bool,
    ) -> (Self, Option<SettingsError>) {
        let mut values = Self::default();
        let mut mistake = None;
        for (key, slot) in values.entries_mut() {
            // Keys that are not read are unknown to the section, which refuses them.
            if key.about().in_profile || !is_profile {
                match key.read(section) {
                    Ok(read) => read.into_iter().for_each(|read| slot.replace(read)),
                    Err(found) => mistake = mistake.or(Some(found)),
                }
            }
        }
        (values, mistake)
    }

    /// Returns the values of the texts that `lookup` finds for the keys, such as those of flags.
    ///
    /// # Errors
    /// Returns the errors of `lookup`, and one for a text that is no value of its key.
    pub fn from_texts(
        lookup: impl Fn(&KeyAbout) -> Result<Option<(Vec<String>, Origin)>, SettingsError>,
    ) -> Result<Self, SettingsError> {
        let mut values = Self::default();
        for (key, slot) in values.entries_mut() {
            if let Some((texts, origin)) = lookup(key.about())? {
                slot.replace(key.parse(&texts, &origin)?);
            }
        }
        Ok(values)
    }

    /// Applies the values of a higher layer. The keys of both layers stay as they are: see [`Settings`](super::Settings) for layers.
    pub fn merge(&mut self, upper: Self) {
        let upper: Vec<_> = upper.entries().map(|(_, slot)| slot.clone_box()).collect();
        for ((_, slot), upper) in self.entries_mut().zip(upper) {
            slot.merge_any(upper);
        }
    }

    /// Applies the values of a higher layer. A key does not outlive the value of its owner beside which it was set, nor another key that
    /// sets the same.
    pub(super) fn apply(&mut self, upper: Self) {
        let outlived = Self::keys().filter(|key| self.is_outlived(key, &upper));
        let outlived: Vec<_> = outlived.map(|key| key.name).collect();
        for (key, slot) in self.entries_mut() {
            if outlived.contains(&key.about().name) {
                slot.replace(key.default());
            }
        }
        self.merge(upper);
    }

    fn is_outlived(&self, key: &KeyAbout, upper: &Self) -> bool {
        let is_replaced = key.instead_of.is_some_and(|other| {
            let mut names = [key.name, other].into_iter();
            names.any(|name| upper.origin(name).is_some())
        });
        is_replaced || key.owner.is_some_and(|owner| self.changes(owner, upper))
    }

    /// Returns true if the higher layer sets another value of this key, or the first one.
    pub(super) fn changes(&self, name: &str, upper: &Self) -> bool {
        upper.origin(name).is_some()
            && (self.origin(name).is_none() || self.document(name) != upper.document(name))
    }

    /// Returns the first key of this untrusted project that the user's values do not permit, and the reason.
    pub(super) fn refusal(&self, user: &Self) -> Option<(&'static str, &Origin, &'static str)> {
        self.entries()
            .zip(user.entries())
            .find_map(|((key, project), (_, user))| {
                let (origin, reason) = key.refusal(project, user)?;
                Some((key.about().name, origin, reason))
            })
    }

    /// Returns the origin of a key's first value that is not a default.
    pub(super) fn origin(&self, name: &str) -> Option<&Origin> {
        self.entry(name)?.1.origin()
    }

    /// Returns the files that keys of this use name.
    pub(super) fn files(&self, of_use: FileUse) -> impl Iterator<Item = &Path> {
        self.entries()
            .filter(move |(key, _)| key.about().file_use == Some(of_use))
            .filter_map(|(_, slot)| key::path(slot))
    }

    fn document(&self, name: &str) -> Option<Value> {
        let (key, slot) = self.entry(name)?;
        let documents = key.documents(slot).into_iter();
        Some(documents.map(|(value, _)| value).collect())
    }

    fn entry(&self, name: &str) -> Option<(&'static dyn AnyKey, &dyn AnySlot)> {
        self.entries().find(|(key, _)| key.about().name == name)
    }

    fn entries(&self) -> impl Iterator<Item = (&'static dyn AnyKey, &dyn AnySlot)> {
        KEYS.iter()
            // Keys and sets have one order, that of the linked families.
            .zip(&self.sets)
            .flat_map(|(keys, set)| keys.iter().map(|key| &**key).zip(set.slots()))
    }

    fn entries_mut(&mut self) -> impl Iterator<Item = (&'static dyn AnyKey, &mut dyn AnySlot)> {
        KEYS.iter()
            .zip(&mut self.sets)
            .flat_map(|(keys, set)| keys.iter().map(|key| &**key).zip(set.slots_mut()))
    }
}
