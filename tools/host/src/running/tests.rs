use std::thread::sleep;

use serde::Deserialize;

use super::*;
use crate::placed::CLOCK_LAG;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    root: PathBuf,
    trees: Vec<PathBuf>,
    from: u64,
    is_later: bool,
}

impl Program for Note {
    fn reach(&self) -> Reach<'_> {
        Reach {
            root: &self.root,
            trees: self.trees.clone(),
            from: self.from,
            is_later: self.is_later,
        }
    }
}

type Record = ProgramRecord<Note>;

/// A program that may write all of a root.
fn program(root: &Path) -> Note {
    Note {
        root: root.to_owned(),
        trees: vec![root.to_owned()],
        from: recently(),
        is_later: false,
    }
}

/// The folders of an ended program that wait.
fn later(root: &Path, trees: &[&str]) -> Record {
    let trees = trees.iter().map(|tree| root.join(tree)).collect();
    let program = Note {
        trees,
        is_later: true,
        ..program(root)
    };
    Record {
        is_alive: false,
        ..record(program)
    }
}

/// The record of a program that runs.
fn record(program: Note) -> Record {
    let root = program.root.clone();
    Record {
        file: PathBuf::new(),
        folders: FolderId::of(&root)
            .into_iter()
            .map(|id| (id, root.clone()))
            .collect(),
        program,
        is_alive: true,
        _opened: File::open("/dev/null").unwrap(),
    }
}

/// A root with folders.
fn root() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    for path in ["docs", "around/sub/in", "around/other", ".git/refs"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    sleep(CLOCK_LAG * 3);
    (folder, root)
}

/// Returns the folders that wait after a program of a root, below that root.
fn found(all: &[Record], program: &Note) -> Vec<String> {
    let folders = Record::find_later(all, program).map(|(folders, _)| folders);
    let below = |path: &PathBuf| path.strip_prefix(&program.root).unwrap().to_owned();
    let mut found: Vec<_> = folders.iter().flatten().map(below).collect();
    found.sort();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    found.into_iter().map(text).collect()
}

#[test]
fn folders_that_have_changed_wait_for_programs_of_roots_below() {
    let (_folder, root) = root();
    let (sub, other) = (root.join("around/sub"), root.join("around/other"));
    let outer = program(&root);
    for path in ["docs/x", "around/x", "around/sub/x", "x", ".git/refs/x"] {
        fs::create_dir(root.join(path)).unwrap();
    }
    let inner = || record(program(&sub));
    // Neither the root nor the inner one nor the way there, because the ends of both programs look there.
    let changed = ["around/x", "docs", "x"];
    assert_eq!(found(&[inner()], &outer), changed);
    assert_eq!(found(&[inner(), inner()], &outer), changed);
    let two = [inner(), record(program(&other))];
    assert_eq!(found(&two, &outer), ["around", "docs", "x"]);
    let dead = Record {
        is_alive: false,
        ..inner()
    };
    let waiting = Record {
        is_alive: true,
        ..later(&sub, &[""])
    };
    let none = [dead, waiting, record(outer.clone())];
    assert!(found(&none, &outer).is_empty(), "none runs below");
    assert!(found(&[inner()], &program(&root.join("docs"))).is_empty());
    let ended = Note {
        is_later: true,
        ..outer.clone()
    };
    assert!(found(&[inner()], &ended).is_empty(), "they wait already");
    sleep(CLOCK_LAG * 3);
    assert!(Record::find_later(&[inner()], &program(&root)).is_none());
    let moved = inner();
    fs::rename(&sub, root.join("moved")).unwrap();
    fs::create_dir(&sub).unwrap();
    let with_moved = ["around", "docs", "moved", "x"];
    assert_eq!(found(&[moved], &outer), with_moved);
}

#[test]
fn folders_wait_once() {
    let (_folder, root) = root();
    let outer = program(&root);
    fs::create_dir(root.join("docs/x")).unwrap();
    let runs = || record(program(&root.join("around/sub")));
    for known in [&["docs"][..], &["around", "docs"], &[""]] {
        assert!(found(&[runs(), later(&root, known)], &outer).is_empty());
    }
    let of_folder = later(root.parent().unwrap(), &["root"]);
    let ended = Record {
        is_alive: false,
        ..record(outer.clone())
    };
    for other in [later(&root, &["around"]), of_folder, ended] {
        assert_eq!(found(&[runs(), other], &outer), ["docs"]);
    }
}

#[test]
fn a_program_whose_folders_wait_lives_while_one_runs_in_a_root_below() {
    let (_folder, root) = root();
    let sub = root.join("around/sub");
    let lives = |of: Record, others: Vec<Record>| {
        let mut all: Vec<_> = [of].into_iter().chain(others).collect();
        Record::revive(&mut all);
        all[0].is_alive
    };
    let waits = || later(&root, &["docs"]);
    let inner = || record(program(&sub));
    let dead = || Record {
        is_alive: false,
        ..inner()
    };
    assert!(lives(waits(), vec![dead(), inner()]));
    let ended = Record {
        is_alive: false,
        ..record(program(&root))
    };
    assert!(!lives(ended, vec![inner()]));
    let of_sub = Record {
        is_alive: true,
        ..later(&sub, &[""])
    };
    let others = vec![dead(), of_sub, record(program(&root))];
    assert!(!lives(waits(), others));
    assert!(!lives(later(&sub, &[""]), vec![record(program(&root))]));
}

#[test]
fn a_record_that_its_session_removes_meanwhile_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for is_alive in [false, true] {
        let file = new_file(folder.path(), "");
        let followed = Followed::start(&program(folder.path()), file.clone(), |_| Ok(())).unwrap();
        let read = |is_removed: bool| {
            Record::read(file.clone(), |_| {
                if is_removed {
                    fs::remove_file(&file)?;
                }
                Ok(is_alive)
            })
        };
        let record = read(false).unwrap();
        let own = (&FolderId::of(folder.path()).unwrap(), folder.path());
        let mut folders = record.folders.iter();
        assert!(folders.any(|(id, path)| (id, &**path) == own));
        assert_eq!((record.is_alive, &followed.file), (is_alive, &file));
        match read(true) {
            Ok(_) => assert!(is_alive),
            Err(error) => assert!(!is_alive && error.kind() == io::ErrorKind::NotFound),
        }
    }
}

#[test]
fn a_record_is_free_after_its_end_while_the_thread_still_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.json");
    let lock = |file: &File, operation| Ok(flock(file, operation)?);
    let is_free = || {
        let file = File::open(&file).unwrap();
        lock(&file, FlockOperation::NonBlockingLockShared).is_ok()
    };
    let program = program(folder.path());
    let followed = Followed::start(&program, file.clone(), |file| {
        lock(file, FlockOperation::NonBlockingLockExclusive)
    });
    let followed = followed.unwrap();
    let thread = followed.clone();
    assert!(!is_free());
    followed.unlock();
    drop(followed);
    assert!(is_free());
    drop(thread);
}
