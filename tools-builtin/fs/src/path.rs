//! [`RelativePath`]: a normalised path below the workspace root.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tools::JsonSchema;
use tools::protocol::{InvalidTarget, Normaliser};
use tools::schemars::{Schema, SchemaGenerator, json_schema};

/// A path below the workspace root, normalised lexically on construction.
///
/// The pipeline normalises the target of a call by the same rules, so the path that is used is the path that was checked:
/// `src/../x` is `x` for both, and `src` is not accessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RelativePath(String);

impl RelativePath {
    /// Returns the components. The root has none.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|_| !self.is_root())
    }

    /// Returns the last component, and `.` for the root.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the path of the first `count` components.
    pub(crate) fn prefix(&self, count: usize) -> Self {
        let kept: Vec<_> = self.names().take(count).collect();
        if kept.is_empty() {
            Self::default()
        } else {
            Self(kept.join("/"))
        }
    }

    /// Returns the path of an entry in this directory.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if the name is not valid in a path argument, for example because it has a line break.
    pub(crate) fn child(&self, name: &str) -> Result<Self, InvalidTarget> {
        // A fast path: most names are plain, and this path was checked.
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'/' | b'\\');
        if !self.is_root() && !matches!(name, "" | "." | "..") && name.bytes().all(is_plain) {
            return Ok(Self([&self.0, "/", name].concat()));
        }
        format!("{self}/{name}").try_into()
    }

    /// Replaces the component at `index`, a link, with its target. Resolves `..` lexically, as in arguments.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if the result lies outside the root or is not valid as a path argument.
    pub(crate) fn through_link(&self, index: usize, target: &str) -> Result<Self, InvalidTarget> {
        if Path::new(target).is_absolute() {
            return Err(InvalidTarget::Absolute {
                value: target.to_owned(),
            });
        }
        let rest = self.names().skip(index + 1).map(|name| format!("/{name}"));
        let rest: String = rest.collect();
        format!("{}/{target}{rest}", self.prefix(index)).try_into()
    }

    /// Returns the part of this path below `directory`.
    pub(crate) fn below(&self, directory: &Self) -> &str {
        let rest = self.0.strip_prefix(&directory.0);
        let rest = rest.and_then(|rest| rest.strip_prefix('/'));
        rest.filter(|_| !directory.is_root()).unwrap_or(&self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0 == "."
    }
}

impl TryFrom<String> for RelativePath {
    type Error = InvalidTarget;

    fn try_from(path: String) -> Result<Self, InvalidTarget> {
        Normaliser::Path.apply(&path).map(Self)
    }
}

impl Default for RelativePath {
    /// Returns the workspace root.
    fn default() -> Self {
        Self(".".to_owned())
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for RelativePath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RelativePath".into()
    }

    /// Returns the constraints that a schema can check: relative, no backslash, no control character.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "pattern": r"^[^/\\\x00-\x1F\x7F][^\\\x00-\x1F\x7F]*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelativePath {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn a_path_has_one_spelling() {
        for (text, expected) in [("src/../x", "x"), ("./a//b/", "a/b"), ("a/..", ".")] {
            assert_eq!(path(text).as_str(), expected);
        }
        assert_eq!(path(".").names().count(), 0);
    }

    #[test]
    fn a_link_is_resolved_where_it_stands() {
        for (from, index, destination, expected) in [
            ("a/link/c", 1, "b", "a/b/c"),
            ("a/link", 1, "../b", "b"),
            ("link/c", 0, ".", "c"),
            ("a/link/c", 1, "..", "c"),
        ] {
            assert_eq!(
                path(from).through_link(index, destination).unwrap(),
                path(expected),
                "{from} -> {destination}"
            );
        }
    }

    #[test]
    fn a_link_does_not_leave_the_root() {
        for destination in [
            "/",
            "/etc",
            "../..",
            "../../a",
            "b/../../../c",
            "a\\b",
            "a\nb",
        ] {
            assert!(
                path("a/link/c").through_link(1, destination).is_err(),
                "{destination:?}"
            );
        }
    }
}
