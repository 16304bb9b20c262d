//! [`History`]: reads commits and trees, each once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;

use crate::git::Git;
use crate::objects::Objects;

/// The longest time of one history: 2,200 commits with 19,000 trees take 0.6 s while the machine builds, and each session reads once.
const LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of trees that are kept to be read again. A tree is mostly that of the next commit, too.
const MAX_KEPT: usize = 64 << 20;

/// The kind of a committed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Program,
    Link,
}

/// The content of a committed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) kind: Kind,
    /// The object id, in hexadecimal digits.
    pub(crate) id: Box<str>,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Blob(Blob),
    Tree(Box<str>),
}

impl Item {
    /// Returns the id of a tree.
    pub(crate) fn tree(&self) -> Option<&str> {
        match self {
            Self::Tree(id) => Some(id),
            Self::Blob(_) => None,
        }
    }
}

/// The files, links and folders in a tree, by their names. It has no submodules.
pub(crate) type Tree = BTreeMap<Box<[u8]>, Item>;

/// A commit.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) tree: Box<str>,
    pub(crate) parents: Vec<Box<str>>,
    /// The addresses of the author and the committer as they are written: a file of the repository could map them.
    addresses: [Option<Box<[u8]>>; 2],
}

impl Commit {
    /// Returns true if author and committer have this address.
    pub(crate) fn is_by(&self, user: &str) -> bool {
        let mut addresses = self.addresses.iter();
        addresses.all(|address| address.as_deref() == Some(user.as_bytes()))
    }
}

/// Reads a history of git. Each method returns `None` if an object cannot be read, or if the time is over.
pub(crate) struct History {
    objects: Objects,
    until: Instant,
    trees: HashMap<Box<str>, Rc<Tree>>,
    kept: usize,
}

impl History {
    pub(crate) fn open(git: &Git) -> Option<Self> {
        Some(Self {
            objects: Objects::open(git, LIMIT)?,
            until: Instant::now() + LIMIT,
            trees: HashMap::new(),
            kept: 0,
        })
    }

    /// Returns the commits to which this one leads, itself included.
    pub(crate) fn commits(&mut self, head: &str) -> Option<HashMap<Box<str>, Commit>> {
        let mut commits = HashMap::new();
        let mut waiting: Vec<Box<str>> = vec![head.into()];
        while let Some(id) = waiting.pop() {
            if let Entry::Vacant(entry) = commits.entry(id) {
                let content = self.objects.read("commit", &[entry.key()])?.pop()?;
                let commit = entry.insert(parse_commit(&content)?);
                waiting.extend(commit.parents.iter().cloned());
            }
        }
        Some(commits)
    }

    /// Returns trees by their ids.
    pub(crate) fn trees<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<HashMap<&'a str, Rc<Tree>>> {
        // Trees that have each other many times are read once, and could be walked for ever.
        if Instant::now() > self.until {
            return None;
        }
        if self.kept > MAX_KEPT {
            self.trees.clear();
            self.kept = 0;
        }
        let unknown = ids.clone().filter(|id| !self.trees.contains_key(*id));
        let unknown: BTreeSet<&str> = unknown.collect();
        let unknown = Vec::from_iter(unknown);
        for (id, content) in unknown.iter().zip(self.objects.read("tree", &unknown)?) {
            self.kept += content.len();
            let tree = parse_tree(&content, id.len() / 2)?;
            self.trees.insert((*id).into(), Rc::new(tree));
        }
        ids.map(|id| Some((id, Rc::clone(self.trees.get(id)?))))
            .collect()
    }
}

/// Parses the lines `tree`, `parent`, `author` and `committer` with which each commit begins.
fn parse_commit(content: &[u8]) -> Option<Commit> {
    let mut lines = content.split(|byte| *byte == b'\n').peekable();
    let mut field = |name: &str| {
        let line = lines.next_if(|line| line.starts_with(name.as_bytes()))?;
        line[name.len()..].strip_prefix(b" ")
    };
    let id = |value: &[u8]| Some(Box::from(str::from_utf8(value).ok()?));
    let tree = id(field("tree")?)?;
    let mut parents = Vec::new();
    while let Some(parent) = field("parent") {
        parents.push(id(parent)?);
    }
    Some(Commit {
        tree,
        parents,
        addresses: ["author", "committer"].map(|name| address(field(name)?)),
    })
}

/// Returns the address in `Name <address> time zone`.
fn address(person: &[u8]) -> Option<Box<[u8]>> {
    let start = person.iter().position(|byte| *byte == b'<')? + 1;
    let length = person[start..].iter().position(|byte| *byte == b'>')?;
    Some(person[start..start + length].into())
}

/// Parses the entries `<mode> <name>\0<id>`, with an id of so many bytes.
fn parse_tree(mut content: &[u8], id_length: usize) -> Option<Tree> {
    let mut tree = Tree::new();
    while !content.is_empty() {
        let end = content.iter().position(|byte| *byte == 0)?;
        let head = &content[..end];
        let rest = &content[end + 1..];
        let (id, rest) = rest.split_at_checked(id_length)?;
        content = rest;
        let space = head.iter().position(|byte| *byte == b' ')?;
        let mode = &head[..space];
        let name = &head[space + 1..];
        let kind = match mode {
            b"100644" | b"100664" => Some(Kind::File),
            b"100755" => Some(Kind::Program),
            b"120000" => Some(Kind::Link),
            b"40000" => None,
            // A submodule.
            _ => continue,
        };
        let id = HEXLOWER.encode(id).into();
        let item = match kind {
            Some(kind) => Item::Blob(Blob { kind, id }),
            None => Item::Tree(id),
        };
        // Git writes no such trees: a name in two ways would be two files.
        if name.contains(&b'/') || tree.insert(name.into(), item).is_some() {
            return None;
        }
    }
    Some(tree)
}
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::committed::tests::Scratch;

    /// Returns the content of a tree of these modes and names. The ids count from one.
    fn content(entries: &[(&str, &str)]) -> Vec<u8> {
        let entry = |((mode, name), number): (&(&str, &str), u8)| {
            [format!("{mode} {name}\0").as_bytes(), &[number; 20]].concat()
        };
        entries.iter().zip(1..).flat_map(entry).collect()
    }

    #[test]
    fn a_tree_has_files_programs_links_and_folders_and_no_submodules() {
        let entries = [
            ("100644", "file"),
            ("100664", "file of old"),
            ("100755", "program"),
            ("120000", "link"),
            ("40000", "folder"),
            ("160000", "submodule"),
        ];
        let tree = parse_tree(&content(&entries), 20).unwrap();
        let id = |number: u8| HEXLOWER.encode(&[number; 20]).into();
        let blob = |kind, number| {
            Item::Blob(Blob {
                kind,
                id: id(number),
            })
        };
        let expected = [
            ("file", blob(Kind::File, 1)),
            ("file of old", blob(Kind::File, 2)),
            ("program", blob(Kind::Program, 3)),
            ("link", blob(Kind::Link, 4)),
            ("folder", Item::Tree(id(5))),
        ];
        let expected = expected.map(|(name, item)| (Box::from(name.as_bytes()), item));
        assert_eq!(tree, Tree::from(expected));
    }

    #[test]
    fn a_tree_in_which_a_path_could_be_two_files_is_not_read() {
        for names in [["a", "a"], ["a", "b/c"]] {
            for mode in ["100644", "40000"] {
                let entries = names.map(|name| (mode, name));
                assert_eq!(parse_tree(&content(&entries), 20), None, "{entries:?}");
            }
        }
    }

    #[test]
    fn a_tree_that_was_read_is_kept_until_there_are_too_many() {
        let scratch = Scratch::new();
        let id = scratch.write("tree", &content(&[("100644", "file")]));
        let mut history = History::open(&scratch.opened()).unwrap();
        let mut has_tree = |kept| {
            history.kept = kept;
            history.trees([&*id].into_iter()).is_some()
        };
        assert!(has_tree(0));
        let (folder, file) = id.split_at(2);
        let objects = scratch.path().join(".git/objects");
        fs::remove_file(objects.join(folder).join(file)).unwrap();
        assert!(has_tree(MAX_KEPT));
        assert!(!has_tree(MAX_KEPT + 1), "it is read again");
    }

    #[test]
    fn no_tree_is_read_after_the_time() {
        let scratch = Scratch::new();
        let id = scratch.write("tree", &content(&[("100644", "file")]));
        let mut history = History::open(&scratch.opened()).unwrap();
        assert!(history.trees([&*id].into_iter()).is_some());
        history.until = Instant::now();
        assert!(history.trees([&*id].into_iter()).is_none());
    }
}
