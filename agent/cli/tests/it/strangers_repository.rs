//! A repository that sessions may have written: no file in it is the user's before `toolcrib trust`, and its settings stay the user's.

use std::fs;

use rexpect::session::spawn_command;
use serde_json::json;

use crate::strangers_files::{Desk, ME, has_walls};
use crate::terminal::{TIMEOUT_MS, end_with};

/// Makes a desk where a session has written into the folder of git, and a commit came later.
fn forged(message: &str) -> Desk {
    let desk = Desk::new();
    mark(&desk);
    desk.git(&["commit", "-q", "--allow-empty", "-m", message]);
    desk
}

/// Lets a session write into the folder of git.
fn mark(desk: &Desk) {
    let write = json!({"path": ".git/x", "content": "x"});
    desk.session(&[("fs.write", write)], &["--allow", "fs:write:.git/x"]);
    assert!(desk.root().join(".git/x").exists());
}

/// Returns the page of `toolcrib trust`, and the digest on it.
fn shown(desk: &Desk) -> (String, String) {
    let ended = desk.run(&["trust"]).expect(5);
    let digest = ended
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap()
        .to_owned();
    (ended.stdout, digest)
}

#[test]
fn a_repository_that_no_session_wrote_needs_no_trust() {
    let desk = Desk::new();
    let ended = desk.run(&["trust"]).expect(0);
    assert!(!ended.stdout.contains(".git"), "{ended:#?}");
}

#[test]
fn the_person_sees_the_new_commits_and_decides() {
    let desk = forged("forged \u{1b}[31mred");
    let on_terminal = || {
        let mut command = desk.crib.command(&["trust"]);
        command.env("HOME", desk.crib.dir.path().join("home"));
        let mut session = spawn_command(command, Some(TIMEOUT_MS)).unwrap();
        let question = session.exp_string("Approve this repository?").unwrap();
        (session, question)
    };
    let (session, question) = on_terminal();
    for part in ["refs/heads/main: ", "HEAD: ", "forged ", ME] {
        assert!(question.contains(part), "{question}");
    }
    assert!(!question.contains("\u{1b}[31m"), "{question}");
    assert_eq!(end_with(session, "n").1, 5);
    assert!(!desk.reads_clean("notes.md"));
    // A yes is for what was shown.
    let (session, _) = on_terminal();
    desk.git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    assert_eq!(end_with(session, "y").1, 5);
    assert!(!desk.reads_clean("notes.md"));
    assert_eq!(end_with(on_terminal().0, "y").1, 0);
    assert!(desk.reads_clean("notes.md"));
    desk.run(&["trust"]).expect(0);
}

#[test]
fn a_digest_approves_what_was_shown_and_no_later_commit() {
    let desk = forged("first");
    let (page, old) = shown(&desk);
    assert!(page.contains("first"), "{page}");
    desk.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    desk.run(&["trust", "--digest", &old]).expect(5);
    assert!(!desk.reads_clean("notes.md"));
    let (page, new) = shown(&desk);
    assert!(page.contains("first") && page.contains("second"), "{page}");
    desk.run(&["trust", "--digest", &new]).expect(0);
    assert!(desk.reads_clean("notes.md"));
    // After a later session, only what is new since is shown.
    mark(&desk);
    assert!(!desk.reads_clean("notes.md"));
    desk.git(&["commit", "-q", "--allow-empty", "-m", "third"]);
    let (page, _) = shown(&desk);
    assert!(page.contains("third") && !page.contains("second"), "{page}");
}

#[test]
fn a_commit_to_which_no_branch_and_no_tag_leads_is_not_approved_before_one_does() {
    let desk = Desk::new();
    mark(&desk);
    desk.write("forged.md", "forged");
    desk.commit_with("FORGED");
    desk.git(&["reset", "-q", "--hard", "HEAD^"]);
    desk.commit_with("fine");
    let (page, digest) = shown(&desk);
    assert!(page.contains("fine") && !page.contains("FORGED"), "{page}");
    assert!(page.contains("1 other"), "{page}");
    desk.run(&["trust", "--digest", &digest]).expect(0);
    assert!(desk.reads_clean("notes.md"));
    desk.run(&["trust"]).expect(0);
    // Without its record, every commit could be one that was left out.
    let record = desk
        .crib
        .dir
        .path()
        .join("state/toolcrib/authorship/left-out.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, "{").unwrap();
    assert!(!desk.reads_clean("notes.md"));
    fs::write(&record, text).unwrap();
    // The person takes it, as a merge of `FETCH_HEAD` or a checkout of a number does.
    desk.git(&["reset", "-q", "--hard", "ORIG_HEAD"]);
    assert!(!desk.reads_clean("forged.md") && desk.reads_clean("notes.md"));
    let (page, _) = shown(&desk);
    assert!(
        page.contains("FORGED") && !page.contains("a change"),
        "{page}"
    );
    // A later session and its approval make no difference: the branch had it before.
    mark(&desk);
    desk.commit_with("later");
    let (page, digest) = shown(&desk);
    assert!(page.contains("FORGED") && page.contains("later"), "{page}");
    desk.run(&["trust", "--digest", &digest]).expect(0);
    assert!(desk.reads_clean("forged.md"));
    desk.run(&["trust"]).expect(0);
    // One that is new on a branch and was left out before is shown once.
    desk.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "instead"]);
    mark(&desk);
    let (page, digest) = shown(&desk);
    assert!(!page.contains("later"), "{page}");
    desk.run(&["trust", "--digest", &digest]).expect(0);
    mark(&desk);
    desk.git(&["reset", "-q", "--hard", "HEAD@{1}"]);
    let (page, _) = shown(&desk);
    assert_eq!(page.matches("later").count(), 1, "{page}");
}

#[test]
fn a_repository_that_is_damaged_or_not_whole_is_not_trusted() {
    let desk = forged("x");
    let (_, digest) = shown(&desk);
    let objects = desk.root().join(".git/objects");
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
    assert_ne!(desk.run(&["trust", "--digest", &digest]).code, Some(0));
    assert!(!desk.reads_clean("notes.md"));
}

#[test]
fn a_repository_below_the_root_of_a_session_is_a_strangers_until_the_person_trusts_it() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let script = format!(
        "git init -q in && cd in && echo x > a.md && git add a.md && git -c user.name=a -c user.email={ME} commit -qm x"
    );
    let flags = ["--allow", "exec:write:sh **", "--grant", "fs:write:**"];
    let ended = desk.session(
        &[("exec.run", json!({"program": "sh", "args": ["-c", script]}))],
        &flags,
    );
    assert!(ended.stdout.contains("[exit code 0"), "{ended:#?}");
    let inner = desk.root().join("in");
    let page = desk
        .run(&["trust", "--root", inner.to_str().unwrap()])
        .expect(5)
        .stdout;
    let digest = page
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    desk.run(&[
        "trust",
        "--root",
        inner.to_str().unwrap(),
        "--digest",
        digest,
    ])
    .expect(0);
    desk.run(&["trust", "--root", inner.to_str().unwrap()])
        .expect(0);
    assert!(desk.reads_clean("notes.md"), "the outer one is another");
}

#[test]
fn a_program_may_set_the_name_and_address_of_the_user_and_no_other() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let flags = [
        "--allow",
        "exec:write:sh **",
        "--grant",
        "fs:write:**",
        "--grant",
        "fs:write:.git/**",
    ];
    for (address, remains) in [
        (ME, true),
        ("stranger@elsewhere.example", false),
        (ME, true),
    ] {
        let script = format!("git config user.name Me; git config user.email {address}");
        let ended = desk.session(
            &[("exec.run", json!({"program": "sh", "args": ["-c", script]}))],
            &flags,
        );
        assert!(ended.stdout.contains("[exit code 0"), "{ended:#?}");
        let settings = fs::read_to_string(desk.root().join(".git/config")).unwrap();
        assert!(!settings.contains("stranger"), "{settings}");
        assert_eq!(
            ended.stderr.contains("a program left .git/config"),
            !remains,
            "{ended:#?}"
        );
        assert!(settings.contains(ME), "{settings}");
    }
}
