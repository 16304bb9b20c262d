//! [`Key`]: the declaration of one setting.

use super::error::ConfigError;
use super::kind::Kind;
use super::origin::Origin;
use super::project::ProjectRule;
use super::section::Section;
use super::slot::Slot;
use crate::program;

/// The declaration of one setting, whose value is in a slot `S`.
pub(super) struct Key<S> {
    pub(super) about: KeyAbout,
    pub(super) default: S,
    pub(super) project: ProjectRule<S>,
    kind: Kind<S>,
}

/// The part of a declaration that does not depend on the type of the value.
#[derive(Clone, Debug)]
pub(crate) struct KeyAbout {
    /// The name in a file; `limits.max_steps` is `max_steps` in the table `[limits]`.
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// A value in TOML. Empty if the help must not set the key, because another one excludes it.
    pub(crate) example: &'static str,
    pub(crate) flag: Option<KeyFlag>,
    /// Says for people whether an untrusted project may set it.
    pub(crate) project: &'static str,
    /// True if a profile may set it.
    pub(crate) in_profile: bool,
    /// True if it holds only for the provider that is set with it.
    pub(crate) of_provider: bool,
    is_scalar: bool,
}

/// The flag of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyFlag {
    /// The flag with its dashes.
    pub(crate) name: &'static str,
    pub(crate) value: FlagValue,
    /// True if only the commands that run a session have it.
    pub(crate) is_of_session: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FlagValue {
    /// The name of the value in the help.
    Named(&'static str),
    /// The value that the bare flag stands for, and the flag's own help.
    Implied(&'static str, &'static str),
}

impl<S: Slot> Key<S> {
    /// Declares a key. Unless [`Key::with_project`] says otherwise, an untrusted project may not set it.
    pub(super) fn new(name: &'static str, kind: Kind<S>, default: S, example: &'static str) -> Self {
        let (project, is_scalar) = (ProjectRule::never("it is for the user to decide"), kind.is_scalar);
        let about = KeyAbout {
            name,
            doc: "",
            example,
            flag: None,
            project: project.label,
            in_profile: false,
            of_provider: false,
            is_scalar,
        };
        Self { about, default, project, kind }
    }

    pub(super) fn with_doc(mut self, doc: &'static str) -> Self {
        self.about.doc = doc.trim_start();
        self
    }

    /// Adds a flag to the commands that run a session.
    pub(super) fn with_session_flag(mut self, name: &'static str, value: FlagValue) -> Self {
        self.about.flag = Some(KeyFlag { name, value, is_of_session: true });
        self
    }

    /// Adds a flag to all commands that run tools.
    pub(super) fn with_flag(mut self, name: &'static str, value: FlagValue) -> Self {
        self.about.flag = Some(KeyFlag { name, value, is_of_session: false });
        self
    }

    /// Sets whether an untrusted project may set the key.
    pub(super) fn with_project(mut self, project: ProjectRule<S>) -> Self {
        (self.about.project, self.project) = (project.label, project);
        self
    }

    /// Accepts the key in a profile.
    pub(super) fn in_profiles(mut self) -> Self {
        self.about.in_profile = true;
        self
    }

    /// Ties the key to the provider that is set with it: another provider does not inherit it.
    pub(super) fn of_provider(mut self) -> Self {
        self.about.of_provider = true;
        self
    }

    /// Reads the key from a file, or returns the default.
    pub(super) fn read(self, section: &mut Section<'_>) -> Result<S, ConfigError> {
        Ok((self.kind.from_toml)(section, self.about.name)?.unwrap_or(self.default))
    }

    /// Reads the key from the text of a flag or a variable.
    pub(super) fn parse(&self, texts: &[String], origin: &Origin) -> Result<S, ConfigError> {
        let refused = |reason| ConfigError::Value { origin: origin.clone(), key: self.about.name.to_owned(), reason };
        (self.kind.from_texts)(texts, origin).map_err(refused)
    }
}

impl KeyAbout {
    /// Returns the environment variable, such as `TOOLCRIB_LIMITS_MAX_STEPS`. Returns `None` for a list.
    pub(crate) fn variable(&self) -> Option<String> {
        self.is_scalar.then(|| program::variable(self.name))
    }
}
