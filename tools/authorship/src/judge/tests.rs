// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod inner;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::running::{Recorded, RunningPrograms};
use crate::trust::{self, Pending, TrustError, pending_in};
use host::placed::CLOCK_LAG;

/// A repository with a file of the user, and the marks beside it. The home of this process has the address of the user.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        place.init(&place.root());
        place
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    fn marks(&self) -> Marks {
        let programs = RunningPrograms::new(self.path().join("programs"));
        Marks::new(self.path().join("state"), programs)
    }

    /// Begins a program that may write these trees.
    fn watch(&self, trees: &[PathBuf], kept: &[PathBuf]) -> Watch {
        Watch::begin(&self.marks(), Running::new(&self.root(), trees, kept)).unwrap()
    }

    /// Begins a program that may write these trees. A drop does what the death of its session does: it ends the lock, and nothing else.
    fn mortal(&self, trees: &[PathBuf], kept: &[PathBuf]) -> Recorded {
        let program = Running::new(&self.root(), trees, kept);
        let recorded = self.marks().programs.record(program).unwrap();
        self.marks().begin(&recorded.program).unwrap();
        recorded
    }

    /// Ends a session that leaves the record of its program. A process that another test starts has a copy of the lock for a moment.
    fn end<T>(&self, session: T) {
        drop(session);
        let programs = self.marks().programs;
        while programs.writer(Path::new("/")).unwrap().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn pending(&self, folder: &Path) -> Option<Pending> {
        pending_in(&self.marks(), folder).unwrap()
    }

    fn trust(&self, folder: &Path) -> Result<bool, TrustError> {
        trust::clear_in(&self.marks(), folder, |_| true)
    }

    fn init(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("file"), "text").unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        commit(folder);
    }

    fn is_marked(&self, folder: &Path) -> bool {
        self.marks().is_marked(&Repository::find(folder).unwrap())
    }
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=Me", "-c", "user.email=me@home.example"])
        .args(args)
        .current_dir(folder);
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{args:?}: {ended:?}");
}

fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", "a change"]);
}

#[test]
fn a_program_that_only_reads_leaves_no_mark() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    git(&place.root(), &["status"]);
    git(&place.root(), &["log", "--oneline"]);
    fs::write(place.root().join("other"), "text").unwrap();
    drop(watch);
    assert!(!place.is_marked(&place.root()));
    commit(&place.root());
    assert!(!place.is_marked(&place.root()), "the user commits");
}

#[test]
fn a_program_that_commits_marks_the_repository_until_the_user_trusts_it() {
    let place = Place::new();
    assert!(place.pending(&place.root()).is_none());
    let watch = place.watch(&[place.root()], &[]);
    assert!(!place.is_marked(&place.root()));
    commit(&place.root());
    assert!(place.is_marked(&place.root()), "while it runs");
    drop(watch);
    assert!(place.is_marked(&place.root()));
    // It stays so after a move, and for a root below.
    let (sub, moved) = (place.root().join("sub"), place.path().join("moved"));
    fs::create_dir(&sub).unwrap();
    assert!(place.is_marked(&sub));
    fs::rename(place.root(), &moved).unwrap();
    assert!(place.is_marked(&moved));
    fs::rename(&moved, place.root()).unwrap();

    let pending = place.pending(&place.root()).unwrap();
    let names: Vec<&str> = pending
        .changed
        .iter()
        .map(|changed| &*changed.name)
        .collect();
    assert_eq!(names, ["HEAD", "refs/heads/main"]);
    let [head, _] = &pending.changed[..] else {
        unreachable!()
    };
    assert!(
        head.before.is_some() && head.before != head.after && head.commits.len() == 1,
        "{head:?}"
    );
    place.trust(&place.root()).unwrap();
    assert!(!place.is_marked(&place.root()));
    assert!(place.pending(&place.root()).is_none());
}

#[test]
fn any_change_of_the_folder_of_git_leaves_a_mark() {
    let changes: [fn(&Path); 6] = [
        |git| fs::write(git.join("packed-refs"), "").unwrap(),
        |git| fs::write(git.join("refs/heads/other"), "").unwrap(),
        |git| fs::write(git.join("objects/new"), "").unwrap(),
        |git| {
            // The same text again.
            let head = fs::read(git.join("HEAD")).unwrap();
            fs::write(git.join("HEAD"), head).unwrap();
        },
        |git| {
            let object = git
                .join("objects")
                .read_dir()
                .unwrap()
                .flatten()
                .find(|entry| entry.file_name().len() == 2);
            let object = object
                .unwrap()
                .path()
                .read_dir()
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path();
            fs::rename(&object, object.with_extension("old")).unwrap();
            fs::copy(object.with_extension("old"), &object).unwrap();
            fs::remove_file(object.with_extension("old")).unwrap();
        },
        |git| fs::remove_dir_all(git).unwrap(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let place = Place::new();
        let watch = place.watch(&[place.root()], &[]);
        change(&place.root().join(".git"));
        drop(watch);
        if number == changes.len() - 1 {
            place.init(&place.root());
        }
        assert!(place.is_marked(&place.root()), "{number}");
    }
}

#[test]
fn a_program_that_cannot_write_the_folder_of_git_leaves_no_mark() {
    let place = Place::new();
    let watch = place.watch(&[place.root().join("src")], &[]);
    commit(&place.root());
    drop(watch);
    assert!(!place.is_marked(&place.root()));
    let watch = place.watch(&[place.root().join(".git/refs")], &[]);
    commit(&place.root());
    drop(watch);
    assert!(place.is_marked(&place.root()));
}

#[test]
fn the_user_may_commit_while_a_program_runs_that_cannot() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[place.root().join(".git")]);
    commit(&place.root());
    assert!(!place.is_marked(&place.root()));
    drop(watch);
    assert!(!place.is_marked(&place.root()));
}

#[test]
fn a_repository_that_a_program_makes_is_marked() {
    let place = Place {
        dir: tempfile::tempdir().unwrap(),
    };
    fs::create_dir(place.root()).unwrap();
    let watch = place.watch(&[place.root()], &[]);
    place.init(&place.root());
    let (nested, moved) = (place.root().join("a/b"), place.root().join("c"));
    place.init(&nested);
    drop(watch);
    assert!(place.is_marked(&place.root()));
    assert!(place.is_marked(&nested), "as the root of a later session");
    fs::rename(place.root().join("a/b"), &moved).unwrap();
    assert!(place.is_marked(&moved));
    assert!(place.pending(&moved).is_some());
    place.trust(&moved).unwrap();
    assert!(!place.is_marked(&moved) && place.is_marked(&place.root()));
    drop(place.watch(&[place.root()], &[]));
    assert!(place.is_marked(&moved), "a later program could write it");
}

#[test]
fn a_mark_of_a_session_that_was_killed_goes_if_nothing_was_written() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    let files = fs::read_dir(place.path().join("state")).unwrap().flatten();
    let is_mark = |name: &str| name.starts_with("mark-");
    let file = files
        .map(|entry| entry.path())
        .find(|path| is_mark(path.file_name().unwrap().to_str().unwrap()))
        .unwrap();
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace(
        &format!("\"process\":{}", std::process::id()),
        &format!("\"process\":{}", ended.id()),
    );
    fs::write(&file, text).unwrap();
    assert!(!place.is_marked(&place.root()) && !file.exists());
    std::mem::forget(watch);
}

#[test]
fn a_mark_that_cannot_be_read_is_of_every_repository() {
    let place = Place::new();
    fs::create_dir(place.path().join("state")).unwrap();
    fs::write(place.path().join("state/mark-1.json"), "{").unwrap();
    assert!(place.is_marked(&place.root()));
}

#[test]
fn a_file_tool_that_writes_into_a_folder_of_git_marks_the_repository() {
    for path in [".git/refs/heads/main", ".GIT/HEAD", ".git"] {
        let place = Place::new();
        place
            .marks()
            .note_write(&place.root(), &place.root().join("src/git"))
            .unwrap();
        assert!(!place.is_marked(&place.root()));
        place
            .marks()
            .note_write(&place.root(), &place.root().join(path))
            .unwrap();
        let is_same = path.starts_with(".git");
        assert!(place.is_marked(&place.root()) || !is_same, "{path}");
    }
}

#[test]
fn marks_of_one_repository_do_not_pile_up() {
    let place = Place::new();
    let count = || fs::read_dir(place.path().join("state")).unwrap().count();
    for _ in 0..3 {
        let watch = place.watch(&[place.root()], &[]);
        commit(&place.root());
        drop(watch);
        place
            .marks()
            .note_write(&place.root(), &place.root().join(".git/x"))
            .unwrap();
        assert_eq!(count(), 2, "a mark and the root");
    }
    assert_eq!(
        place.pending(&place.root()).unwrap().changed[0]
            .commits
            .len(),
        3
    );
}

#[test]
fn each_new_commit_is_shown_once_however_many_there_are() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    git(&place.root(), &["commit", "--allow-empty", "-m", "FORGED"]);
    for number in 0..30 {
        git(
            &place.root(),
            &["commit", "--allow-empty", "-m", &number.to_string()],
        );
    }
    git(&place.root(), &["branch", "other"]);
    drop(watch);
    let pending = place.pending(&place.root()).unwrap();
    let commits: Vec<&String> = pending
        .changed
        .iter()
        .flat_map(|changed| &changed.commits)
        .collect();
    assert!(pending.is_whole && commits.len() == 31, "{pending:?}");
    assert_eq!(
        commits
            .iter()
            .filter(|commit| commit.ends_with("FORGED"))
            .count(),
        1
    );
}

#[test]
fn an_approval_leaves_out_the_commits_that_it_does_not_show() {
    let place = Place::new();
    git(&place.root(), &["branch", "mine"]);
    git(&place.root(), &["commit", "-q", "--amend", "-m", "other"]);
    let watch = place.watch(&[place.root()], &[]);
    git(&place.root(), &["branch", "-D", "mine"]);
    for _ in 0..2 {
        commit(&place.root());
        let amend = ["commit", "-q", "--amend", "--allow-empty", "-m", "another"];
        git(&place.root(), &amend);
    }
    drop(watch);
    let pending = place.pending(&place.root()).unwrap();
    assert!(pending.is_whole && pending.unreachable == 2, "{pending:?}");
    place.trust(&place.root()).unwrap();
    assert_eq!(place.marks().left_out().unwrap().len(), 2);
    assert!(place.pending(&place.root()).is_none());
    git(&place.root(), &["checkout", "-q", "HEAD@{1}"]);
    let pending = place.pending(&place.root()).unwrap();
    assert!(pending.changed.is_empty() && pending.again.len() == 1);
    let running = place.watch(&[place.root()], &[]);
    assert!(pending_in(&place.marks(), &place.root()).is_err());
    drop(running);
    place.trust(&place.root()).unwrap();
    assert_eq!(place.marks().left_out().unwrap().len(), 1);
    // Without its record, every commit could be one of these.
    fs::write(place.path().join("state/left-out.json"), "{").unwrap();
    assert!(pending_in(&place.marks(), &place.root()).is_err());
}

#[test]
fn a_repository_whose_commits_git_cannot_list_is_not_whole() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    commit(&place.root());
    commit(&place.root());
    drop(watch);
    assert!(place.pending(&place.root()).unwrap().is_whole);
    let id = Command::new("git")
        .args(["rev-parse", "HEAD^"])
        .current_dir(place.root())
        .output()
        .unwrap()
        .stdout;
    let id = String::from_utf8(id).unwrap();
    fs::remove_file(
        place
            .root()
            .join(".git/objects")
            .join(&id[..2])
            .join(id[2..].trim()),
    )
    .unwrap();
    assert!(!place.pending(&place.root()).unwrap().is_whole);
}

#[test]
fn a_damaged_repository_cannot_be_trusted() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    commit(&place.root());
    drop(watch);
    let objects = place.root().join(".git/objects");
    let folder = objects
        .read_dir()
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().len() == 2)
        .unwrap()
        .path();
    let object = folder.read_dir().unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&object, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(&object, "forged").unwrap();
    assert!(matches!(
        place.trust(&place.root()),
        Err(TrustError::Damaged(_))
    ));
    assert!(place.is_marked(&place.root()));
}

#[test]
fn a_move_of_a_folder_marks_the_repositories_below_the_root() {
    let place = Place::new();
    let nested = place.root().join("nested");
    place.init(&nested);
    assert!(!place.is_marked(&nested));
    place
        .marks()
        .note_write(&place.root(), &place.root())
        .unwrap();
    assert!(place.is_marked(&nested) && !place.is_marked(&place.root()));
}

#[test]
fn trust_holds_for_one_repository_and_not_for_another_at_its_path() {
    let place = Place::new();
    let nested = place.root().join("nested");
    place.init(&nested);
    place
        .marks()
        .note_write(&place.root(), &place.root())
        .unwrap();
    place.trust(&nested).unwrap();
    assert!(!place.is_marked(&nested));
    fs::rename(nested.join(".git"), place.path().join("old")).unwrap();
    place.init(&nested);
    assert!(place.is_marked(&nested));
}

#[test]
fn repositories_below_the_root_are_marked_while_a_program_runs_and_after_it() {
    let place = Place::new();
    let nested = place.root().join("nested");
    place.init(&nested);
    let watch = place.watch(&[place.root()], &[]);
    assert!(place.is_marked(&nested));
    drop(watch);
    assert!(place.is_marked(&nested));
    assert!(place.trust(&nested).unwrap());
    assert!(!place.is_marked(&nested));
}

#[test]
fn a_repository_that_a_program_made_is_marked_after_a_move() {
    let place = Place {
        dir: tempfile::tempdir().unwrap(),
    };
    fs::create_dir(place.root()).unwrap();
    let watch = place.watch(&[place.root()], &[]);
    place.init(&place.root());
    drop(watch);
    let moved = place.path().join("moved");
    fs::rename(place.root(), &moved).unwrap();
    assert!(place.is_marked(&moved));
}

#[test]
fn a_lock_of_git_leaves_no_mark() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    fs::write(place.root().join(".git/config.lock"), "").unwrap();
    drop(watch);
    assert!(!place.is_marked(&place.root()));
}

#[test]
fn a_repository_in_a_subfolder_that_a_program_writes_is_marked_also_after_a_move() {
    let place = Place::new();
    let (old, deep) = (place.root().join("lib/old"), place.root().join("a/b/new"));
    place.init(&old);
    std::thread::sleep(CLOCK_LAG * 3);
    let reads = place.watch(&[place.root()], &[]);
    git(&old, &["status"]);
    drop(reads);
    let watch = place.watch(&[place.root()], &[]);
    place.init(&deep);
    drop(watch);
    let moved = |from: &Path, name: &str| {
        let to = place.path().join(name);
        fs::rename(from, &to).unwrap();
        to
    };
    assert!(place.is_marked(&moved(&deep, "new")));
    let old = moved(&old, "old");
    assert!(!place.is_marked(&old), "it was only read");

    fs::rename(&old, place.root().join("old")).unwrap();
    let watch = place.watch(&[PathBuf::from("/")], &[]);
    commit(&place.root().join("old"));
    drop(watch);
    let old = moved(&place.root().join("old"), "moved");
    assert!(place.is_marked(&old));
    place
        .marks()
        .clear(&Repository::find(&old).unwrap())
        .unwrap();
    assert!(!place.is_marked(&old));
}

#[test]
fn a_repository_that_a_program_moves_is_marked() {
    // What the program moves, and to where, and what the user moves away then.
    let cases = [
        ("sub/new", "y", "y"),
        ("sub", "z", "z/new"),
        ("sub/new/.git", "old/.git", "old"),
        ("sub/new/.git/refs/heads", "idle/.git/refs/heads/x", "idle"),
    ];
    for (from, to, own) in cases {
        let place = Place::new();
        for folder in ["sub/new", "idle"] {
            place.init(&place.root().join(folder));
        }
        fs::create_dir(place.root().join("old")).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        let watch = place.watch(&[place.root()], &[]);
        fs::rename(place.root().join(from), place.root().join(to)).unwrap();
        drop(watch);
        let moved = place.path().join("moved");
        fs::rename(place.root().join(own), &moved).unwrap();
        assert!(place.is_marked(&moved), "{from}");
        let idle = place.root().join("idle");
        if own != "idle" {
            fs::rename(idle, place.path().join("idle")).unwrap();
            assert!(!place.is_marked(&place.path().join("idle")), "{from}");
        }
    }
}

#[test]
fn a_repository_that_a_program_of_a_killed_session_wrote_is_marked_wherever_it_lies() {
    let place = Place::new();
    let (old, new) = (place.root().join("lib/old"), place.root().join("new"));
    place.init(&old);
    let other = place.path().join("other");
    place.init(&other);
    std::thread::sleep(CLOCK_LAG * 3);
    let mortal = place.mortal(&[place.root()], &[]);
    place.init(&new);
    commit(&old);
    place.end(mortal);
    let moved = [&old, &new].map(|from| {
        let to = place
            .path()
            .join(format!("moved-{}", from.file_name().unwrap().display()));
        fs::rename(from, &to).unwrap();
        to
    });
    for is_settled in [false, true] {
        if is_settled {
            settle_lost(&place.marks()).unwrap();
        }
        for moved in &moved {
            assert!(place.is_marked(moved), "{is_settled}: {moved:?}");
        }
        assert!(!place.is_marked(&other), "nobody wrote it meanwhile");
    }
    // Later commits of the user leave some files of git as they are, and later repositories are the user's.
    std::thread::sleep(CLOCK_LAG * 3);
    git(&moved[1], &["gc", "-q", "--prune=now"]);
    commit(&moved[1]);
    assert!(place.is_marked(&moved[1]));
    let later = place.path().join("later");
    place.init(&later);
    assert!(!place.is_marked(&later));
    assert!(place.trust(&moved[1]).unwrap());
    assert!(!place.is_marked(&moved[1]) && place.is_marked(&moved[0]));
}

#[test]
fn a_program_of_a_killed_session_keeps_no_other_one_from_starting() {
    let place = Place::new();
    let mortal = place.mortal(&[place.root()], &[]);
    let moved = place.path().join("moved");
    fs::rename(place.root(), &moved).unwrap();
    let programs = place.marks().programs;
    programs.check_start(&moved).unwrap_err();
    place.end(mortal);
    programs.check_start(&moved).unwrap();
}

#[test]
fn a_settled_program_of_a_killed_session_marks_what_lies_where_it_was() {
    let place = Place::new();
    let new = place.root().join("new");
    let mortal = place.mortal(&[place.root()], &[]);
    place.init(&new);
    place.end(mortal);
    settle_lost(&place.marks()).unwrap();
    fs::remove_dir_all(place.path().join("programs")).unwrap();
    let moved = place.path().join("moved");
    fs::rename(&new, &moved).unwrap();
    assert!(place.is_marked(&moved));
}

#[test]
fn a_program_whose_end_cannot_be_recorded_or_looked_at_is_lost() {
    // A folder with a path that is too long to be read.
    let deep = "n=$(printf %0200d 0); for i in $(seq 25); do mkdir $n && cd -P $n || exit 1; done";
    for is_full in [true, false] {
        let place = Place::new();
        let new = place.root().join("new");
        let watch = place.watch(&[place.root()], &[]);
        let (state, away) = (place.path().join("state"), place.path().join("away"));
        if is_full {
            place.init(&new);
            // As on a full disk, nothing more can be written there.
            fs::rename(&state, &away).unwrap();
            fs::write(&state, "").unwrap();
        } else {
            let mut make = Command::new("sh");
            make.args(["-c", deep]).current_dir(place.root());
            assert!(make.status().unwrap().success());
            place.init(&new);
        }
        drop(watch);
        if is_full {
            fs::remove_file(&state).unwrap();
            fs::rename(&away, &state).unwrap();
        }
        place.end(());
        let moved = place.path().join("moved");
        fs::rename(&new, &moved).unwrap();
        assert!(place.is_marked(&moved), "{is_full}");
        assert_eq!(place.marks().programs.find_lost().unwrap().len(), 1);
    }
}

#[test]
fn the_user_may_commit_where_a_lost_program_could_not() {
    for is_settled in [false, true] {
        let place = Place::new();
        let nested = place.root().join("nested");
        place.init(&nested);
        let kept = [place.root().join(".git"), nested.join(".git")];
        let mortal = place.mortal(&[place.root()], &kept);
        commit(&nested);
        place.end(mortal);
        if is_settled {
            settle_lost(&place.marks()).unwrap();
        }
        let moved = place.path().join("moved");
        fs::rename(&nested, &moved).unwrap();
        assert!(!place.is_marked(&moved), "{is_settled}");
        // Another one could.
        place.end(place.mortal(&[place.root()], &[]));
        commit(&moved);
        assert!(place.is_marked(&moved), "{is_settled}");
    }
}

#[test]
fn a_look_at_files_or_at_a_repository_settles_the_programs_of_killed_sessions() {
    let place = Place::new();
    let judge = Authorship {
        root: place.root(),
        marks: Some(place.marks()),
        latest: Mutex::default(),
    };
    std::thread::sleep(CLOCK_LAG * 3);
    place.end(place.mortal(&[place.root().join("src")], &[]));
    judge.is_content_of_user(&[place.root().join("file")]);
    commit(&place.root());
    assert!(!place.is_marked(&place.root()), "it was dead by then");
    place.end(place.mortal(&[place.root()], &[]));
    commit(&place.root());
    assert!(place.trust(&place.root()).unwrap());
    assert!(!place.is_marked(&place.root()));
}

#[test]
fn an_ended_program_is_not_lost() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    assert!(
        place.marks().programs.find_lost().unwrap().is_empty(),
        "it runs"
    );
    commit(&place.root());
    drop(watch);
    settle_lost(&place.marks()).unwrap();
    assert!(place.marks().programs.find_lost().unwrap().is_empty());
}

#[test]
fn a_repository_under_another_name_is_marked() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    let inner = place.root().join("inner");
    place.init(&inner);
    fs::rename(inner.join(".git"), inner.join("data")).unwrap();
    // A folder that only looks like one hides none.
    for name in ["objects", "refs"] {
        fs::create_dir(inner.join(name)).unwrap();
    }
    drop(watch);
    let moved = place.path().join("moved");
    fs::rename(&inner, &moved).unwrap();
    fs::rename(moved.join("data"), moved.join(".git")).unwrap();
    assert!(place.is_marked(&moved));
}

#[test]
fn a_repository_is_not_trusted_while_a_program_can_write_it() {
    let place = Place::new();
    drop({
        let watch = place.watch(&[place.root()], &[]);
        commit(&place.root());
        watch
    });
    let dot_git = [place.root().join(".git")];
    let others = [
        place.watch(&[place.root().join("src")], &[]),
        place.watch(&[place.root()], &dot_git),
    ];
    place.pending(&place.root()).unwrap();
    let watch = place.watch(&[place.root()], &[]);
    let refused = [
        pending_in(&place.marks(), &place.root()).map(drop),
        place.trust(&place.root()).map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(TrustError::Written { .. })));
    }
    drop(watch);
    assert!(place.trust(&place.root()).unwrap());
    assert!(!place.is_marked(&place.root()));
    drop(others);
    assert!(!place.is_marked(&place.root()));
}

#[test]
fn a_repository_that_is_not_as_the_user_saw_it_stays_marked() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    commit(&place.root());
    drop(watch);
    assert!(!trust::clear_in(&place.marks(), &place.root(), |_| false).unwrap());
    assert!(place.is_marked(&place.root()));
}

#[test]
fn a_record_of_a_program_that_cannot_be_read_is_of_every_repository() {
    let place = Place::new();
    fs::create_dir(place.path().join("programs")).unwrap();
    for name in ["program-1.json", "lost-1.json"] {
        let file = place.path().join("programs").join(name);
        fs::write(&file, "{").unwrap();
        assert!(place.is_marked(&place.root()), "{name}");
        fs::remove_file(&file).unwrap();
    }
    assert!(!place.is_marked(&place.root()));
}

#[test]
fn many_lost_programs_count_as_fewer_that_took_longer() {
    let place = Place::new();
    let times: Vec<u64> = (0..20)
        .map(|_| {
            let from = place.mortal(&[place.root().join("src")], &[]).program.from;
            place.end(());
            settle_lost(&place.marks()).unwrap();
            std::thread::sleep(CLOCK_LAG);
            from + CLOCK_LAG.as_nanos() as u64
        })
        .collect();
    let lost = place.marks().programs.find_lost().unwrap();
    assert_eq!(lost.len(), 16);
    let is_lost = |time: &u64| lost.iter().any(|lost| lost.contains(*time));
    assert!(times.iter().all(is_lost), "{lost:?}");
}
