// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::content;
use crate::history::Kind;
use crate::repository::Repository;

const USER: &str = "me@home.example";
const STRANGER: &str = "other@away.example";
const NAMES: [&str; 6] = ["a", "b", "dir/a", "dir/b", "dir/sub/a", "dir.c"];

/// A commit of a made history: its author, the commits before that are its parents, and files with their contents, or without one if removed.
type Made = (bool, Vec<prop::sample::Index>, Vec<(usize, Option<u8>)>);

fn histories() -> impl Strategy<Value = Vec<Made>> {
    let change = (0..NAMES.len(), proptest::option::weighted(0.8, 0..3_u8));
    let commit = (
        any::<bool>(),
        proptest::collection::vec(any::<prop::sample::Index>(), 1..=3),
        proptest::collection::vec(change, 0..4),
    );
    proptest::collection::vec(commit, 1..9)
}

/// Makes a repository by `git fast-import`.
fn import(history: &[Made], format: &str) -> TempDir {
    let mut stream = String::new();
    for (at, (is_by_user, parents, changes)) in history.iter().enumerate() {
        let address = if *is_by_user { USER } else { STRANGER };
        stream.push_str(&format!(
            "commit refs/heads/main\nmark :{}\nauthor A <{address}> 1 +0000\ncommitter A <{USER}> 1 +0000\ndata 1\nx\n",
            at + 1
        ));
        let mut marks: Vec<usize> = Vec::new();
        for parent in parents.iter().filter(|_| at > 0) {
            let mark = parent.index(at) + 1;
            if !marks.contains(&mark) {
                stream.push_str(if marks.is_empty() { "from" } else { "merge" });
                stream.push_str(&format!(" :{mark}\n"));
                marks.push(mark);
            }
        }
        for (name, content) in changes {
            let name = NAMES[*name];
            stream.push_str(&match content {
                Some(2) => format!("M 100755 inline {name}\ndata 1\n1\n"),
                Some(content) => format!("M 100644 inline {name}\ndata 1\n{content}\n"),
                None => format!("D {name}\n"),
            });
        }
    }
    let dir = tempfile::tempdir().unwrap();
    git(
        dir.path(),
        &["init", "-q", "-b", "main", "--object-format", format],
        "",
    );
    git(dir.path(), &["fast-import", "--quiet", "--force"], &stream);
    dir
}

fn git(folder: &Path, args: &[&str], input: &str) -> Vec<u8> {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{args:?}");
    ended.stdout
}

/// A repository for objects, without a commit.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"], "");
        Self(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn opened(&self) -> Git {
        let repository = Repository::find(&self.path().canonicalize().unwrap());
        Git::find(&repository.unwrap()).unwrap()
    }

    /// Writes an object, which need not be one that git accepts. Returns its id.
    pub(crate) fn write(&self, kind: &str, content: &[u8]) -> String {
        fs::write(self.path().join("content"), content).unwrap();
        let args = ["hash-object", "--literally", "-w", "-t", kind, "content"];
        let id = String::from_utf8(git(self.path(), &args, "")).unwrap();
        id.trim().to_owned()
    }
}

fn read(folder: &Path) -> Option<Committed> {
    read_without(folder, &BTreeSet::new())
}

/// Reads the files of the user as if approvals had left out these commits.
fn read_without(folder: &Path, left_out: &BTreeSet<String>) -> Option<Committed> {
    let repository = Repository::find(&folder.canonicalize().unwrap()).unwrap();
    let git = Git::find(&repository).unwrap();
    Committed::read(&git, &git.head()?, USER, left_out)
}

/// Returns the files of the user as git itself finds them.
fn by_git(folder: &Path) -> Vec<String> {
    let tree = git(folder, &["ls-tree", "-r", "HEAD"], "");
    let tree = String::from_utf8(tree).unwrap();
    let history = String::from_utf8(git(folder, &["rev-list", "HEAD"], "")).unwrap();
    let args = [
        "diff-tree",
        "--stdin",
        "-r",
        "-c",
        "--root",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--pretty=tformat:c%ae",
    ];
    let log = String::from_utf8(git(folder, &args, &history)).unwrap();
    let is_of_user = |entry: &&str| {
        let (about, path) = entry.split_once('\t').unwrap();
        let id = about.split(' ').nth(2).unwrap();
        let mut address = "";
        log.lines().all(|line| {
            address = line.strip_prefix('c').unwrap_or(address);
            let brings = line.starts_with(':') && line.ends_with(&format!("\t{path}")) && {
                let colons = line.bytes().take_while(|byte| *byte == b':').count();
                line.split(' ').nth(2 * colons + 1) == Some(id)
            };
            !brings || address == USER
        })
    };
    tree.lines()
        .filter(is_of_user)
        .map(|entry| entry.split_once('\t').unwrap().1.to_owned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_files_of_the_user_are_those_whose_content_git_shows_in_no_commit_of_others(history in histories(), is_long in any::<bool>()) {
        let dir = import(&history, if is_long { "sha256" } else { "sha1" });
        let committed = read(dir.path()).unwrap();
        let files: Vec<String> = committed.files.keys().map(|path| String::from_utf8(path.clone()).unwrap()).collect();
        prop_assert_eq!(files, by_git(dir.path()));
    }
}

/// Returns the file of an object of its own.
fn loose(folder: &Path, id: &str) -> PathBuf {
    folder.join(".git/objects").join(&id[..2]).join(&id[2..])
}

/// Writes another object into the file of an object.
fn replace(folder: &Path, id: &str, other: &str) {
    let (file, other) = (loose(folder, id), loose(folder, other));
    fs::remove_file(&file).unwrap();
    fs::copy(other, file).unwrap();
}

#[test]
fn an_object_that_was_rewritten_counts_for_nothing() {
    // The mark of `git replace` and a new id are other tests: here each id stays, and its file says something else.
    let objects = [
        ("the commit", "HEAD", "stranger"),
        ("a tree", "HEAD^{tree}", "stranger^{tree}"),
        ("an inner tree", "HEAD:dir", "stranger:dir"),
    ];
    for (name, object, other) in objects {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        git(folder, &["init", "-q", "-b", "main"], "");
        fs::create_dir(folder.join("dir")).unwrap();
        let commit = |text: &str, address: &str| {
            fs::write(folder.join("dir/file"), text).unwrap();
            git(folder, &["add", "-A"], "");
            let address = format!("user.email={address}");
            git(
                folder,
                &[
                    "-c",
                    "user.name=A",
                    "-c",
                    &address,
                    "commit",
                    "-q",
                    "-m",
                    "x",
                ],
                "",
            );
        };
        commit("good", USER);
        git(folder, &["checkout", "-q", "-b", "stranger"], "");
        commit("evil", STRANGER);
        git(folder, &["checkout", "-q", "main"], "");
        assert!(read(folder).unwrap().file(b"dir/file").is_some());
        let id = |name: &str| {
            String::from_utf8(git(folder, &["rev-parse", name], ""))
                .unwrap()
                .trim()
                .to_owned()
        };
        let (object, other) = (id(object), id(other));
        replace(folder, &object, &other);
        assert!(read(folder).is_none(), "{name}");
    }
}

#[test]
fn a_file_is_compared_with_the_id_of_its_content_and_not_with_an_object() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let cases = [
        ("a\nb\n", "a\nb\n", true),
        ("a\nb\n", "a\r\nb\r\n", true),
        ("a\r\nb\r\n", "a\nb\n", false),
        ("a\rb\n", "a\rb\r\n", false),
        ("a\nb\n", "a\nc\n", false),
        ("", "", true),
    ];
    for (committed, found, is_it) in cases {
        let id = git(dir.path(), &["hash-object", "--stdin"], committed);
        let id = String::from_utf8(id).unwrap().trim().into();
        let kind = Kind::File;
        fs::write(&path, found).unwrap();
        let is_committed = content::is_committed(&[(path.clone(), &Blob { kind, id })]);
        assert_eq!(is_committed, is_it, "{found:?}");
    }
}

#[test]
fn a_merge_by_another_leaves_the_files_of_both_sides_to_the_user() {
    let commits: [(_, _, &[_]); 4] = [
        (USER, "", &[("a", 0), ("b", 0)]),
        (USER, "from :1\n", &[("b", 1)]),
        (STRANGER, "from :1\n", &[("dir.c", 0)]),
        // The second side brings `b`, and the merge what neither has.
        (STRANGER, "from :3\nmerge :2\n", &[("b", 1), ("dir/a", 0)]),
    ];
    let mut stream = String::new();
    for (mark, (address, parents, files)) in (1..).zip(commits) {
        let person = format!("A <{address}> 1 +0000");
        stream += &format!("commit refs/heads/main\nmark :{mark}\nauthor {person}\n");
        stream += &format!("committer {person}\ndata 1\nx\n{parents}");
        for (name, content) in files {
            stream += &format!("M 100644 inline {name}\ndata 1\n{content}\n");
        }
    }
    let dir = import(&[], "sha1");
    git(dir.path(), &["fast-import", "--quiet"], &stream);
    let files: Vec<_> = read(dir.path()).unwrap().files.into_keys().collect();
    assert_eq!(files, [b"a", b"b"]);
}

#[test]
fn only_files_of_the_user_and_the_folders_around_them_have_names() {
    // The files `dir/a` and `dir.c`.
    let files = vec![(2, Some(0)), (5, Some(0))];
    let dir = import(&[(true, Vec::new(), files)], "sha1");
    let committed = read(dir.path()).unwrap();
    for (path, is_known) in [
        ("", true),
        ("dir", true),
        ("dir/a", true),
        ("dir.c", true),
        ("a", false),
        ("di", false),
        ("dir.", false),
        ("dir/", false),
        ("dir/a/x", false),
        ("dir/b", false),
    ] {
        assert_eq!(committed.has_name(path.as_bytes()), is_known, "{path}");
    }
}

#[test]
fn a_commit_that_an_approval_left_out_brings_no_file_of_the_user() {
    let of_user = |name, content| (true, Vec::new(), vec![(name, Some(content))]);
    let dir = import(&[of_user(0, 0), of_user(1, 0)], "sha1");
    let head = String::from_utf8(git(dir.path(), &["rev-parse", "HEAD"], "")).unwrap();
    assert!(read(dir.path()).unwrap().file(b"b").is_some());
    let committed = read_without(dir.path(), &BTreeSet::from([head.trim().to_owned()])).unwrap();
    assert!(committed.file(b"a").is_some() && committed.file(b"b").is_none());
}

#[test]
fn a_commit_with_too_many_bytes_of_paths_is_not_read() {
    let scratch = Scratch::new();
    let mut id = scratch.write("blob", b"text");
    for mode in ["100644", "40000", "40000", "40000"] {
        let raw = HEXLOWER.decode(id.as_bytes()).unwrap();
        let entry = |number: u32| [format!("{mode} {number:04000}\0").as_bytes(), &raw].concat();
        id = scratch.write("tree", &(0..12).flat_map(entry).collect::<Vec<_>>());
    }
    let person = format!("A <{USER}> 1 +0000");
    let commit = format!("tree {id}\nauthor {person}\ncommitter {person}\n\nx\n");
    let head = scratch.write("commit", commit.as_bytes());
    let read = Committed::read(&scratch.opened(), &head, USER, &BTreeSet::new());
    assert!(read.is_none());
}
