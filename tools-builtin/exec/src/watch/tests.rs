//! Looks after the programs of several sessions.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use host::placed::CLOCK_LAG;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};

use super::*;

/// A folder with a root, in which is an inner one, and a folder for what lies aside.
struct Desk {
    folder: tempfile::TempDir,
    aside: Aside,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let aside = Aside::new(folder.path().join("aside"));
        let desk = Self { folder, aside };
        for file in [
            "root/docs/x",
            "root/sub/x",
            "root/gone/.envrc",
            "elsewhere/x",
        ] {
            desk.put(file);
        }
        sleep(CLOCK_LAG * 3);
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn put(&self, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }

    fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Starts a program that may write all of a root. A drop ends its session as if that were killed.
    fn start(&self, root: &str) -> Watch {
        self.start_with(root, SensitivePaths::default())
    }

    /// Does so in a session with this table.
    fn start_with(&self, root: &str, table: SensitivePaths) -> Watch {
        let tree = Tree {
            path: ".".to_owned(),
            is_tree: true,
        };
        self.start_in(root, tree, table)
    }

    fn start_in(&self, root: &str, tree: Tree, table: SensitivePaths) -> Watch {
        let root = self.path(root);
        self.aside.recover_ended(&root);
        let look = Look {
            judge: Judge::strict(table),
            root,
            trees: vec![tree],
            is_kept: false,
            skipped: Vec::new(),
            may_redirect: false,
        };
        let mut before = look.find_with_content().unwrap();
        self.aside.inherit(&look.root, &mut before);
        let watch = Watch {
            look,
            aside: Some(self.aside.clone()),
            teller: None,
            before,
            origin: Origin::default(),
            state: Mutex::new(State::Before(None)),
        };
        watch.record().unwrap();
        watch
    }

    /// Starts a session. Returns the paths that a person is told about.
    fn look(&self, root: &str) -> Vec<String> {
        let told = self.aside.recover(&self.path(root));
        told.into_iter().map(|file| file.path).collect()
    }

    /// Returns the records with this end.
    fn records(&self, end: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("aside/running")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        files
            .filter(|file| file.to_str().unwrap().ends_with(end))
            .collect()
    }
}

fn end(watch: Watch) {
    watch.settle();
    drop(watch.take().unwrap());
}

/// Runs an inner program, and an outer one that takes a folder from it.
fn taken(desk: &Desk, is_killed: bool) -> Watch {
    let (inner, outer) = (desk.start("root/sub"), desk.start("root"));
    for file in ["root/sub/new/x", "root/z/x"] {
        desk.put(file);
    }
    desk.look("root");
    assert!(desk.records("later.json").is_empty(), "it still runs");
    desk.rename("root/sub/new", "root/y");
    if is_killed {
        drop(outer);
        desk.look("root");
    } else {
        end(outer);
    }
    assert_eq!(desk.records("later.json").len(), 1);
    inner
}

#[test]
fn what_a_program_plants_in_a_folder_that_was_taken_from_it_is_moved_aside_at_its_end() {
    for is_killed in [false, true] {
        let desk = Desk::new();
        let inner = taken(&desk, is_killed);
        // Another program does not end the wait.
        end(desk.start("root"));
        for file in ["root/y/.envrc", "root/AGENTS.md", "root/docs/AGENTS.md"] {
            desk.put(file);
        }
        fs::remove_file(desk.path("root/gone/.envrc")).unwrap();
        end(inner);
        assert!(!desk.has("root/y/.envrc"), "{is_killed}");
        assert!(desk.has("root/AGENTS.md") && desk.has("root/docs/AGENTS.md"));
        assert!(!desk.has("root/gone/.envrc"), "the user removed it");
        assert!(desk.records(".json").is_empty());
        desk.put("root/y/.envrc");
        desk.look("root");
        assert!(desk.has("root/y/.envrc"), "it is looked at once");
    }
}

#[test]
fn a_folder_that_was_taken_and_moved_on_is_looked_at_where_it_is() {
    let desk = Desk::new();
    let inner = taken(&desk, false);
    desk.rename("root/y", "elsewhere/y");
    desk.put("elsewhere/y/.envrc");
    end(inner);
    desk.look("elsewhere");
    assert!(!desk.has("elsewhere/y/.envrc"));
    assert!(desk.records(".json").is_empty());

    let desk = Desk::new();
    let inner = taken(&desk, false);
    desk.rename("root", "moved");
    desk.put("moved/y/.envrc");
    end(inner);
    assert!(!desk.has("moved/y/.envrc"), "its root");
}

#[test]
fn a_program_whose_folders_cannot_be_noted_for_later_is_looked_after_later() {
    for is_killed in [false, true] {
        let desk = Desk::new();
        let (inner, outer) = (desk.start("root/sub"), desk.start("root"));
        desk.put("root/y/.envrc");
        let mut drafts = desk.records(".json");
        for draft in &mut drafts {
            draft.set_extension("later.draft");
            fs::create_dir(&*draft).unwrap();
        }
        if is_killed {
            drop(outer);
            end(desk.start("root"));
        } else {
            end(outer);
        }
        assert!(desk.has("root/y/.envrc"), "{is_killed}");
        drafts
            .iter()
            .for_each(|draft| fs::remove_dir(draft).unwrap());
        desk.look("root");
        assert!(!desk.has("root/y/.envrc"), "{is_killed}");
        end(inner);
    }
}

#[test]
fn what_could_not_be_done_is_tried_again_by_the_next_session_and_not_by_each_program() {
    let desk = Desk::new();
    let (inner, outer) = (desk.start("root/sub"), desk.start("root"));
    desk.put("root/gone/x");
    end(outer);
    // A file is where the folder was.
    fs::remove_dir_all(desk.path("root/gone")).unwrap();
    desk.put("root/gone");
    let other = desk.start("elsewhere");
    end(inner);
    fs::remove_file(desk.path("root/gone")).unwrap();
    end(other);
    assert!(!desk.has("root/gone/.envrc"));
    desk.put("root/gone/AGENTS.md");
    desk.look("root");
    assert!(desk.has("root/gone/.envrc") && desk.has("root/gone/AGENTS.md"));

    for is_back in [false, true] {
        let desk = Desk::new();
        let killed = desk.start("root");
        fs::remove_dir_all(desk.path("root/gone")).unwrap();
        desk.put("root/gone");
        drop(killed);
        desk.rename("root", "moved");
        desk.look("moved");
        let place = if is_back { "root" } else { "moved" };
        if is_back {
            desk.rename("moved", "root");
        }
        fs::remove_file(desk.path(place).join("gone")).unwrap();
        desk.look(place);
        assert!(desk.has(&format!("{place}/gone/.envrc")), "{is_back}");
    }
}

#[test]
fn a_stuck_file_makes_no_folder_wait() {
    let desk = Desk::new();
    let killed = desk.start("root");
    fs::remove_dir_all(desk.path("root/gone")).unwrap();
    desk.put("root/gone");
    desk.put("root/y/x");
    drop(killed);
    desk.look("root");
    let inner = desk.start("root/sub");
    desk.put("root/y/AGENTS.md");
    desk.look("root");
    end(inner);
    assert!(desk.has("root/y/AGENTS.md") && desk.records("later.json").is_empty());
}

#[test]
fn a_root_with_too_many_entries_is_looked_at_once_it_has_fewer() {
    let desk = Desk::new();
    let killed = desk.start("root");
    desk.put("root/.envrc");
    desk.put("root/docs/.envrc");
    drop(killed);
    desk.put(&format!("root/deep/{}x", "a/".repeat(300)));
    desk.rename("root/docs", "elsewhere/y");
    assert_eq!(desk.look("elsewhere"), ["y/.envrc"]);
    assert_eq!(desk.look("root"), ["."]);
    fs::remove_dir_all(desk.path("root/deep")).unwrap();
    assert_eq!(desk.look("root"), [".envrc"]);
    assert_eq!(desk.aside.list(&desk.path("root")).len(), 1);
}

#[test]
fn what_is_found_from_a_root_around_lies_aside_for_the_inner_one() {
    let desk = Desk::new();
    let killed = desk.start("root/sub");
    desk.put("root/sub/.envrc");
    drop(killed);
    assert_eq!(desk.look("root"), [".envrc"]);
    assert_eq!(desk.aside.list(&desk.path("root/sub")).len(), 1);
}

#[test]
fn what_running_programs_plant_is_new_for_one_that_starts_later() {
    for (first, second) in [("root", "root/sub"), ("root/sub", "root")] {
        let desk = Desk::new();
        let running = desk.start(first);
        desk.put("root/sub/.envrc");
        end(desk.start(second));
        assert!(!desk.has("root/sub/.envrc"), "{first}");
        end(running);
    }
}

#[test]
fn a_folder_that_no_program_could_write_is_not_looked_at_where_it_was_moved() {
    let desk = Desk::new();
    desk.put("root/docs/in/x");
    let (path, is_tree) = ("docs".to_owned(), false);
    let table = SensitivePaths::default();
    let killed = desk.start_in("root", Tree { path, is_tree }, table);
    drop(killed);
    desk.put("root/docs/in/.envrc");
    desk.rename("root/docs/in", "elsewhere/y");
    desk.look("elsewhere");
    assert!(desk.has("elsewhere/y/.envrc"));
}

#[test]
fn the_oldest_records_of_many_moved_folders_are_removed_and_no_others() {
    let desk = Desk::new();
    let program = desk.start("root");
    desk.rename("root/docs", "elsewhere/y");
    end(program);
    let waiting = desk.records(".json");
    for number in 0..99 {
        let copy = desk.path(&format!("aside/running/9{number}.json"));
        fs::copy(&waiting[0], copy).unwrap();
    }
    let (inner, killed) = (desk.start("root/sub"), desk.start("root"));
    desk.put("root/z/.envrc");
    drop(killed);
    let drafts = desk.records(".json");
    let drafts: Vec<_> = drafts
        .iter()
        .map(|file| file.with_extension("later.draft"))
        .collect();
    drafts
        .iter()
        .for_each(|draft| fs::create_dir(draft).unwrap());
    desk.look("root");
    assert!(desk.has("root/z/.envrc"), "it could not be noted for later");
    drafts
        .iter()
        .for_each(|draft| fs::remove_dir(draft).unwrap());
    assert!(desk.records(".json").len() < 70);
    desk.look("root");
    assert!(!desk.has("root/z/.envrc"));
    end(inner);
}

#[test]
fn what_a_killed_session_left_waits_for_the_next_program_or_session() {
    let desk = Desk::new();
    let other = desk.start("elsewhere");
    let killed = desk.start("root");
    desk.put("root/.envrc");
    drop(killed);
    end(other);
    assert!(desk.has("root/.envrc"), "an end of another program");
    end(desk.start("elsewhere"));
    assert!(!desk.has("root/.envrc"), "a start of another program");
}

#[test]
fn what_a_killed_session_left_is_found_where_its_folder_was_moved() {
    // The folder, its new place, the root of the next session, and the path that is told.
    let cases = [
        ("root", "moved", "moved", ".envrc"),
        ("root", "moved", "moved/docs", ".envrc"),
        ("root/docs", "elsewhere/y", "elsewhere", "y/.envrc"),
        ("root/docs", "root/y", "root", "y/.envrc"),
    ];
    for (from, to, next, path) in cases {
        let desk = Desk::new();
        let killed = desk.start("root");
        desk.put(&format!("{from}/.envrc"));
        desk.put("root/docs/CLAUDE.md");
        drop(killed);
        desk.rename(from, to);
        for file in ["root/new/AGENTS.md", "elsewhere/AGENTS.md"] {
            desk.put(file);
        }
        let told = desk.look(next);
        assert!(!desk.has(&format!("{to}/.envrc")), "{from} {next}");
        assert!(told.iter().any(|told| told == path), "{told:?}");
        let is_nested = told.iter().any(|told| told == "docs/CLAUDE.md");
        assert_eq!(is_nested, from == "root", "{told:?}");
        assert!(desk.has("elsewhere/AGENTS.md"));
        let is_root = from == "root";
        assert_eq!(desk.has("root/new/AGENTS.md"), is_root, "{from} {next}");
        assert!(desk.records(".json").is_empty());
        desk.put(&format!("{to}/.envrc"));
        desk.look(next);
        assert!(desk.has(&format!("{to}/.envrc")), "it is looked at once");
    }
}

#[test]
fn a_folder_that_was_moved_away_waits_and_the_rest_of_the_root_is_the_users() {
    for is_back in [false, true] {
        let desk = Desk::new();
        let program = desk.start("root");
        desk.rename("root/docs", "elsewhere/y");
        desk.put("elsewhere/y/.envrc");
        desk.put("root/CLAUDE.md");
        end(program);
        assert!(!desk.has("root/CLAUDE.md") && desk.has("elsewhere/y/.envrc"));
        desk.put("root/AGENTS.md");
        end(desk.start("root"));
        assert!(desk.has("root/AGENTS.md"), "it is older than the program");
        let place = if is_back { "root/docs" } else { "elsewhere/y" };
        if is_back {
            desk.rename("elsewhere/y", place);
        }
        desk.look("elsewhere");
        assert!(!desk.has(&format!("{place}/.envrc")), "{is_back}");
        assert!(desk.has("root/AGENTS.md") && desk.records(".json").is_empty());
    }
}

#[test]
fn a_folder_that_a_program_moves_within_its_root_waits_for_nothing() {
    let desk = Desk::new();
    let program = desk.start("root");
    desk.rename("root/docs", "root/y");
    desk.put("root/y/.envrc");
    end(program);
    assert!(!desk.has("root/y/.envrc") && desk.records(".json").is_empty());
}

#[test]
fn a_session_looks_at_what_programs_of_its_own_workspace_have_planted_so_far() {
    let desk = Desk::new();
    let (own, other) = (desk.start("root"), desk.start("elsewhere"));
    desk.put("root/.envrc");
    desk.put("elsewhere/.envrc");
    let second = desk.start("root/sub");
    assert!(desk.has("root/.envrc"), "a program alone does not look");
    end(second);
    desk.look("root/sub");
    assert!(!desk.has("root/.envrc") && desk.has("elsewhere/.envrc"));
    desk.put("root/.envrc");
    end(own);
    assert!(!desk.has("root/.envrc"), "its record stayed");
    end(other);
}

/// Returns the table of a session that knows these files as protected.
fn knowing(patterns: &[&str]) -> SensitivePaths {
    let entry = |pattern: &&str| {
        SensitivePath::new(*pattern, Sensitivity::RunsByItself, "named by a link").unwrap()
    };
    SensitivePaths::default().with_paths(patterns.iter().map(entry))
}

/// Returns the table of a session that knows a file outside of its root as protected.
fn knowing_outside(path: &str) -> SensitivePaths {
    let entry = SensitivePath::outside(path, Sensitivity::RunsByItself, "named by a link");
    SensitivePaths::default().with_paths([entry])
}

/// Returns true if a session that begins in a root knows the path as protected.
fn knows(desk: &Desk, root: &str, path: &str) -> bool {
    let table = SensitivePaths::default();
    let table = desk.aside.with_known(&desk.path(root), table);
    table.find(path).is_some()
}

#[test]
fn what_the_session_of_a_program_knows_is_known_to_those_that_begin_meanwhile() {
    let desk = Desk::new();
    let running = desk.start_with("root", knowing(&["/env/dev", "/sub/ci/x", "names.txt"]));
    let known = |root, path| knows(&desk, root, path);
    for (root, path) in [
        ("root", "env/dev"),
        ("root/sub", "ci/x"),
        ("", "root/env/dev"),
    ] {
        assert!(known(root, path), "{root} {path}");
        assert!(known(root, "deep/names.txt"), "{root}");
    }
    for (root, path) in [
        ("root/sub", "env/dev"),
        ("root/sub", "sub/ci/x"),
        ("", "env/dev"),
        ("elsewhere", "env/dev"),
        ("elsewhere", "names.txt"),
        ("root-2", "env/dev"),
    ] {
        assert!(!known(root, path), "{root} {path}");
    }
    // The session that began meanwhile has a program, too, and the first one ends.
    let table = desk.aside.with_known(&desk.path("root"), knowing(&[]));
    let entries = table.paths().len();
    let second = desk.start_with("root", table);
    end(running);
    let third = desk.aside.with_known(&desk.path("root"), knowing(&[]));
    assert_eq!(third.paths().len(), entries, "each entry once");
    end(second);
}

#[test]
fn what_the_session_of_an_inner_root_knows_outside_of_it_is_known_around_it() {
    let desk = Desk::new();
    let _running = desk.start_with("root/sub", knowing_outside("../env/dev"));
    assert!(knows(&desk, "root", "env/dev"));
    assert!(knows(&desk, "", "root/env/dev"));
    assert!(!knows(&desk, "root", "dev"));
    assert!(!knows(&desk, "root/docs", "env/dev"));
    let _elsewhere = desk.start_with("elsewhere", knowing_outside("../root/docs/rc"));
    assert!(knows(&desk, "root/docs", "rc"), "by a link in the home");
    assert!(!knows(&desk, "root/sub", "docs/rc"));
    // A second session there knows it, too, also when the first one has ended long ago.
    let path = desk.path("root/sub");
    let table = desk.aside.with_known(&path, SensitivePaths::default());
    let last = table.paths().last().unwrap();
    assert_eq!(last.pattern, "/../env/dev");
}

#[test]
fn what_the_session_of_a_program_knows_is_known_where_its_root_or_a_folder_is_moved_to() {
    let desk = Desk::new();
    let _running = desk.start_with("root", knowing(&["/env/dev", "/sub/ci/x"]));
    desk.rename("root/sub", "root/docs/sub");
    desk.rename("root", "moved");
    for (root, path) in [
        ("moved", "env/dev"),
        ("moved", "docs/sub/ci/x"),
        ("", "moved/env/dev"),
    ] {
        assert!(knows(&desk, root, path), "{root} {path}");
    }
    assert!(!knows(&desk, "elsewhere", "env/dev"));
}

#[test]
fn a_root_in_a_folder_that_the_session_of_a_program_knows_is_a_folder_of_settings() {
    let desk = Desk::new();
    let _running = desk.start_with("root", knowing(&["/sub/**"]));
    assert!(knows(&desk, "root/sub", "x"));
    assert!(knows(&desk, "root/sub/inner", "x"));
    assert!(!knows(&desk, "root/docs", "x"));
}

#[test]
fn what_the_session_of_an_ended_program_knew_counts_for_a_minute() {
    for is_killed in [false, true] {
        let desk = Desk::new();
        let program = desk.start_with("root", knowing(&["/env/dev"]));
        let make_old = |end: &str| {
            let [record] = desk.records(end).try_into().unwrap();
            let record = fs::File::open(record).unwrap();
            let old = SystemTime::now() - Duration::from_secs(61);
            record.set_modified(old).unwrap();
        };
        make_old(".json");
        assert!(knows(&desk, "root", "env/dev"), "it still runs");
        if is_killed {
            drop(program);
            assert!(knows(&desk, "root", "env/dev"), "nobody has looked yet");
            desk.look("root");
        } else {
            end(program);
        }
        assert!(knows(&desk, "root", "env/dev"), "{is_killed}");
        make_old(".ended");
        assert!(!knows(&desk, "root", "env/dev"), "{is_killed}");
        assert!(desk.records("ended").is_empty());
    }
    // One whose record waits for a folder that was moved away has ended, too.
    let desk = Desk::new();
    let program = desk.start_with("root", knowing(&["/env/dev"]));
    desk.rename("root/docs", "elsewhere/y");
    end(program);
    assert_eq!(desk.records(".json").len(), 1);
    assert!(knows(&desk, "root", "env/dev"));
}
