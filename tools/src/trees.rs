//! [`Trees`]: the files that a program started by a tool may touch.

use std::fmt;

use protocol::{Access, Clause, Extent, Grant, Target};

/// The most paths of a set. Each becomes a rule of the kernel.
const MAX_PATHS: usize = 512;

/// The part of a grant that the kernel can enforce for files: files and whole directory trees below the workspace root.
///
/// Paths are relative to the root, which is `.`. The kernel knows paths and what lies below them, not wildcards. A clause such as
/// `fs:read:src/*.rs` is therefore left out: the result never covers a path that the grant does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trees {
    /// The paths, sorted, none below another tree.
    pub paths: Vec<TreePath>,
    /// The clauses that could not be expressed, and the paths beyond the maximum number, as text, sorted. Clauses that a tree of the same
    /// layer covers are not among them.
    pub left_out: Vec<String>,
}

/// A file or a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TreePath {
    /// The path, normalised.
    pub path: String,
    /// True if everything below the path is covered too.
    pub is_tree: bool,
}

impl Trees {
    /// Returns the paths that every layer of the grant covers with this access.
    pub fn from_grant(grant: &Grant, access: Access) -> Self {
        let layers = grant.layers().map(|layer| Self::from_layer(layer, access));
        layers
            .reduce(|all, layer| all.intersect(&layer))
            .unwrap_or_default()
    }

    fn from_layer(layer: &[Clause], access: Access) -> Self {
        let mut trees = Self::default();
        let mut patterns = Vec::new();
        for clause in layer {
            let is_about_files = clause.scheme().is_none_or(|scheme| scheme == "fs");
            if !is_about_files || clause.access().is_some_and(|of| of != access) {
                continue;
            }
            match clause.extent() {
                Extent::Everything => trees.push(".", true),
                Extent::Subtree(path) => trees.push(path, true),
                Extent::Exactly(path) => trees.push(path, false),
                _ => patterns.push(clause),
            }
        }
        let mut trees = trees.simplify();
        let missed = patterns
            .into_iter()
            .filter(|clause| !trees.cover_all_of(clause.pattern()))
            .map(Clause::to_string);
        trees.left_out.append(&mut missed.collect());
        trees.simplify()
    }

    /// Returns true if a tree covers the folder in which all matches of the pattern lie.
    fn cover_all_of(&self, pattern: &str) -> bool {
        let names: Vec<_> = pattern
            .split('/')
            .take_while(|name| !name.contains(['*', '?', '[', '{', '\\']))
            .collect();
        let path = if names.is_empty() {
            ".".to_owned()
        } else {
            names.join("/")
        };
        let folder = TreePath {
            path,
            is_tree: true,
        };
        !names.contains(&"..") && self.paths.iter().any(|path| path.covers(&folder))
    }

    fn push(&mut self, path: &str, is_tree: bool) {
        self.paths.push(TreePath {
            path: path.to_owned(),
            is_tree,
        });
    }

    /// Returns the paths that both sets cover.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut both = Self {
            paths: Vec::new(),
            left_out: [&self.left_out[..], &other.left_out].concat(),
        };
        for a in &self.paths {
            both.paths
                .extend(other.paths.iter().filter(|b| a.covers(b)).cloned());
            if other.paths.iter().any(|b| b.covers(a)) {
                both.paths.push(a.clone());
            }
        }
        both.simplify()
    }

    /// Returns one target for each path, by which a call of a program conflicts with calls on these paths.
    pub(crate) fn targets(&self, access: Access) -> impl Iterator<Item = Target> {
        self.paths
            .iter()
            .filter_map(move |path| Target::new(access, "fs", &*path.path).ok())
    }

    /// Sorts the paths and removes those that another one covers.
    fn simplify(mut self) -> Self {
        self.paths.sort();
        self.paths.dedup();
        let all = self.paths.clone();
        self.paths
            .retain(|path| !all.iter().any(|other| other != path && other.covers(path)));
        // Fewer paths than granted are safe, and a person is told which ones a program does not get.
        let beyond = self.paths.drain(MAX_PATHS.min(self.paths.len())..);
        self.left_out.extend(beyond.map(|path| path.to_string()));
        self.left_out.sort();
        self.left_out.dedup();
        self
    }
}

/// Writes `src/**` for a tree and `src` for a file, and `**` for the tree of the root.
impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.is_tree) {
            (".", true) => f.write_str("**"),
            (path, true) => write!(f, "{path}/**"),
            (path, false) => f.write_str(path),
        }
    }
}

impl TreePath {
    /// Returns true if this path is the other one, or a tree that contains it.
    fn covers(&self, other: &Self) -> bool {
        if self.path == other.path {
            // A rule for a file does not reach what lies below a folder of this name.
            return self.is_tree || !other.is_tree;
        }
        let is_below = self.path == "."
            || other
                .path
                .strip_prefix(&self.path)
                .is_some_and(|rest| rest.starts_with('/'));
        self.is_tree && is_below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn trees(layers: &[&[&str]], access: Access) -> Vec<String> {
        let layers = layers.iter().map(|layer| Grant::parse(*layer).unwrap());
        let grant = layers.reduce(|all, layer| all.intersect(&layer)).unwrap();
        Trees::from_grant(&grant, access)
            .paths
            .iter()
            .map(TreePath::to_string)
            .collect()
    }

    #[test]
    fn a_tree_is_covered_if_every_layer_covers_it() {
        for (layers, expected) in [
            (
                &[&["fs:write:**"] as &[&str]] as &[&[&str]],
                &["**"] as &[&str],
            ),
            (
                &[&["fs:*:src/**", "fs:write:Cargo.toml", "fs:read:doc/**"]],
                &["Cargo.toml", "src/**"],
            ),
            (
                &[&["fs:write:**"], &["fs:write:src/**", "fs:write:a"]],
                &["a", "src/**"],
            ),
            (
                &[&["fs:write:a/**"], &["fs:write:a/b/**"], &["*:*:**"]],
                &["a/b/**"],
            ),
            (&[&["fs:write:a/**"], &["fs:write:ab/**"]], &[]),
            (
                &[&["fs:write:a/**", "fs:write:a/b", "fs:write:a"]],
                &["a/**"],
            ),
            (&[&["fs:write:src/*.rs", "fs:write:{a,b}/**"]], &[]),
            (&[&["net:write:**"]], &[]),
            (&[&[]], &[]),
        ] {
            assert_eq!(trees(layers, Access::Write), expected, "{layers:?}");
        }
    }

    #[test]
    fn the_clauses_that_are_left_out_are_named() {
        for (layers, expected) in [
            (
                &[&["fs:read:src/**", "fs:write:*.rs"] as &[&str]] as &[&[&str]],
                &[] as &[&str],
            ),
            (
                &[
                    &["fs:read:src/*.rs", "*:*:*.md"],
                    &["fs:read:**/a", "fs:read:b"],
                ],
                &["*:*:*.md", "fs:read:**/a", "fs:read:src/*.rs"],
            ),
            (&[&["fs:read:src/*.rs", "fs:read:**"]], &[]),
            (
                &[&["fs:read:src/a/*.rs", "fs:read:src/**", "fs:read:src*/**"]],
                &["fs:read:src*/**"],
            ),
            (
                &[&["fs:read:src/*.rs"], &["fs:read:src/**"]],
                &["fs:read:src/*.rs"],
            ),
            (&[&["fs:read:src", "fs:read:src/*"]], &["fs:read:src/*"]),
        ] {
            let layers_of = layers.iter().map(|layer| Grant::parse(*layer).unwrap());
            let grant = layers_of
                .reduce(|all, layer| all.intersect(&layer))
                .unwrap();
            assert_eq!(
                Trees::from_grant(&grant, Access::Read).left_out,
                expected,
                "{layers:?}"
            );
        }
        let many =
            Grant::parse((0..=MAX_PATHS).map(|number| format!("fs:read:{number:04}/**"))).unwrap();
        assert_eq!(Trees::from_grant(&many, Access::Read).left_out, ["0512/**"]);
    }

    fn grant() -> impl Strategy<Value = Grant> {
        let clause = select(vec![
            "fs:write:**",
            "fs:write:a/**",
            "fs:*:a",
            "fs:write:a/b/**",
            "fs:write:a/*",
            "*:*:**",
            "fs:write:.",
            "fs:read:**",
            "fs:write:a/b/c",
            "fs:write:ab/**",
            "net:write:**",
            "fs:write:*/**",
        ]);
        let layer = prop::collection::vec(clause, 0..4);
        prop::collection::vec(layer, 1..4).prop_map(|layers| {
            let layers = layers.into_iter().map(|layer| Grant::parse(layer).unwrap());
            layers.reduce(|all, layer| all.intersect(&layer)).unwrap()
        })
    }

    proptest! {
        #[test]
        fn the_trees_never_cover_what_the_grant_does_not(
            grant in grant(),
            path in select(vec![".", "a", "a/b", "a/b/c", "a/b/c/d", "ab", "ab/c", "b"]),
        ) {
            let path = TreePath { path: path.to_owned(), is_tree: false };
            let is_covered = Trees::from_grant(&grant, Access::Write).paths.iter().any(|tree| tree.covers(&path));
            let target = Target::new(Access::Write, "fs", path.path).unwrap();
            prop_assert!(!is_covered || grant.permits(&target), "{target} {grant}");
        }
    }
}
