//! [`Skills`]: the service of the skill tools.

use std::collections::BTreeMap;

use tools::{ToolError, visible_line};

use crate::name::MAX_NAME;
use crate::section::section;
use crate::skill::{Skill, SkillError};

/// The skills that a session may load: the service of `skill.load` and `skill.read`.
///
/// The host decides which skills these are. A skill of a project belongs here only after a person has approved its contents, and
/// [pinned](Skill::with_pinned) to them.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    skills: BTreeMap<String, Skill>,
    /// The names that several skills have.
    pub clashes: Vec<Clash>,
    /// The names of skills that the host withholds, such as of one that waits for approval, with the reason and the next step. Only the
    /// error of [`get`](Self::get) for this name shows them, so that a model that does not know the name does not read it.
    pub withheld: BTreeMap<String, String>,
}

/// A name that several skills have. None of them is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// The name.
    pub name: String,
    /// The folders.
    pub places: Vec<String>,
}

impl Skills {
    /// Takes the skills of a session. Of several with one name, none is used. Names that differ in letter case alone are one name.
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Self {
        let mut by_name: BTreeMap<String, Vec<Skill>> = BTreeMap::new();
        for skill in skills {
            by_name
                .entry(skill.name.to_lowercase())
                .or_default()
                .push(skill);
        }
        let mut taken = Self::default();
        for mut same in by_name.into_values() {
            match (same.len(), same.pop()) {
                (1, Some(skill)) => drop(taken.skills.insert(skill.name.clone(), skill)),
                (_, Some(last)) => {
                    let name = last.name.to_owned();
                    same.push(last);
                    let places = same
                        .iter()
                        .map(|skill| visible_line(&skill.path.to_string_lossy(), 200))
                        .collect();
                    taken.clashes.push(Clash { name, places });
                }
                (_, None) => {}
            }
        }
        taken
    }

    /// Returns the skills, sorted by name.
    pub fn list(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }

    /// Returns the skill of this name.
    ///
    /// # Errors
    /// Returns an error if there is none, if several skills have this name, or if the host withholds the skill.
    pub fn get(&self, name: &str) -> Result<&Skill, SkillError> {
        if let Some(skill) = self.skills.get(name) {
            return Ok(skill);
        }
        if let Some(clash) = self
            .clashes
            .iter()
            .find(|clash| clash.name.to_lowercase() == name.to_lowercase())
        {
            return Err(SkillError::Clash {
                name: clash.name.clone(),
                places: clash.places.clone(),
            });
        }
        if let Some(reason) = self.withheld.get(name) {
            return Err(SkillError::Withheld {
                name: name.to_owned(),
                reason: reason.clone(),
            });
        }
        let names = ToolError::near(name, self.skills.keys().map(String::as_str));
        Err(SkillError::Unknown {
            name: visible_line(name, MAX_NAME),
            names,
        })
    }

    /// Returns the text that tells a model about the skills, of at most that many bytes. Returns an empty text if there are none.
    ///
    /// The names and descriptions are delimited as [`OutsideText`](tools::OutsideText). Descriptions that do not fit are left out, and
    /// then names.
    pub fn section(&self, max_bytes: usize) -> String {
        section(self.skills.values(), max_bytes)
    }
}
