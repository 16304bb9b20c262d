//! Folders that somebody moves while a program of a session runs in them, or after its session was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::Ended;
use crate::lost_programs::{reads_clean, send};
use crate::own_files::put;
use crate::strangers_files::{Desk, ME, has_walls};

/// Goes on when the test says so, in the folder that is its working directory, wherever it lies by then.
const WAIT: &str = "touch ready; while [ ! -e go ]; do sleep 0.05; done;";
const PLANT: &str =
    "echo evil > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json; touch planted;";

/// The time after which a session knows the folders that its program has made.
const FOLLOWED: Duration = Duration::from_millis(1500);

/// A session with a program. A drop kills it.
struct Program {
    session: Child,
    said: PathBuf,
}

impl Program {
    /// Starts a session in a root, which runs a script.
    fn start(desk: &Desk, root: &Path, script: &str) -> Self {
        let said = desk.crib.dir.path().join("said");
        let args = json!(["-c", script]).to_string().replace('\'', "'\\''");
        let call = format!("exec.run program=sh args='{args}'");
        let grants = [
            "--allow",
            "exec:write:sh **",
            "--allow",
            "fs:write:**",
            "--allow",
            "fs:write:**/.git/**",
        ];
        let run = [
            "run",
            &*call,
            "--provider",
            "direct",
            "--root",
            root.to_str().unwrap(),
        ];
        let mut session = desk.crib.command(&[&run[..], &grants].concat());
        session
            .env("HOME", desk.crib.dir.path().join("home"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said).unwrap());
        let session = session.spawn().unwrap();
        Self { session, said }
    }

    fn end(&mut self) -> String {
        self.session.wait().unwrap();
        fs::read_to_string(&self.said).unwrap().replace("\n  ", " ")
    }

    fn kill(&mut self) {
        send(&self.session, Signal::KILL);
        self.session.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.session.kill();
    }
}

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no {path:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes a desk with a folder in its root.
fn desk() -> Option<(Desk, PathBuf)> {
    let desk = Desk::new();
    let sub = desk.root().join("sub");
    put(&sub.join("file"), "text");
    has_walls(&desk).then_some((desk, sub))
}

/// Returns true if nothing is there that a program planted.
fn is_clean(folder: &Path) -> bool {
    assert!(folder.join("planted").exists());
    !folder.join(".envrc").exists() && !folder.join(".vscode/tasks.json").exists()
}

/// Starts a session, and returns what it said.
fn look(desk: &Desk, root: &Path) -> String {
    let mut session = desk
        .crib
        .command(&["run", "time.now", "--provider", "direct"]);
    let home = desk.crib.dir.path().join("home");
    let said: Ended = session
        .current_dir(root)
        .env("HOME", home)
        .output()
        .unwrap()
        .into();
    said.expect(0).stderr.replace("\n  ", " ")
}

#[test]
fn a_program_whose_root_was_moved_is_looked_after_where_it_is() {
    let ways: [fn(&Desk); 2] = [
        |desk| {
            let call = (
                "exec.run",
                json!({"program": "mv", "args": ["sub", "sub2"]}),
            );
            desk.session(
                &[call],
                &["--allow", "fs:write:**", "--allow", "exec:write:mv **"],
            );
        },
        |desk| fs::rename(desk.root().join("sub"), desk.root().join("sub2")).unwrap(),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let Some((desk, sub)) = desk() else { return };
        let moved = desk.root().join("sub2");
        let mut program = Program::start(&desk, &sub, &format!("{WAIT} {PLANT}"));
        wait_for(&sub.join("ready"));
        way(&desk);
        assert!(!sub.exists(), "{number}");
        // Another folder at the path is the user's.
        put(&sub.join(".envrc"), "mine");
        put(&moved.join("go"), "");
        let said = program.end();
        assert!(
            is_clean(&moved) && said.contains(".envrc, "),
            "{number}: {said}"
        );
        assert!(sub.join(".envrc").exists(), "{number}: {said}");
    }
}

/// Moves a folder by a tool in a root. Returns true if it was moved.
fn moves(desk: &Desk, root: &Path, from: &str, to: &str) -> bool {
    let call = ("fs.move", json!({"from": from, "to": to}));
    let root_of = ["--root", root.to_str().unwrap()];
    let allow = ["--allow", "fs:write:**", "--allow", "fs:destroy:**"];
    desk.session(&[call], &[&root_of[..], &allow].concat());
    root.join(to).exists() && !root.join(from).exists()
}

/// Returns true if a program that may write files starts in a root.
fn starts(desk: &Desk, root: &Path) -> bool {
    let call = ("exec.run", json!({"program": "touch", "args": ["started"]}));
    let root_of = ["--root", root.to_str().unwrap()];
    let allow = ["--allow", "fs:write:**", "--allow", "exec:write:touch **"];
    desk.session(&[call], &[&root_of[..], &allow].concat());
    let started = root.join("started").exists();
    let _ = fs::remove_file(root.join("started"));
    started
}

#[test]
fn no_tool_moves_a_folder_away_from_a_program_that_can_write_it() {
    // The folders, and whether the end of the program looks at the new one.
    let cases = [
        ("a/sub", "a/x", false),
        ("a", "x", false),
        ("a/sub/in", "y", false),
        ("a/sub/late/in", "y", false),
        ("a/sub/in", "a/sub/y", true),
        ("other", "y", true),
        ("other", "a/sub/y", true),
    ];
    for (from, to, is_seen) in cases {
        let desk = Desk::new();
        if !has_walls(&desk) {
            return;
        }
        let sub = desk.root().join("a/sub");
        put(&sub.join("in/file"), "");
        put(&desk.root().join("other/file"), "");
        let mut program = Program::start(&desk, &sub, &format!("mkdir -p late/in; {WAIT}"));
        wait_for(&sub.join("ready"));
        assert_eq!(moves(&desk, &desk.root(), from, to), is_seen, "{from} {to}");
        if !is_seen {
            put(&sub.join("go"), "");
            program.end();
            assert!(moves(&desk, &desk.root(), from, to), "{from} {to}");
        }
    }
}

#[test]
fn no_tool_moves_what_a_program_made_out_of_a_folder_that_was_moved_away_from_it() {
    for (old, cwd) in [("sub", "."), ("sub/old", "old")] {
        let Some((desk, sub)) = desk() else { return };
        put(&sub.join("old/file"), "");
        let end = WAIT.replace("ready", "made").replace("go", "end");
        let script = format!("cd {cwd}; {WAIT} mkdir new; {end}");
        let mut program = Program::start(&desk, &sub, &script);
        wait_for(&desk.root().join(old).join("ready"));
        let moved = desk.root().join("moved");
        fs::rename(desk.root().join(old), &moved).unwrap();
        put(&moved.join("go"), "");
        wait_for(&moved.join("made"));
        assert!(!moves(&desk, &desk.root(), "moved/new", "y"), "{old}");
        assert!(!moves(&desk, &moved, "new", "y"), "{old}: from there");
        let is_root = cwd == ".";
        assert!(!is_root || !moves(&desk, &desk.root(), "moved/new", "sub"));
        put(&moved.join("end"), "");
        program.end();
        assert!(moves(&desk, &desk.root(), "moved/new", "y"), "{old}");
    }
}

#[test]
fn what_a_running_program_moves_away_from_another_one_is_looked_at_at_its_end() {
    let Some((desk, sub)) = desk() else { return };
    let end = WAIT.replace("ready", "made").replace("go", "end");
    let script = format!("{WAIT} mkdir new; cd new; {} {PLANT} {end}", forge());
    let mut program = Program::start(&desk, &sub, &script);
    wait_for(&sub.join("ready"));
    let script = "mv sub x; touch x/go; until [ -e x/new/made ]; do sleep 0.05; done; mv x/new y";
    Program::start(&desk, &desk.root(), script).end();
    let moved = desk.root().join("y");
    assert!(is_clean(&moved));
    put(&moved.join("end"), "");
    program.end();
    let place = desk.crib.dir.path().join("place");
    fs::rename(&moved, &place).unwrap();
    assert!(!reads_clean(&desk, &place, "E.md"));
}

#[test]
fn no_program_starts_where_a_folder_was_moved_away_from_another_one() {
    // The folder that is moved, and its new place, seen from the folder around the root.
    let cases = [
        ("root/sub", "root/x"),
        ("root/sub", "away"),
        ("root/sub", "elsewhere/x"),
        ("root/sub/old", "root/x"),
        ("root/sub/old", "away"),
    ];
    for (old, to) in cases {
        let Some((desk, sub)) = desk() else { return };
        let place = desk.crib.dir.path().canonicalize().unwrap();
        put(&sub.join("old/in/file"), "");
        put(&place.join("elsewhere/file"), "");
        let mut program = Program::start(&desk, &sub, WAIT.trim_end_matches(';'));
        wait_for(&sub.join("ready"));
        assert!(starts(&desk, &desk.root()), "{old}: nothing was moved");
        let to = place.join(to);
        fs::rename(place.join(old), &to).unwrap();
        let is_root = old == "root/sub";
        if is_root || to.starts_with(desk.root()) {
            assert!(!starts(&desk, &desk.root()), "{old} {to:?}: the old place");
        }
        let inner = if is_root { to.join("old") } else { to.clone() };
        assert!(!starts(&desk, &inner), "{old} {to:?}: the new place");
        let elsewhere = place.join("elsewhere");
        let is_there = to.starts_with(&elsewhere);
        assert_ne!(starts(&desk, &elsewhere), is_there, "{old} {to:?}");
        let at = if is_root { &to } else { &sub };
        put(&at.join("go"), "");
        program.end();
        assert!(
            starts(&desk, &desk.root()) && starts(&desk, &inner),
            "{old} {to:?}"
        );
    }
}

#[test]
fn a_program_that_moves_its_own_folders_keeps_no_other_one_from_starting() {
    let Some((desk, sub)) = desk() else { return };
    put(&sub.join("old/file"), "");
    let mut program = Program::start(&desk, &sub, &format!("mv old x; {WAIT}"));
    wait_for(&sub.join("ready"));
    for root in [desk.root(), sub.clone(), sub.join("x")] {
        assert!(starts(&desk, &root), "{root:?}");
    }
    assert!(moves(&desk, &desk.root(), "sub/x", "sub/y"));
    put(&sub.join("go"), "");
    program.end();
}

#[test]
fn repositories_below_a_root_in_which_a_tool_moved_a_folder_are_strangers() {
    let Some((desk, sub)) = desk() else { return };
    let own = sub.join("own");
    repository(&desk, &own);
    put(&sub.join("folder/file"), "");
    assert!(reads_clean(&desk, &own, "mine.md"));
    assert!(moves(&desk, &sub, "folder", "moved"));
    assert!(!reads_clean(&desk, &own, "mine.md"));
}

#[test]
fn a_person_is_told_if_a_root_is_gone_at_the_end_of_a_program() {
    let Some((desk, sub)) = desk() else { return };
    let mut program = Program::start(&desk, &sub, "touch ready; sleep 2");
    wait_for(&sub.join("ready"));
    fs::remove_dir_all(&sub).unwrap();
    let said = program.end();
    assert!(said.contains(&*sub.to_string_lossy()), "{said}");
}

#[test]
fn what_a_killed_session_left_is_found_after_a_move() {
    type Case = (&'static str, &'static str, &'static str);
    // The folder that is moved, seen from the root of the program, the place to which it is moved, and the root of the next session.
    let cases: [Case; 6] = [
        ("", "moved", "moved"),
        ("", "moved", ""),
        ("", "moved", "moved/file-folder"),
        ("old", "root/moved", "root"),
        ("new", "moved", "moved"),
        ("old/deep", "moved/here", "moved"),
    ];
    for (folder, to, next) in cases {
        let Some((desk, sub)) = desk() else { return };
        for folder in ["file-folder", "old/deep"] {
            put(&sub.join(folder).join("file"), "text");
        }
        put(&sub.join(folder).join(".vscode/settings.json"), "mine");
        let plant = PLANT.replace("mkdir", "mkdir -p");
        let script = format!("mkdir -p new; cd ./{folder}; {plant} sleep 60");
        let mut program = Program::start(&desk, &sub, &script);
        wait_for(&sub.join(folder).join("planted"));
        std::thread::sleep(FOLLOWED);
        program.kill();
        let place = desk.crib.dir.path().canonicalize().unwrap();
        let to = place.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(sub.join(folder), &to).unwrap();
        // A session elsewhere does not find it.
        put(&place.join("elsewhere/file"), "");
        look(&desk, &place.join("elsewhere"));
        assert!(!is_clean(&to));
        put(&sub.join(".envrc"), "mine");
        let said = look(&desk, &place.join(next));
        assert!(
            is_clean(&to) && said.contains(".envrc, "),
            "{folder} {next}: {said}"
        );
        assert!(to.join(".vscode/settings.json").exists() && sub.join(".envrc").exists());
        put(&to.join(".envrc"), "mine");
        look(&desk, &place.join(next));
        assert!(to.join(".envrc").exists(), "it is looked at once");
    }
}

#[test]
fn what_a_program_left_in_a_folder_that_was_moved_away_is_found() {
    for is_back in [false, true] {
        let Some((desk, sub)) = desk() else { return };
        let old = sub.join("old");
        put(&old.join("file"), "text");
        let script = format!("cd old; {WAIT} {PLANT} touch done");
        let mut program = Program::start(&desk, &sub, &script);
        wait_for(&old.join("ready"));
        let moved = desk.crib.dir.path().join("moved");
        fs::rename(&old, &moved).unwrap();
        put(&moved.join("go"), "");
        wait_for(&moved.join("done"));
        program.end();
        assert!(!is_clean(&moved), "{is_back}");
        if is_back {
            fs::rename(&moved, &old).unwrap();
        }
        let place = if is_back { &old } else { &moved };
        let elsewhere = desk.crib.dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let said = look(&desk, if is_back { &elsewhere } else { place });
        assert!(
            is_clean(place) && said.contains(".envrc, "),
            "{is_back}: {said}"
        );
    }
}

#[test]
fn a_folder_that_takes_the_place_of_the_root_of_a_killed_session_is_the_users() {
    let Some((desk, sub)) = desk() else { return };
    let mut program = Program::start(&desk, &sub, &format!("{PLANT} sleep 60"));
    wait_for(&sub.join("planted"));
    program.kill();
    fs::remove_dir_all(&sub).unwrap();
    for file in [".vscode/tasks.json", "old/CLAUDE.md", "AGENTS.md"] {
        put(&sub.join(file), "mine");
    }
    let said = look(&desk, &sub);
    assert!(!said.contains("a program left"), "{said}");
    assert!(sub.join("AGENTS.md").exists() && sub.join("old/CLAUDE.md").exists());
}

/// Makes a repository of the user in a folder.
fn repository(desk: &Desk, folder: &Path) {
    put(&folder.join("mine.md"), "mine");
    let folder = folder.to_str().unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["commit", "-qm", "mine"],
    ] {
        desk.git(&[&["-C", folder], args].concat());
    }
}

fn forge() -> String {
    let commit = format!("git -c user.name=Me -c user.email={ME} commit -qm x");
    format!("git init -q .; echo EVIL > E.md; git add E.md; {commit}; touch forged;")
}

#[test]
fn a_repository_that_is_moved_while_a_program_writes_it_is_a_strangers() {
    // The end of its session, and whether the repository is there before the program, and moved before the commit.
    let cases = [
        (None, true, true),
        (Some(Signal::TERM), true, false),
        (Some(Signal::TERM), false, false),
        (Some(Signal::KILL), true, true),
    ];
    for (end, is_old, is_early) in cases {
        let Some((desk, sub)) = desk() else { return };
        let place = desk.crib.dir.path().canonicalize().unwrap();
        let (own, moved) = (sub.join("own"), place.join("moved"));
        if is_old {
            repository(&desk, &own);
        }
        let other = place.join("other");
        repository(&desk, &other);
        repository(&desk, &sub.join("idle"));
        let (early, late) = if is_early { (WAIT, "") } else { ("", WAIT) };
        let script = format!(
            "mkdir -p own; cd own; {early} {} {late} sleep 1; [ ! -e quick ] && sleep 60",
            forge()
        );
        let mut program = Program::start(&desk, &sub, &script);
        wait_for(&own.join("ready"));
        std::thread::sleep(FOLLOWED);
        fs::rename(&own, &moved).unwrap();
        let idle = place.join("idle");
        fs::rename(sub.join("idle"), &idle).unwrap();
        if end.is_none() {
            put(&moved.join("quick"), "");
        }
        put(&moved.join("go"), "");
        wait_for(&moved.join("forged"));
        let case = format!("{end:?} {is_old} {is_early}");
        if end.is_some() {
            assert!(!reads_clean(&desk, &moved, "E.md"), "{case}: while it runs");
        }
        end.into_iter().for_each(|end| send(&program.session, end));
        program.end();
        assert!(!reads_clean(&desk, &moved, "E.md"), "{case}: after it");
        desk.git(&[
            "-C",
            other.to_str().unwrap(),
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "mine",
        ]);
        assert!(reads_clean(&desk, &other, "mine.md"), "{case}: elsewhere");
        assert!(
            reads_clean(&desk, &idle, "mine.md"),
            "{case}: nobody wrote it"
        );
    }
}

#[test]
fn a_repository_in_a_moved_root_is_a_strangers_also_after_a_second_move() {
    let Some((desk, sub)) = desk() else { return };
    let script = format!("{WAIT} mkdir in; cd in; {}", forge());
    let mut program = Program::start(&desk, &sub, &script);
    wait_for(&sub.join("ready"));
    let moved = desk.root().join("sub2");
    fs::rename(&sub, &moved).unwrap();
    put(&moved.join("go"), "");
    program.end();
    let place = desk.crib.dir.path().join("place");
    fs::rename(moved.join("in"), &place).unwrap();
    assert!(!reads_clean(&desk, &place, "E.md"));
}

#[test]
fn a_moved_repository_is_not_trusted_while_a_program_can_write_it() {
    for is_root in [true, false] {
        let Some((desk, sub)) = desk() else { return };
        let own = if is_root {
            sub.clone()
        } else {
            sub.join("own")
        };
        repository(&desk, &own);
        let script = format!("cd {}; {} {WAIT}", own.display(), forge());
        let mut program = Program::start(&desk, &sub, &script);
        wait_for(&own.join("ready"));
        let moved = desk.crib.dir.path().canonicalize().unwrap().join("moved");
        fs::rename(&own, &moved).unwrap();
        let trust = |flags: &[&str]| {
            let root = ["trust", "--root", moved.to_str().unwrap()];
            desk.run(&[&root, flags].concat())
        };
        let refused = trust(&[]).expect(5);
        let process = format!("process {}", program.session.id());
        assert!(refused.stderr.contains(&process), "{is_root}: {refused:#?}");
        put(&moved.join("go"), "");
        program.end();
        let shown = trust(&[]).expect(5).stdout;
        let mut lines = shown.lines();
        let digest = lines.find_map(|line| line.trim().strip_prefix("digest: "));
        trust(&["--digest", digest.unwrap()]).expect(0);
        assert!(reads_clean(&desk, &moved, "E.md"), "{is_root}");
    }
}

#[test]
fn what_a_program_plants_in_a_folder_that_another_one_took_from_its_root_is_looked_at_when_it_ends()
{
    // The folder, whether the outer program starts first, and whether the session of the inner one is killed.
    let cases = [
        ("new", false, false),
        ("new", true, false),
        ("node_modules/new", false, false),
        ("node_modules/new", true, true),
    ];
    for case in cases {
        let (folder, is_outer_first, is_killed) = case;
        let Some((desk, sub)) = desk() else { return };
        put(&sub.join("node_modules/file"), "");
        let end = WAIT.replace("ready", "forged").replace("go", "end");
        let planter = format!(
            "mkdir {folder}; cd {folder}; {WAIT} {PLANT} {} {end}",
            forge()
        );
        let taker = format!(
            "touch started; until [ -e sub/{folder}/ready ]; do sleep 0.02; done; mv sub/{folder} y"
        );
        let start = |is_outer: bool| {
            if is_outer {
                Program::start(&desk, &desk.root(), &taker)
            } else {
                Program::start(&desk, &sub, &planter)
            }
        };
        let first = start(is_outer_first);
        let started = if is_outer_first {
            "started"
        } else {
            "sub/node_modules/file"
        };
        wait_for(&desk.root().join(started));
        let second = start(!is_outer_first);
        let (mut outer, mut inner) = if is_outer_first {
            (first, second)
        } else {
            (second, first)
        };
        outer.end();
        let taken = desk.root().join("y");
        put(&taken.join("go"), "");
        wait_for(&taken.join("forged"));
        assert!(!is_clean(&taken), "{case:?}: it still runs");
        let said = if is_killed {
            inner.kill();
            look(&desk, &desk.root())
        } else {
            put(&taken.join("end"), "");
            inner.end()
        };
        assert!(
            is_clean(&taken) && said.contains("left y/.envrc, "),
            "{case:?}: {said}"
        );
        let place = desk.crib.dir.path().join("place");
        fs::rename(&taken, &place).unwrap();
        assert!(!reads_clean(&desk, &place, "E.md"), "{case:?}");
    }
}

#[test]
fn the_files_of_the_user_stay_while_programs_of_two_roots_run() {
    let Some((desk, sub)) = desk() else { return };
    for file in ["docs/a", ".vscode/x", "other/x"] {
        put(&desk.root().join(file), "");
    }
    let mut inner = Program::start(&desk, &sub, WAIT.trim_end_matches(';'));
    wait_for(&sub.join("ready"));
    Program::start(&desk, &desk.root(), "touch docs/b sub/c d").end();
    let own = ["AGENTS.md", ".envrc", ".vscode/tasks.json", "other/.envrc"];
    for file in own {
        put(&desk.root().join(file), "mine");
    }
    look(&desk, &desk.root());
    put(&sub.join("go"), "");
    let said = inner.end();
    assert!(!said.contains("a program left"), "{said}");
    for file in own {
        assert!(desk.root().join(file).exists(), "{file}: {said}");
    }
    let records = desk.crib.dir.path().join("state/toolcrib/programs");
    let records = fs::read_dir(records).unwrap().flatten();
    let is_record = |name: String| name.starts_with("program-");
    assert!(
        !records
            .into_iter()
            .any(|it| is_record(it.file_name().into_string().unwrap()))
    );
}
