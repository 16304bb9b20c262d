#![doc = include_str!("../README.md")]

mod command;
mod contents;
mod discovery;
mod extension;
mod folder;
mod front_matter;
mod library;
mod load;
mod name;
mod section;
mod session;
mod settings;
mod skill;
mod skills;

use tools::{Catalog, RegisterError};

pub use contents::Contents;
pub use discovery::{Discovery, Found, Overlooked};
pub use folder::FolderError;
pub use front_matter::{Fault, FrontMatter, SkillText};
pub use settings::SkillKeys;
pub use skill::{Origin, Skill, SkillError, named_files};
pub use skills::{Clash, Skills};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&load::LOAD_TOOL, &load::READ_TOOL])
}
