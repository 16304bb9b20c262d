//! [`Scope`]: the memories of a project or of the user.

use std::fmt;
use std::path::Path;

use tools::{Access, Digest, Target, visible_line};

use crate::error::MemoryError;

/// The pattern of a scope in the arguments of a call.
pub(crate) const PATTERN: &str = "^(user|project(/[a-z0-9_-]{1,80})?)$";

/// The number of characters of the folder's name in the name of a project.
const NAME_CHARS: usize = 40;

/// The number of hexadecimal digits of the path's digest in the name of a project.
const DIGITS: usize = 12;

const USER: &str = "user";
const PROJECT: &str = "project";

/// The memories of one project, or those of the user for all projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project(String),
}

impl Scope {
    /// Returns the scope that an argument names. `own` is the name of the session's project.
    pub(crate) fn from_argument(text: &str, own: Option<&str>) -> Result<Self, MemoryError> {
        match text {
            PROJECT => own
                .map(|own| Self::Project(own.to_owned()))
                .ok_or(MemoryError::NoProject),
            text => match Self::from_stored(text)? {
                // A rule about one name of these memories would not hold for the other.
                Self::Project(name) if Some(name.as_str()) == own => {
                    Err(MemoryError::OwnProject { name })
                }
                scope => Ok(scope),
            },
        }
    }

    /// Returns the scope of this text, as [`Display`](fmt::Display) writes it.
    pub(crate) fn from_stored(text: &str) -> Result<Self, MemoryError> {
        match text.split_once('/') {
            None if text == USER => Ok(Self::User),
            Some((PROJECT, name)) if is_name(name) => Ok(Self::Project(name.to_owned())),
            None if text == PROJECT => Err(MemoryError::UnnamedProject),
            _ => Err(MemoryError::Scope {
                scope: visible_line(text, 80),
            }),
        }
    }
}

fn is_name(name: &str) -> bool {
    (1..=80).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str(USER),
            Self::Project(name) => write!(f, "{PROJECT}/{name}"),
        }
    }
}

/// Returns the scope of a call that names none.
pub(crate) fn default_scope() -> String {
    PROJECT.to_owned()
}

/// Returns the targets of reading the session's own memories: `memory:read:project` and `memory:read:user`.
pub(crate) fn own_targets() -> [Option<Target>; 2] {
    [PROJECT, USER].map(|scope| Target::new(Access::Read, "memory", scope).ok())
}

/// Returns the name of the project in a folder: the name of the folder, so that a person knows it, and a digest of its path, so that
/// no other folder has it.
pub(crate) fn project_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let name: String = name.chars().take(NAME_CHARS).collect();
    let mut digest = Digest::hash_bytes(folder.as_os_str().as_encoded_bytes()).to_string();
    digest.truncate(DIGITS);
    match name.trim_matches('-') {
        "" => digest,
        name => format!("{name}-{digest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_project_follows_from_its_path_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a/My App", "b/My App", "ünï", "--"].map(|name| folder.path().join(name));
        folders
            .iter()
            .for_each(|folder| std::fs::create_dir_all(folder).unwrap());
        let names = folders.each_ref().map(|folder| project_name(folder));
        assert!(
            names[0].starts_with("my-app-")
                && names[1].starts_with("my-app-")
                && names[0] != names[1]
        );
        assert_eq!(project_name(&folder.path().join("b/../a/My App")), names[0]);
        for name in names {
            let scope = Scope::Project(name);
            assert_eq!(Scope::from_stored(&scope.to_string()).unwrap(), scope);
        }
    }

    #[test]
    fn other_texts_are_no_scopes() {
        for text in [
            "",
            "project/",
            "project/A",
            "project/../user",
            "project/a/b",
            "users",
            "user/",
            "project/a\0",
        ] {
            assert!(Scope::from_stored(text).is_err(), "{text:?}");
        }
        assert!(matches!(
            Scope::from_argument("project/a", Some("a")),
            Err(MemoryError::OwnProject { .. })
        ));
        assert!(matches!(
            Scope::from_argument("project", None),
            Err(MemoryError::NoProject)
        ));
    }
}
