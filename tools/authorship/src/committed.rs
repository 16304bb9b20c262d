//! [`Committed`]: the files of the user in a commit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::git::Git;
use crate::history::{Blob, History, Item, Tree};

/// The most bytes of the paths of all files.
const MAX_PATHS: usize = 256 << 20;

/// The most changes whose trees are asked for at once.
const MAX_CHANGES: usize = 200;

/// The files of the user in the commit that is checked out.
#[derive(Debug)]
pub(crate) struct Committed {
    /// By their paths, as git writes them.
    files: BTreeMap<Vec<u8>, Blob>,
}

/// A folder of a commit, and the same folder in its parents. A merge brings what none of these has.
struct Change {
    folder: Vec<u8>,
    tree: Box<str>,
    before: Vec<Box<str>>,
    is_by_user: bool,
}

/// An entry that no parent has as it is, and those that the parents have in its place.
struct NewEntry<'t> {
    path: Vec<u8>,
    item: &'t Item,
    before: Vec<&'t Item>,
}

impl Change {
    fn list_new<'t>(&self, trees: &'t HashMap<&str, Rc<Tree>>) -> Option<Vec<NewEntry<'t>>> {
        let parents = self.before.iter().filter_map(|id| trees.get(&**id));
        let entries = trees.get(&*self.tree)?.iter().filter_map(|(name, item)| {
            let before: Vec<_> = parents.clone().filter_map(|tree| tree.get(name)).collect();
            (!before.contains(&item)).then(|| NewEntry {
                path: join(&self.folder, name),
                item,
                before,
            })
        });
        Some(entries.collect())
    }
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
        let mut history = History::open(git)?;
        let commits = history.commits(head)?;
        let mut committed = Self {
            files: list_files(&mut history, &commits.get(head)?.tree)?,
        };
        let mut waiting: Vec<Change> = commits
            .iter()
            .map(|(id, commit)| Change {
                folder: Vec::new(),
                tree: commit.tree.clone(),
                before: commit
                    .parents
                    .iter()
                    .filter_map(|parent| Some(commits.get(parent)?.tree.clone()))
                    .collect(),
                is_by_user: !left_out.contains(&**id) && commit.is_by(user),
            })
            .collect();
        // By their paths: true if each commit that brought the present content is by the user.
        let mut brought = HashMap::new();
        while !waiting.is_empty() {
            let mut changes = waiting.split_off(waiting.len().saturating_sub(MAX_CHANGES));
            changes.retain(|it| !it.before.contains(&it.tree) && committed.has_name(&it.folder));
            let trees = changes
                .iter()
                .flat_map(|it| it.before.iter().chain([&it.tree]));
            let trees = history.trees(trees.map(|id| &**id))?;
            for change in &changes {
                for NewEntry { path, item, before } in change.list_new(&trees)? {
                    match item {
                        Item::Tree(tree) => waiting.push(Change {
                            folder: path,
                            tree: tree.clone(),
                            before: before
                                .into_iter()
                                .filter_map(Item::tree)
                                .map(Box::from)
                                .collect(),
                            is_by_user: change.is_by_user,
                        }),
                        Item::Blob(blob) if committed.has_content(&path, blob) => {
                            *brought.entry(path).or_insert(true) &= change.is_by_user;
                        }
                        Item::Blob(_) => {}
                    }
                }
            }
        }
        committed
            .files
            .retain(|path, _| brought.get(path) == Some(&true));
        Some(committed)
    }

    /// Returns true if a file has this content, whatever its mode.
    fn has_content(&self, path: &[u8], blob: &Blob) -> bool {
        self.files.get(path).is_some_and(|file| file.id == blob.id)
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

/// Returns the files and links of a tree and of those in it.
fn list_files(history: &mut History, tree: &str) -> Option<BTreeMap<Vec<u8>, Blob>> {
    let mut files = BTreeMap::new();
    let mut length = 0;
    let mut waiting = vec![(Vec::new(), Box::from(tree))];
    while let Some((folder, tree)) = waiting.pop() {
        for (name, item) in &*history.trees([&*tree].into_iter())?.remove(&*tree)? {
            let path = join(&folder, name);
            length += path.len();
            if length > MAX_PATHS {
                return None;
            }
            match item {
                Item::Tree(tree) => waiting.push((path, tree.clone())),
                Item::Blob(blob) => drop(files.insert(path, blob.clone())),
            }
        }
    }
    Some(files)
}

/// Returns the path of an entry, as git writes it.
fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
}

#[cfg(test)]
pub(crate) mod tests;
