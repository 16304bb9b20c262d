//! [`Written`]: the files of workspaces that sessions wrote, for servers that run outside of walls.

mod walk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use tools::Digest;
use tools_store::private;

use crate::records::{self, now};
use crate::running::{Running, RunningPrograms};
use host::{WrittenFile, folders, is_document};

/// The most files of one program. More are recorded as the folders in which they are.
const MAX_OF_PROGRAM: usize = 64;

/// The most records of a workspace. More are replaced by one that is about the whole workspace.
const MAX_RECORDS: usize = 2000;

/// The beginnings of the names of records.
const FILE: &str = "file-";
const DOCUMENT: &str = "document-";

/// The name of the file with the path of a root.
const ROOT: &str = "root";

/// The files that sessions wrote, in the state folder of the user. Each root of a session has a folder, in which `file-*.json` is a
/// [`WrittenFile`], with the time at which it was written last, and `document-*.json` one of documents.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    folder: PathBuf,
    /// The programs whose files are not known yet.
    programs: RunningPrograms,
}

/// Returns the files that sessions wrote, as [`host::program::WrittenFiles`] does. Returns none if the user has no servers.
pub(crate) fn written_files(
    is_wanted: &dyn Fn(&Path) -> bool,
) -> io::Result<Vec<(PathBuf, Vec<WrittenFile>)>> {
    let Some(written) = Written::own() else {
        return Ok(Vec::new());
    };
    let mut roots = written.roots()?;
    roots.retain(|root| is_wanted(root));
    let below = |root: PathBuf| Ok((root.clone(), written.below(&root)?));
    roots.into_iter().map(below).collect()
}

impl Written {
    /// Returns the record of the user. Returns `None` if the user has no servers, because nothing reads it then.
    pub(crate) fn own() -> Option<Self> {
        let state = folders::state()?;
        let has_servers =
            state.join("mcp").exists() || folders::servers().is_some_and(|file| file.exists());
        let programs = RunningPrograms::own()?;
        has_servers.then(|| Self {
            folder: state.join("written"),
            programs,
        })
    }

    /// Notes that a tool is about to write a file, or all that is in a folder.
    ///
    /// # Errors
    /// Returns an error if it cannot be recorded.
    pub(crate) fn note_write(&self, root: &Path, path: &Path) -> io::Result<()> {
        let is_document = is_document(path) && !path.is_dir();
        let path = path.strip_prefix(root).map(relative).unwrap_or_default();
        self.put(
            root,
            &[WrittenFile {
                path,
                at: now(),
                is_whole: true,
                is_document,
            }],
        )
    }

    /// Returns the roots in which sessions wrote files.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    fn roots(&self) -> io::Result<Vec<PathBuf>> {
        let mut roots = self.programs.roots()?;
        for folder in records::entries(&self.folder)? {
            match records::read::<PathBuf>(&folder.join(ROOT)) {
                // A full disk leaves a folder that has no record yet, because the root is written first.
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound
                        && records::list(&folder, "")?.is_empty() => {}
                root => roots.push(root?),
            }
        }
        roots.sort_unstable();
        roots.dedup();
        Ok(roots)
    }

    /// Returns the files that sessions wrote below a root, also those of programs that still run. A record of files that cannot be read
    /// stands for all files.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or recorded.
    fn below(&self, root: &Path) -> io::Result<Vec<WrittenFile>> {
        let folder = self.folder_of(root);
        self.programs
            .of(root)?
            .iter()
            .try_for_each(|program| self.settle(program))?;
        let files = [FILE, DOCUMENT].map(|begin| records::list(&folder, begin));
        let files = files.into_iter().collect::<io::Result<Vec<_>>>()?;
        Ok(files
            .iter()
            .flatten()
            .map(|file| records::read(file).unwrap_or_else(|_| whole(0, false)))
            .collect())
    }

    /// Records the files that a program has written until now.
    ///
    /// # Errors
    /// Returns an error if they cannot be recorded.
    pub(crate) fn settle(&self, program: &Running) -> io::Result<()> {
        let mut found = BTreeMap::new();
        for tree in program.trees() {
            walk::add_changed(&program.root, tree, program.from, &mut found);
        }
        let (documents, files): (BTreeMap<_, _>, _) =
            found.into_iter().partition(|(_, file)| file.is_document);
        [files, documents].into_iter().try_for_each(|found| {
            let folded: Vec<_> = fold_files(found).into_values().collect();
            self.put(&program.root, &folded)
        })
    }

    /// Records files, of which either all are documents or none.
    fn put(&self, root: &Path, written: &[WrittenFile]) -> io::Result<()> {
        let Some(is_document) = written.first().map(|file| file.is_document) else {
            return Ok(());
        };
        let folder = self.prepare(root)?;
        let begin = if is_document { DOCUMENT } else { FILE };
        let file_of = |path: &str| {
            folder.join(format!(
                "{begin}{}.json",
                Digest::hash_bytes(path.as_bytes())
            ))
        };
        for written in written {
            records::write(&file_of(&written.path), written)?;
        }
        let files = records::list(&folder, begin)?;
        if files.len() <= MAX_RECORDS {
            return Ok(());
        }
        // The second record is later than any that another process replaced meanwhile.
        let all = file_of("");
        records::write(&all, &whole(now(), is_document))?;
        files
            .iter()
            .filter(|file| **file != all)
            .try_for_each(|file| private::remove(file).map(drop))?;
        records::write(&all, &whole(now(), is_document))
    }

    fn prepare(&self, root: &Path) -> io::Result<PathBuf> {
        let folder = self.folder_of(root);
        if !folder.join(ROOT).exists() {
            private::create_folder(&folder)?;
            records::write(&folder.join(ROOT), &root)?;
        }
        Ok(folder)
    }

    fn folder_of(&self, root: &Path) -> PathBuf {
        self.folder
            .join(Digest::hash_bytes(root.as_os_str().as_encoded_bytes()).to_string())
    }
}

/// Returns the record of all files of a workspace.
fn whole(at: u64, is_document: bool) -> WrittenFile {
    WrittenFile {
        path: String::new(),
        at,
        is_whole: true,
        is_document,
    }
}

fn depth(folder: &str) -> usize {
    if folder.is_empty() {
        0
    } else {
        folder.split('/').count()
    }
}

/// Returns the path below a root, as text.
fn relative(below: &Path) -> String {
    let names = below.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/')
        .map(|(folder, _)| folder)
        .unwrap_or_default()
}

/// Replaces the files of the largest folders by these until few are left, so that those of other folders keep their names.
fn fold_files(mut files: BTreeMap<String, WrittenFile>) -> BTreeMap<String, WrittenFile> {
    while files.len() > MAX_OF_PROGRAM {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for path in files.keys().filter(|path| !path.is_empty()) {
            *counts.entry(folder_of(path)).or_default() += 1;
        }
        let largest = counts
            .into_iter()
            .max_by_key(|(folder, count)| (*count, depth(folder)));
        let largest = largest
            .map(|(folder, _)| folder.to_owned())
            .unwrap_or_default();
        let mut fewer: BTreeMap<String, WrittenFile> = BTreeMap::new();
        for (path, mut file) in files {
            if !path.is_empty() && folder_of(&path) == largest {
                file.path.clone_from(&largest);
                file.is_whole = true;
            }
            let same = fewer
                .entry(file.path.clone())
                .or_insert_with(|| file.clone());
            same.at = same.at.max(file.at);
            same.is_whole |= file.is_whole;
        }
        files = fewer;
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::running::Recorded;
    use host::placed::CLOCK_LAG;

    /// A record, and a root beside it.
    fn place(folder: &Path) -> (Written, PathBuf) {
        let root = folder.join("root");
        fs::create_dir(&root).unwrap();
        (
            Written {
                folder: folder.join("state"),
                programs: RunningPrograms::new(folder.join("programs")),
            },
            root,
        )
    }

    /// Records a program that may write these trees.
    fn start(written: &Written, root: &Path, trees: &[PathBuf]) -> Recorded {
        let program = Running::new(root, trees, &[]);
        written.programs.record(program).unwrap()
    }

    fn end(written: &Written, recorded: &Recorded) {
        written.settle(&recorded.program).unwrap();
        written.programs.end(recorded);
    }

    fn paths(written: &Written, root: &Path) -> Vec<String> {
        let mut paths: Vec<_> = written
            .below(root)
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect();
        paths.sort();
        paths
    }

    #[test]
    fn the_files_of_a_program_are_known_while_it_runs_and_after_its_host_has_died() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        fs::write(root.join("before"), "").unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, &[PathBuf::from("/")]);
        assert_eq!(paths(&written, &root), Vec::<String>::new());
        assert_eq!(written.roots().unwrap(), std::slice::from_ref(&root));
        fs::write(root.join("during"), "").unwrap();
        assert_eq!(paths(&written, &root), ["", "during"]);
        // A host that has died leaves its record.
        drop(recorded);
        fs::write(root.join("later"), "").unwrap();
        assert_eq!(paths(&written, &root), ["", "during", "later"]);
        let programs = &written.programs;
        programs.settle(|program| written.settle(program)).unwrap();
        fs::write(root.join("after"), "").unwrap();
        assert_eq!(paths(&written, &root), ["", "during", "later"]);
    }

    #[test]
    fn a_document_that_has_another_name_is_code() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        ["docs", "lib"]
            .iter()
            .for_each(|name| fs::create_dir(root.join(name)).unwrap());
        ["docs/alone.md", "lib/code.py"]
            .iter()
            .for_each(|name| fs::write(root.join(name), "").unwrap());
        fs::hard_link(root.join("lib/code.py"), root.join("docs/linked.md")).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, &[root.join("docs")]);
        ["alone", "linked"]
            .iter()
            .for_each(|name| fs::write(root.join(format!("docs/{name}.md")), "evil").unwrap());
        end(&written, &recorded);
        let code = written
            .below(&root)
            .unwrap()
            .into_iter()
            .filter(|file| !file.is_document);
        assert_eq!(
            code.map(|file| file.path).collect::<Vec<_>>(),
            ["docs/linked.md"]
        );
    }

    #[test]
    fn files_outside_of_the_trees_of_a_program_are_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        fs::create_dir(root.join("in")).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, &[root.join("in")]);
        ["in/a", "out"]
            .iter()
            .for_each(|file| fs::write(root.join(file), "").unwrap());
        end(&written, &recorded);
        assert_eq!(paths(&written, &root), ["in", "in/a"]);
    }

    #[test]
    fn many_files_of_a_program_become_their_folders_and_many_records_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        fs::create_dir_all(root.join("a/b")).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, std::slice::from_ref(&root));
        (0..100).for_each(|number| fs::write(root.join(format!("a/b/{number}")), "").unwrap());
        end(&written, &recorded);
        assert_eq!(paths(&written, &root), ["a/b"]);
        assert!(written.below(&root).unwrap()[0].is_whole);
        for number in 0..=MAX_RECORDS {
            written
                .note_write(&root, &root.join(number.to_string()))
                .unwrap();
        }
        let left = written.below(&root).unwrap();
        assert!(
            left.len() < MAX_RECORDS
                && left
                    .iter()
                    .any(|file| file.path.is_empty() && file.is_whole)
        );
    }

    #[test]
    fn documents_have_records_of_their_own_and_stand_for_no_code() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        fs::create_dir_all(root.join("a/folder.md")).unwrap();
        let of = |is_document: bool| {
            let mut files = written.below(&root).unwrap();
            files.retain(|file| file.is_document == is_document);
            let mut paths: Vec<_> = files.into_iter().map(|file| file.path).collect();
            paths.sort();
            paths
        };
        written
            .note_write(&root, &root.join("a/folder.md"))
            .unwrap();
        assert_eq!(
            (of(false), of(true)),
            (vec!["a/folder.md".to_owned()], vec![]),
            "a folder is no document"
        );
        (0..100).for_each(|number| fs::write(root.join(format!("a/{number}")), "").unwrap());
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, std::slice::from_ref(&root));
        (0..100).for_each(|number| fs::write(root.join(format!("a/{number}")), "x").unwrap());
        end(&written, &recorded);
        let recorded = start(&written, &root, std::slice::from_ref(&root));
        (0..100).for_each(|number| fs::write(root.join(format!("a/{number}.PDF")), "x").unwrap());
        end(&written, &recorded);
        assert_eq!(
            (of(false), of(true)),
            (
                vec!["a".to_owned(), "a/folder.md".to_owned()],
                vec!["a".to_owned()]
            )
        );
        for number in 0..=MAX_RECORDS {
            written
                .note_write(&root, &root.join(format!("{number}.md")))
                .unwrap();
        }
        assert_eq!(of(false), ["a", "a/folder.md"]);
        assert!(of(true).len() < MAX_RECORDS && of(true).contains(&String::new()));
    }

    #[test]
    fn many_files_of_one_folder_hide_no_file_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        ["a/b", "other"]
            .iter()
            .for_each(|folder| fs::create_dir_all(root.join(folder)).unwrap());
        std::thread::sleep(CLOCK_LAG * 3);
        let recorded = start(&written, &root, std::slice::from_ref(&root));
        (0..100).for_each(|number| fs::write(root.join(format!("a/b/{number}")), "").unwrap());
        fs::write(root.join("other/lib.py"), "").unwrap();
        end(&written, &recorded);
        assert_eq!(paths(&written, &root), ["a/b", "other", "other/lib.py"]);
    }

    #[test]
    fn a_folder_that_a_full_disk_left_without_a_root_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        written.note_write(&root, &root.join("a")).unwrap();
        let left = written.folder.join("left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("root.1-0.draft"), "").unwrap();
        assert_eq!(written.roots().unwrap(), std::slice::from_ref(&root));
        fs::write(left.join("file-1.json"), "{}").unwrap();
        written.roots().unwrap_err();
    }

    #[test]
    fn a_record_that_cannot_be_read_stands_for_all_files() {
        let folder = tempfile::tempdir().unwrap();
        let (written, root) = place(folder.path());
        written.note_write(&root, &root.join("a")).unwrap();
        let files = records::list(&written.folder_of(&root), "file-").unwrap();
        fs::write(&files[0], "{").unwrap();
        let [whole] = &written.below(&root).unwrap()[..] else {
            panic!("one record")
        };
        assert!(whole.path.is_empty() && whole.is_whole && !whole.is_document);
        // That of a program may be of any root.
        fs::create_dir(folder.path().join("programs")).unwrap();
        fs::write(folder.path().join("programs/program-1.json"), "{").unwrap();
        written.below(&root).unwrap_err();
    }
}
