use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::{folder, ids, interrupted, listed, whole};
use crate::Crib;
use crate::chat_terminal::READS;
use crate::terminal::{TIMEOUT_MS, say};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn only_the_user_can_read_a_session_whatever_the_umask() {
    let crib = Crib::new();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_toolcrib");
    command.args([
        "-c",
        &format!("umask 000; exec {program} chat --no-history --provider direct"),
    ]);
    crate::cleared(&mut command)
        .current_dir(crib.root())
        .env("XDG_STATE_HOME", crib.dir.path().join("state"));
    let mut chat = rexpect::session::spawn_command(command, Some(TIMEOUT_MS)).unwrap();
    chat.exp_string(READS).unwrap();
    say(&mut chat, "time.now", &["summary"]);

    let modes: BTreeMap<_, _> = std::fs::read_dir(folder(&crib))
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| {
            (
                path.extension().unwrap().to_str().unwrap().to_owned(),
                mode(&path),
            )
        })
        .collect();
    let expected =
        ["journal", "journal-shm", "journal-wal", "lock"].map(|end| (end.to_owned(), 0o600));
    assert_eq!(modes, BTreeMap::from(expected));
    for path in [folder(&crib), folder(&crib).parent().unwrap().to_owned()] {
        assert_eq!(mode(&path), 0o700, "{}", path.display());
    }
}

#[test]
fn a_folder_open_to_others_is_closed() {
    let crib = Crib::new();
    std::fs::create_dir_all(folder(&crib)).unwrap();
    let state = folder(&crib).parent().unwrap().to_owned();
    [&state, &folder(&crib)]
        .into_iter()
        .for_each(|path| set_mode(path, 0o777));
    crib.run(&["run", "time.now", "--max-steps", "1"]).expect(7);
    assert_eq!([&state, &folder(&crib)].map(|path| mode(path)), [0o700; 2]);
}

#[test]
fn a_folder_or_a_journal_that_others_can_write_is_not_read() {
    let crib = Crib::new();
    interrupted(&crib);
    let id = &ids(&crib)[0];
    let journal = folder(&crib).join(format!("{id}.journal"));
    let refused = |reason: &str| {
        let before = std::fs::read(&journal).unwrap();
        for arguments in [
            &["run", "--resume"][..],
            &["run", "--resume", id],
            &["chat", "--resume", id],
            &["sessions", "fork", id],
            &["audit", "show", id],
        ] {
            let ended = crib.run(arguments).expect(2);
            assert!(
                ended.stdout.is_empty() && ended.stderr.contains(reason),
                "{ended:#?}"
            );
        }
        assert_eq!(std::fs::read(&journal).unwrap(), before);
    };
    set_mode(&folder(&crib), 0o777);
    refused("other users");
    set_mode(&folder(&crib), 0o700);
    set_mode(&journal, 0o666);
    refused("other users");
    set_mode(&journal, 0o600);
    let elsewhere = crib.dir.path().join("elsewhere.journal");
    std::fs::rename(&journal, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &journal).unwrap();
    refused("not a regular file");
    std::fs::rename(&elsewhere, &journal).unwrap();
    crib.run(&["run", "--resume", id, "--script", &whole(&crib)])
        .expect(0);

    // Root can also give the files away.
    for path in [&journal, &folder(&crib)] {
        if std::os::unix::fs::chown(path, Some(12_345), None).is_ok() {
            refused("other users");
            std::os::unix::fs::chown(path, Some(0), None).unwrap();
        }
    }
    set_mode(&journal, 0o666);
    crib.run(&["sessions", "erase", id]).expect(0);
    assert!(!journal.exists());
}

#[test]
fn a_link_to_a_folder_open_to_others_is_refused() {
    let crib = Crib::new();
    let shared = crib.dir.path().join("shared");
    std::fs::create_dir_all(&shared).unwrap();
    set_mode(&shared, 0o777);
    std::fs::create_dir_all(folder(&crib).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&shared, folder(&crib)).unwrap();
    let ended = crib.run(&["run", "time.now"]).expect(2);
    assert!(
        ended.stderr.contains("other users have access"),
        "{ended:#?}"
    );
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn no_tool_reaches_the_sessions() {
    let crib = Crib::new();
    let at_home = |arguments: &[&str]| -> crate::Ended {
        let mut command = crib.command(arguments);
        command
            .env_remove("XDG_STATE_HOME")
            .env("HOME", crib.root())
            .output()
            .unwrap()
            .into()
    };
    at_home(&["run", "time.now"]).expect(0);
    let document = at_home(&["sessions", "--json"]).expect(0).document();
    let id = document["id"].as_str().unwrap();
    for end in ["journal", "lock"] {
        let path = format!(".local/state/toolcrib/sessions/{id}.{end}");
        assert!(crib.root().join(&path).exists());
        for call in [
            format!("fs.read path={path}"),
            format!("fs.write path={path} content=x"),
            format!("fs.remove path={path}"),
            format!("fs.move from={path} to=stolen"),
        ] {
            let everything = [
                "--allow",
                "*:*:**",
                "--allow",
                "fs:destroy:**",
                "--allow",
                "fs:write:.local/**",
            ];
            at_home(
                &[
                    &["run", &call, "--provider", "direct", "--no-journal"],
                    &everything[..],
                ]
                .concat(),
            )
            .expect(1);
        }
        assert!(crib.root().join(&path).exists() && !crib.root().join("stolen").exists());
    }
    let found = at_home(&["call", "fs.list", "path=.local/state", "recursive=true"]);
    assert!(!found.stdout.contains("sessions"), "{found:#?}");
}

#[test]
fn a_journal_has_arguments_as_digests_and_a_session_its_conversation() {
    let crib = Crib::new();
    crib.run(&["run", "fs.read path=README.md"]).expect(0);
    let rows = |id: &str| {
        crib.run(&["audit", "show", id, "--json"])
            .expect(0)
            .documents()
    };
    let intent = &rows(&ids(&crib)[0])[0];
    assert!(
        intent.get("arguments").is_none() && intent["arguments_digest"].is_string(),
        "{intent}"
    );
    assert_eq!(listed(&crib)[0]["prompt"], "fs.read path=README.md");
    crib.run(&["run", "fs.read path=README.md", "--journal-arguments"])
        .expect(0);
    assert_eq!(rows(&ids(&crib)[0])[0]["arguments"]["path"], "README.md");
}
