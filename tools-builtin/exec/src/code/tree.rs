//! The digest of the files of a workspace that an approval covers without their names.

use std::fs::{self, Metadata};
use std::path::Path;

use tools::Digest;
use tools::protocol::Words;

use super::kind::{may_be_code, says_how_to_build};
use crate::command::has_word;

/// The most entries of a workspace that are looked at.
const MAX_ENTRIES: usize = 200_000;

/// The most folders inside of each other.
const MAX_DEPTH: usize = 256;

/// Programs that build or test the sources of a project.
const BUILD_TOOLS: &str = "bazel bazelisk bmake cargo cmake cross ctest dotnet gmake go gradle just make meson mix \
    mvn ninja nox npm pnpm py.test pytest rake sbt samu scons swift task tox yarn zig";

/// The files to which an approval is bound, beyond those that a command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// The command runs no code, as far as it is known.
    Named,
    /// All files that say how a project is built, but not its sources: to build changed sources is what the command is for.
    Instructions,
    /// All files that may be code.
    Code,
}

impl Reach {
    /// Returns the reach of a command that runs code.
    pub(super) fn of(words: &Words) -> Self {
        let words = words.iter().take(3);
        let words: Vec<&str> = words.map(|word| word.known().unwrap_or_default()).collect();
        let name = words
            .first()
            .map_or("", |program| program.rsplit('/').next().unwrap_or_default());
        let is_pytest = name.starts_with("python") && words[1..] == ["-m", "pytest"];
        if is_pytest || has_word(BUILD_TOOLS, name) {
            Self::Instructions
        } else {
            Self::Code
        }
    }

    /// Returns the digest of the files below the root. Returns `None` if there are too many, or too deep.
    pub(super) fn digest(self, root: &Path) -> Option<Digest> {
        self.digest_among(root, MAX_ENTRIES)
    }

    fn digest_among(self, root: &Path, most: usize) -> Option<Digest> {
        let mut lines = Vec::new();
        let mut left = most;
        let mut waiting = if self == Self::Named {
            Vec::new()
        } else {
            vec![(root.to_owned(), MAX_DEPTH)]
        };
        while let Some((folder, depth)) = waiting.pop() {
            let depth = depth.checked_sub(1)?;
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                left = left.checked_sub(1)?;
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(metadata) = fs::symlink_metadata(&path) else {
                    continue;
                };
                if metadata.is_dir() && !self.leaves_out(&path, &name) {
                    waiting.push((path.clone(), depth));
                }
                if self.has(&name, &metadata) {
                    lines.push(format!("{path:?} {}", state(&metadata)));
                }
            }
        }
        lines.sort_unstable();
        Some(Digest::hash_bytes(lines.join("\n").as_bytes()))
    }

    fn has(self, name: &str, metadata: &Metadata) -> bool {
        match self {
            Self::Named => false,
            Self::Instructions => !metadata.is_dir() && says_how_to_build(name),
            // A folder shadows a module of its name.
            Self::Code => metadata.is_dir() || may_be_code(name, metadata),
        }
    }

    /// Returns true for a folder of data of git, or of the outputs or the dependencies of a build.
    fn leaves_out(self, folder: &Path, name: &str) -> bool {
        name == ".git"
            // A folder of sources can be named `target`, too, so the tag that cargo leaves there decides.
            || name == "target" && folder.join("CACHEDIR.TAG").is_file()
            || self == Self::Instructions && name == "node_modules"
    }
}

/// Describes the state of an entry: a program can set the time of the last write, but not that of the last change.
fn state(metadata: &Metadata) -> String {
    // The entries of a folder have their own lines.
    if metadata.is_dir() {
        return "folder".to_owned();
    }
    format!(
        "{:?} {} {:?}",
        metadata.file_type(),
        metadata.len(),
        change_time(metadata)
    )
}

/// The time of the last change, which a program cannot set.
pub(super) fn change_time(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_with_folders_too_deep_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        let dig = |depth: usize| {
            let path = folder.path().join(vec!["d"; depth].join("/"));
            fs::create_dir_all(path).unwrap();
            Reach::Code.digest(folder.path())
        };
        assert!(dig(MAX_DEPTH - 1).is_some() && dig(MAX_DEPTH).is_none());
    }

    #[test]
    fn a_workspace_with_too_many_entries_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        ["a", "b"]
            .iter()
            .for_each(|file| fs::write(folder.path().join(file), "").unwrap());
        let has_digest = |most| Reach::Code.digest_among(folder.path(), most).is_some();
        assert_eq!((has_digest(2), has_digest(1)), (true, false));
    }
}
