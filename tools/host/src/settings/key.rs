//! [`Key`]: the declaration of one setting.

use std::any::Any;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::SettingsError;
use super::kind::Kind;
use super::origin::{Origin, Setting};
use super::project::ProjectRule;
use super::section::Section;
use super::slot::{AnySlot, Slot};
use crate::program;

/// The declaration of one setting, whose value is in a slot `S`.
#[must_use]
pub struct Key<S: Slot> {
    about: KeyAbout,
    /// The default.
    pub default: S,
    project: ProjectRule<S>,
    kind: Kind<S>,
}

/// The part of a declaration that does not depend on the type of the value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyAbout {
    /// The name in a file; `limits.max_steps` is `max_steps` in the table `[limits]`.
    pub name: &'static str,
    /// The meaning in a sentence without a full stop.
    pub doc: &'static str,
    /// A value in TOML. Empty if the help must not set the key, because another one excludes it.
    pub example: &'static str,
    /// The flag, if it has one.
    pub flag: Option<KeyFlag>,
    /// Says for people whether an untrusted project may set it.
    pub project: &'static str,
    /// True if a profile may set it.
    pub in_profile: bool,
    /// The key that it belongs to: another value of that one in a higher layer unsets it.
    pub owner: Option<&'static str>,
    /// True if it is an error without a value of its owner.
    pub needs_owner: bool,
    /// The key with which it cannot be set: one layer has at most one of them, and a higher layer with one unsets both.
    pub instead_of: Option<&'static str>,
    /// The protection of the file whose path is the value.
    pub file_use: Option<FileUse>,
    is_scalar: bool,
}

/// The protection of a file that a key names, in each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Each write of a tool asks.
    Control,
    /// No tool reaches it.
    Secret,
}

/// The flag of a key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeyFlag {
    /// The flag with its dashes.
    pub name: &'static str,
    /// The value that it takes.
    pub value: FlagValue,
    /// True if only the commands that run a session have it.
    pub is_of_session: bool,
}

/// The value of a flag.
#[derive(Clone, Copy, Debug)]
pub enum FlagValue {
    /// The name of the value in the help.
    Named(&'static str),
    /// The value that the bare flag stands for, and the flag's own help.
    Implied(&'static str, &'static str),
}

impl<S: Slot> Key<S> {
    /// Declares a key. Unless [`Key::with_project`] says otherwise, an untrusted project may not set it.
    pub fn new(name: &'static str, kind: Kind<S>, default: S, example: &'static str) -> Self {
        // Forgetting the rule of a new key must not open it to a checkout.
        let project = ProjectRule::never("it is for the user to decide");
        let about = KeyAbout {
            name,
            doc: "",
            example,
            flag: None,
            project: project.label,
            in_profile: false,
            owner: None,
            needs_owner: false,
            instead_of: None,
            file_use: None,
            is_scalar: kind.is_scalar,
        };
        Self {
            about,
            default,
            project,
            kind,
        }
    }

    /// Sets the meaning. [`declare_keys!`](crate::declare_keys) takes it from the doc comment.
    pub fn with_doc(mut self, doc: &'static str) -> Self {
        self.about.doc = doc.trim_start();
        self
    }

    /// Adds a flag to the commands that run a session.
    pub fn with_session_flag(self, name: &'static str, value: FlagValue) -> Self {
        let mut key = self.with_flag(name, value);
        if let Some(flag) = &mut key.about.flag {
            flag.is_of_session = true;
        }
        key
    }

    /// Adds a flag to all commands that run tools.
    pub fn with_flag(mut self, name: &'static str, value: FlagValue) -> Self {
        let is_of_session = false;
        self.about.flag = Some(KeyFlag {
            name,
            value,
            is_of_session,
        });
        self
    }

    /// Sets whether an untrusted project may set the key.
    pub fn with_project(mut self, project: ProjectRule<S>) -> Self {
        (self.about.project, self.project) = (project.label, project);
        self
    }

    /// Accepts the key in a profile.
    pub fn in_profiles(mut self) -> Self {
        self.about.in_profile = true;
        self
    }

    /// Ties the key to another one, such as a URL to its service: it does not outlive the value beside which it was set.
    pub fn owned_by(mut self, owner: &'static str) -> Self {
        self.about.owner = Some(owner);
        self
    }

    /// Ties the key to another one as [`Key::owned_by`] does, and makes it an error without a value of that one.
    pub fn only_with(mut self, owner: &'static str) -> Self {
        self.about.needs_owner = true;
        self.owned_by(owner)
    }

    /// Names the key that sets the same in another way. One layer has at most one of them, and a higher layer replaces both.
    pub fn instead_of(mut self, other: &'static str) -> Self {
        self.about.instead_of = Some(other);
        self
    }

    /// Says that the value is the path of a file with a secret.
    pub fn of_secret_file(mut self) -> Self {
        self.about.file_use = Some(FileUse::Secret);
        self
    }

    /// Says that the value is the path of a file that decides about sessions as the settings do.
    pub fn of_control_file(mut self) -> Self {
        self.about.file_use = Some(FileUse::Control);
        self
    }
}

impl KeyAbout {
    /// Returns the environment variable, such as `TOOLCRIB_LIMITS_MAX_STEPS`. Returns `None` for a list.
    pub fn variable(&self) -> Option<String> {
        self.is_scalar.then(|| program::variable(self.name))
    }
}

/// A key whose type of value is not known. Each slot that a method takes must be of the key's own type, as those of its
/// [`KeySet`](super::KeySet) are.
pub trait AnyKey: Send + Sync {
    /// Returns what the declaration says.
    fn about(&self) -> &KeyAbout;

    /// Returns the slot with the default.
    fn default(&self) -> Box<dyn AnySlot>;

    /// Reads the key from a file. Returns `None` if the file does not have it.
    ///
    /// # Errors
    /// Returns an error if the value is none of the key.
    fn read(&self, section: &mut Section<'_>) -> Result<Option<Box<dyn AnySlot>>, SettingsError>;

    /// Reads the key from the texts of a flag, or from that of a variable.
    ///
    /// # Errors
    /// Returns an error if the text is no value of the key.
    fn parse(&self, texts: &[String], origin: &Origin) -> Result<Box<dyn AnySlot>, SettingsError>;

    /// Returns the origin of an untrusted project's value that the user's value does not permit, and the reason.
    fn refusal<'a>(
        &self,
        project: &'a dyn AnySlot,
        user: &dyn AnySlot,
    ) -> Option<(&'a Origin, &'static str)>;

    /// Returns each value as JSON with its origin, or one null if there is none.
    fn documents(&self, slot: &dyn AnySlot) -> Vec<(Value, Origin)>;
}

impl<S: Slot> AnyKey for Key<S> {
    fn about(&self) -> &KeyAbout {
        &self.about
    }

    fn default(&self) -> Box<dyn AnySlot> {
        Box::new(self.default.clone())
    }

    fn read(&self, section: &mut Section<'_>) -> Result<Option<Box<dyn AnySlot>>, SettingsError> {
        let slot = (self.kind.from_toml)(section, self.about.name)?;
        Ok(slot.map(|slot| Box::new(slot) as Box<dyn AnySlot>))
    }

    fn parse(&self, texts: &[String], origin: &Origin) -> Result<Box<dyn AnySlot>, SettingsError> {
        match (self.kind.from_texts)(texts, origin) {
            Ok(slot) => Ok(Box::new(slot)),
            Err(reason) => Err(SettingsError::value(origin, self.about.name, reason)),
        }
    }

    fn refusal<'a>(
        &self,
        project: &'a dyn AnySlot,
        user: &dyn AnySlot,
    ) -> Option<(&'a Origin, &'static str)> {
        let (project, user): (&'a dyn Any, &dyn Any) = (project, user);
        let origin = (self.project.refuses)(project.downcast_ref()?, user.downcast_ref()?)?;
        Some((origin, self.project.reason))
    }

    fn documents(&self, slot: &dyn AnySlot) -> Vec<(Value, Origin)> {
        let slot: &dyn Any = slot;
        let settings = slot.downcast_ref::<S>().map_or(&[][..], S::settings);
        if settings.is_empty() {
            return vec![(Value::Null, Origin::Default)];
        }
        settings
            .iter()
            .map(|setting| ((self.kind.document)(&setting.value), setting.origin.clone()))
            .collect()
    }
}

/// Returns the path in a slot, if it has one of a file.
pub(super) fn path(slot: &dyn AnySlot) -> Option<&Path> {
    let slot: &dyn Any = slot;
    let setting = slot.downcast_ref::<Option<Setting<PathBuf>>>()?.as_ref()?;
    Some(&setting.value)
}
