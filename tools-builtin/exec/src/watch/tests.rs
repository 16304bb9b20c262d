//! What programs of several sessions leave.

use std::fs;
use std::thread::sleep;

use host::placed::CLOCK_LAG;
use tools::policy::SensitivePaths;

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
        let root = self.path(root);
        self.aside.recover_ended(&root);
        let tree = Tree {
            path: ".".to_owned(),
            is_tree: true,
        };
        let place = Place {
            judge: Judge::strict(SensitivePaths::default()),
            root,
            trees: vec![tree],
            is_kept: false,
            skipped: Vec::new(),
            may_redirect: false,
            aside: Some(self.aside.clone()),
            teller: None,
        };
        let mut before = place.look(true).find().unwrap();
        self.aside.inherit(&place.root, &mut before);
        let watch = Watch {
            place,
            before,
            origin: Origin::default(),
            state: Mutex::new(State::Before(None)),
        };
        watch.record().unwrap();
        watch
    }

    /// Starts a session.
    fn look(&self, root: &str) {
        self.aside.recover(&self.path(root));
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
    desk.put("root/sub/new/x");
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
        assert!(desk.records("").is_empty());
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
    assert!(desk.records("").is_empty());

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
    // The folder, its new place, and the root of the next session.
    let cases = [
        ("root", "moved", "moved"),
        ("root", "moved", "moved/docs"),
        ("root/docs", "elsewhere/y", "elsewhere"),
        ("root/docs", "root/y", "root"),
    ];
    for (from, to, next) in cases {
        let desk = Desk::new();
        let killed = desk.start("root");
        desk.put(&format!("{from}/.envrc"));
        drop(killed);
        desk.rename(from, to);
        for file in ["root/new/AGENTS.md", "elsewhere/AGENTS.md"] {
            desk.put(file);
        }
        desk.look(next);
        assert!(!desk.has(&format!("{to}/.envrc")), "{from} {next}");
        assert!(desk.has("elsewhere/AGENTS.md"));
        let is_root = from == "root";
        assert_eq!(desk.has("root/new/AGENTS.md"), is_root, "{from} {next}");
        assert!(desk.records("").is_empty());
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
        assert!(desk.has("root/AGENTS.md") && desk.records("").is_empty());
    }
}

#[test]
fn a_session_looks_at_what_programs_of_its_own_workspace_have_planted_so_far() {
    let desk = Desk::new();
    let (own, other) = (desk.start("root"), desk.start("elsewhere"));
    desk.put("root/.envrc");
    desk.put("elsewhere/.envrc");
    desk.look("root/sub");
    assert!(!desk.has("root/.envrc") && desk.has("elsewhere/.envrc"));
    desk.put("root/.envrc");
    end(own);
    assert!(!desk.has("root/.envrc"), "its record stayed");
    end(other);
}
