//! [`Extension`]: the link-time record of a family of tools.

use std::fmt;

use tools::Source;
use tools::linked::{self, NameConflict, NamedSubmission, UnusableName};

use crate::settings::KeySet;

/// The link-time record of a family of tools: everything by which it joins a program, besides its tools. Register it with
/// [`inventory::submit!`](inventory::submit). A program that links the family's crate has its settings and grants.
///
/// ```
/// use host::settings::{Key, Setting, declare_keys, filled, text};
/// use host::{Extension, inventory};
/// use tools::source;
///
/// declare_keys! {
///     /// The keys of the table `[lamp]`.
///     pub struct LampKeys;
///
///     /// The room of the lamp that is switched without a name
///     pub room: Option<Setting<String>> = Key::new("lamp.room", text(filled), None, "\"kitchen\"");
/// }
///
/// inventory::submit! {
///     Extension::new("lamp", source!())
///         .with_default_grants(&["lamp:read:**"])
///         .with_keys(|| vec![Box::new(LampKeys::default())])
/// }
///
/// assert!(host::settings::Values::keys().any(|key| key.name == "lamp.room"));
/// ```
pub struct Extension {
    name: &'static str,
    source: Source,
    pub(crate) default_grants: &'static [&'static str],
    pub(crate) keys: fn() -> Vec<Box<dyn KeySet>>,
}

inventory::collect!(Extension);

impl Extension {
    /// Creates the record of a family without grants and keys. The name has letters, digits, `-`, `_` and `.`.
    pub const fn new(name: &'static str, source: Source) -> Self {
        Self { name, source, default_grants: &[], keys: Vec::new }
    }

    /// Sets the grants that a session has unless its user drops them, such as `clock:read:now`. A clause that cannot be parsed is left out.
    #[must_use]
    pub const fn with_default_grants(mut self, grants: &'static [&'static str]) -> Self {
        self.default_grants = grants;
        self
    }

    /// Sets the function that returns the values of the family's keys in a layer that sets none.
    #[must_use]
    pub const fn with_keys(mut self, keys: fn() -> Vec<Box<dyn KeySet>>) -> Self {
        self.keys = keys;
        self
    }
}

impl NamedSubmission for Extension {
    const NOUN: &'static str = "extension";

    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &Source {
        &self.source
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").field("name", &self.name).field("source", &self.source).finish_non_exhaustive()
    }
}

/// Returns the usable linked extensions, sorted by name.
pub fn list() -> Vec<&'static Extension> {
    linked::list()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts() -> Vec<NameConflict> {
    linked::conflicts::<Extension>()
}

/// Returns the linked extensions with unusable names, sorted by name.
pub fn problems() -> Vec<UnusableName> {
    linked::problems::<Extension>()
}
