//! [`Committed`]: the files of the user in a commit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::git::Git;

/// The kind of a committed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Link,
}

/// The content of a committed file.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub(crate) kind: Kind,
    /// The object id, in hexadecimal digits.
    pub(crate) id: Box<str>,
}

/// The files of the user in the commit that is checked out.
#[derive(Debug)]
pub(crate) struct Committed {
    /// By their paths, as git writes them.
    files: BTreeMap<Vec<u8>, Blob>,
}

impl Committed {
    /// Reads the files of a commit, and keeps those whose present content strangers have brought in no commit of its history. Commits that
    /// approvals have left out are strangers'. Returns `None` if the repository has too much to read.
    pub(crate) fn read(
        git: &Git,
        head: &str,
        user: &str,
        left_out: &BTreeSet<String>,
    ) -> Option<Self> {
        let mut files = tree(&git.answer(&["ls-tree", "-r", "-z", "--full-tree", head])?)?;
        // Both addresses as they are written: a file of the repository could map them.
        let format = "--pretty=tformat:c%H%x00%ae%x00%ce%x00";
        // A merge brings what none of its parents has.
        let changes = [
            "diff-tree",
            "--stdin",
            "-r",
            "-c",
            "--root",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            format,
        ];
        let log = git.answer_from(&["rev-list", head], &changes)?;
        let by_user = brought_by_user(&log, user, left_out, &files)?;
        files.retain(|path, _| by_user.get(&path[..]) == Some(&true));
        Some(Self { files })
    }

    /// Returns a file of the user.
    pub(crate) fn file(&self, path: &[u8]) -> Option<&Blob> {
        self.files.get(path)
    }

    /// Returns true if this is the path of a file of the user, or of a folder that has one.
    pub(crate) fn has_name(&self, path: &[u8]) -> bool {
        if path.is_empty() || self.files.contains_key(path) {
            return true;
        }
        let folder = [path, b"/"].concat();
        self.files
            .range(folder.clone()..)
            .next()
            .is_some_and(|(first, _)| first.starts_with(&folder))
    }
}

/// Parses the files and links of a tree.
fn tree(text: &[u8]) -> Option<BTreeMap<Vec<u8>, Blob>> {
    let mut files = BTreeMap::new();
    for entry in text
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
    {
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        let (about, path) = (str::from_utf8(&entry[..at]).ok()?, entry[at + 1..].to_vec());
        let mut about = about.split(' ');
        let (mode, id) = (about.next()?, about.nth(1)?);
        let kind = match mode {
            "100644" | "100755" | "100664" => Kind::File,
            "120000" => Kind::Link,
            // A submodule.
            _ => continue,
        };
        files.insert(
            path,
            Blob {
                kind,
                id: id.into(),
            },
        );
    }
    Some(files)
}

/// Returns the paths whose present content some commit brought, and whether all of these commits are by the user.
fn brought_by_user<'a>(
    log: &'a [u8],
    user: &str,
    left_out: &BTreeSet<String>,
    files: &BTreeMap<Vec<u8>, Blob>,
) -> Option<HashMap<&'a [u8], bool>> {
    let mut brought = HashMap::new();
    let mut is_by_user = false;
    let mut words = log.split(|byte| *byte == 0);
    while let Some(word) = words.next() {
        let word = word.strip_prefix(b"\n").unwrap_or(word);
        match word.first() {
            None => {}
            Some(b'c') => {
                let (id, author, committer) = (
                    str::from_utf8(&word[1..]).ok()?,
                    words.next()?,
                    words.next()?,
                );
                is_by_user = author == user.as_bytes()
                    && committer == user.as_bytes()
                    && !left_out.contains(id);
            }
            Some(b':') => {
                let (path, id) = (words.next()?, result(word)?);
                if files.get(path).is_some_and(|file| *file.id == *id) {
                    *brought.entry(path).or_insert(true) &= is_by_user;
                }
            }
            Some(_) => return None,
        }
    }
    Some(brought)
}

/// Returns the object that a change leads to: with `n` parents, `n` colons, then `n + 1` modes and `n + 1` objects.
fn result(change: &[u8]) -> Option<&str> {
    let text = str::from_utf8(change).ok()?;
    let parents = text.bytes().take_while(|byte| *byte == b':').count();
    text.split(' ').nth(2 * parents + 1)
}
