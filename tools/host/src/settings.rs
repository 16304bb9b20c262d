//! Settings: keys that families declare, read from files, variables and flags, each value with its origin.
//!
//! [`declare_keys!`] declares a set of keys, and an [`Extension`](crate::Extension) submits it.

mod access;
mod always;
mod always_file;
mod declarations;
mod error;
mod file;
mod key;
mod kind;
mod origin;
mod parser;
mod project;
mod project_file;
mod reader;
mod section;
#[expect(clippy::module_inception, reason = "the file is called after its type")]
mod settings;
mod slot;
mod trust;
mod values;

pub use access::AccessKeys;
pub use always::Always;
pub use error::SettingsError;
pub use file::{
    FileState, Loaded, SettingsFile, built_in, load_default, load_named, load_unapplied,
    project_contents, rules,
};
pub use key::{AnyKey, FileUse, FlagValue, Key, KeyAbout, KeyFlag};
pub use kind::{
    Kind, accumulated_list, boolean, converted_tables, duration, float, integer, items,
    named_tables, printed_text, replaced_list, tables, text,
};
/// Used by [`declare_keys!`].
#[doc(hidden)]
pub use once_cell::sync::Lazy;
pub use origin::{Origin, Setting};
pub use parser::{
    Base, ENVIRONMENT, Parser, clause, directory, file, host, key_source, non_blank, number,
    proxy_url, switch, time, url, variable,
};
pub use project::{
    CONTRADICTS, EXPORTS, GRANTS, INSTRUCTS, NARROWS, ProjectRule, REACHES, REDIRECTS, RUNS, SPENDS,
};
pub use reader::{Layer, layer};
pub use section::{Section, TomlType};
pub use settings::{SensitivePlace, Settings};
pub use slot::{AnySlot, Document, Slot};
pub use trust::check;
pub use values::{KeySet, Values};

pub use crate::declare_keys;
