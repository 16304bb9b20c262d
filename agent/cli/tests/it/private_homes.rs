//! The private homes of programs, which no other session reaches.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::lost_programs::send;
use crate::strangers_files::{Desk, has_walls};

const ALLOW: [&str; 6] = [
    "--allow",
    "exec:write:sh **",
    "--allow",
    "fs:write:**",
    "--allow",
    "fs:write:.git/**",
];

/// Starts a session of which a program runs a script, with a folder for temporary files beside its root.
fn start(desk: &Desk, root: &Path, script: &str) -> Child {
    let args = json!(["-c", script]).to_string().replace('\'', "'\\''");
    let call = format!("exec.run program=sh args='{args}'");
    let flags = ["--provider", "direct", "--root", root.to_str().unwrap()];
    let around = desk.crib.dir.path();
    fs::create_dir_all(around.join("tmp")).unwrap();
    // A program that may write the home asks first.
    let home = if around.canonicalize().unwrap().starts_with(root) {
        Path::new("/nowhere").to_owned()
    } else {
        around.join("home")
    };
    let mut session = desk
        .crib
        .command(&[&["run", &*call], &flags[..], &ALLOW].concat());
    session
        .env("HOME", home)
        .env("TMPDIR", around.join("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    session.spawn().unwrap()
}

/// Starts a program that makes a script in its home, and runs it when the test says so.
fn start_with_job(desk: &Desk) -> Child {
    let script = "echo 'echo mine > said' > ~/job; touch ready;
        while [ ! -e go ]; do sleep 0.05; done; sh ~/job; touch end";
    let session = start(desk, &desk.root(), script);
    let started = Instant::now();
    while !desk.root().join("ready").exists() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    session
}

#[test]
fn a_session_around_the_folder_of_temporary_files_changes_no_program_of_another_one() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let mut session = start_with_job(&desk);
    let plant =
        "for job in $(find . -name job); do echo 'echo evil > said' > $job; done; touch planted";
    let around = desk.crib.dir.path().canonicalize().unwrap();
    start(&desk, &around, plant).wait().unwrap();
    assert!(around.join("planted").exists());
    desk.write("go", "");
    session.wait().unwrap();
    assert_eq!(
        fs::read_to_string(desk.root().join("said")).unwrap(),
        "mine\n"
    );
}

#[test]
fn the_private_home_of_a_program_of_a_killed_session_is_removed_before_the_next_program() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let homes = desk.crib.dir.path().join("state/toolcrib/homes");
    let count = || fs::read_dir(&homes).unwrap().count();
    let mut session = start_with_job(&desk);
    send(&session, Signal::KILL);
    session.wait().unwrap();
    assert_eq!(count(), 1);
    start(&desk, &desk.root(), "true").wait().unwrap();
    assert_eq!(count(), 0);
}

#[test]
fn a_program_commits_as_the_user_in_the_settings_of_git_unless_the_repository_has_another_one() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let settings = desk.crib.dir.path().join("home/.gitconfig");
    let more = fs::read_to_string(&settings).unwrap() + "[alias]\n\tsecret = status\n";
    fs::write(settings, more).unwrap();
    let script = "git init -q new; cd new; git commit -qm a --allow-empty
        git config user.name Other; git commit -qm b --allow-empty
        git log --reverse --format='%an %ae' > ../said; git config alias.secret >> ../said; true";
    start(&desk, &desk.root(), script).wait().unwrap();
    assert_eq!(
        fs::read_to_string(desk.root().join("said")).unwrap(),
        "Me me@home.example\nOther me@home.example\n"
    );
}

#[test]
fn a_remote_for_which_the_settings_of_the_user_wait_does_not_stay() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let settings = desk.crib.dir.path().join("home/.gitconfig");
    let more = fs::read_to_string(&settings).unwrap() + "[remote]\n\tpushDefault = fork\n";
    fs::write(settings, more).unwrap();
    desk.git(&["remote", "add", "origin", "../origin"]);
    let config = desk.root().join(".git/config");
    for (name, stays) in [("fork", false), ("other", true)] {
        let script = format!("git remote add {name} ../evil && touch {name}");
        start(&desk, &desk.root(), &script).wait().unwrap();
        assert!(desk.root().join(name).exists());
        let settings = fs::read_to_string(&config).unwrap();
        assert_eq!(settings.contains("../evil"), stays, "{name}");
    }
}
