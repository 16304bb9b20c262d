//! Room for protected files: another file system, a small one, and the content of former ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::json;
use tempfile::TempDir;
use tools::{Answer, ProtectedFate, ProtectedFile};
use tools_exec::{Aside, Sandbox};
use tools_testkit::{RecordingPerson, TestHost};
use tools_workspace::Workspace;

use super::{Place, is_landlock_alone, trials_of};
use crate::setup::{ALL, run, text};

/// A file system in memory, which is there until it is dropped.
pub(super) struct SmallDisk(pub(super) TempDir);

impl SmallDisk {
    /// Returns `None` if the user of the test may not mount.
    pub(super) fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(folder.path())
            .output();
        mount
            .is_ok_and(|done| done.status.success())
            .then_some(Self(folder))
    }

    fn free(&self) -> u64 {
        let found = Command::new("df")
            .args(["--output=avail", "-B1"])
            .arg(self.0.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&found.stdout)
            .lines()
            .nth(1)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }
}

pub(super) fn unmount(folder: &Path) {
    Command::new("umount")
        .arg("-l")
        .arg(folder)
        .status()
        .unwrap();
}

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of(
            "a_folder_on_another_file_system_takes_them_by_a_copy",
            |layers| {
                let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
                    return;
                };
                let place = Place {
                    folder,
                    ..Place::new(layers, &[("file", "")])
                };
                let script = "mkdir -p .vscode/deep; echo x > .vscode/deep/a; ln -s a .vscode/b; mkfifo .vscode/c; echo y > AGENTS.md
                          chmod 000 .vscode/deep";
                let (result, _) = place.sh(&ALL, script, None);
                assert!(
                    !place.exists(".vscode") && !place.exists("AGENTS.md"),
                    "{result}"
                );
                assert_eq!(place.aside(), [".vscode", "AGENTS.md"]);
                place
                    .list()
                    .iter()
                    .for_each(|file| file.put_back().unwrap());
                assert_eq!(place.workspace.read("AGENTS.md"), "y\n");
                assert!(
                    place.exists(".vscode/b")
                        && place.exists(".vscode/c")
                        && place.aside().is_empty()
                );
            },
        ),
        trials_of(
            "without_room_for_them_planted_files_lie_where_nothing_reads_them",
            |layers| {
                let Some(small) = SmallDisk::new("64k") else {
                    return;
                };
                let place = Place::new(layers, &[("sub/file", "")]);
                let told = place.told.clone();
                let sandbox = Sandbox {
                    aside: Some(Aside::new(small.0.path().join("aside"))),
                    ..place.sandbox()
                };
                let root = Workspace::open(place.workspace.path()).unwrap();
                let host = TestHost::new(tools_exec::register)
                    .with_grant(&ALL)
                    .with_service(root)
                    .with_service(sandbox);
                let agreeing = || {
                    host.clone()
                        .with_person(RecordingPerson::new([Answer::Confirmation(true)]))
                };
                let script = "truncate -s 4G .envrc; mkdir -p sub/.idea; head -c 60000 /dev/zero > sub/.idea/x; echo small > AGENTS.md
                          mkfifo .npmrc; mkdir locked; echo > locked/CLAUDE.md; chmod 000 locked; ln -s sub .github";
                let program = json!({"program": "sh", "args": ["-c", script]});
                let host_of = |asks| if asks { agreeing() } else { host.clone() };
                let result = text(run(&host_of(is_landlock_alone(layers)), program).unwrap());
                for path in [
                    ".envrc",
                    "sub/.idea/x",
                    "AGENTS.md",
                    ".npmrc",
                    "locked/CLAUDE.md",
                    ".github",
                ] {
                    assert!(!place.exists(path), "{path}: {result}");
                }
                let note = |start: &str| {
                    let mut lines = result.lines();
                    lines.find(|line| line.contains(start)).unwrap_or_default()
                };
                let (moved, renamed) = (note("they were moved out"), note("they were renamed"));
                assert!(
                    moved.contains("AGENTS.md") && !moved.contains(".envrc"),
                    "{result}"
                );
                assert!(
                    renamed.contains(".envrc") && !renamed.contains("AGENTS.md"),
                    "{result}"
                );
                let list = Aside::new(small.0.path().join("aside")).list(&place.root());
                let found = |path: &str| {
                    list.iter()
                        .find(|file| file.path.starts_with(path))
                        .unwrap_or_else(|| panic!("{path}: {list:?}"))
                };
                let outside = found("AGENTS.md");
                assert!(
                    outside.place.as_ref().unwrap().starts_with(small.0.path()),
                    "small ones fit: {list:?}"
                );
                let inside = found(".envrc");
                assert!(
                    inside.place.as_ref().unwrap().starts_with(place.root()),
                    "{list:?}"
                );
                assert_eq!(
                    fs::metadata(inside.place.as_ref().unwrap()).unwrap().len(),
                    4 << 30
                );
                assert!(
                    found("sub/.idea")
                        .place
                        .as_ref()
                        .unwrap()
                        .starts_with(place.root())
                );
                assert_eq!((list.len(), told.lock().unwrap().len()), (6, 6), "{list:?}");
                // No part of a copy remains there.
                assert!(small.free() >= 24 << 10, "{} bytes are free", small.free());
                let next = text(
                    run(
                        &host_of(is_landlock_alone(layers)),
                        json!({"program": "true"}),
                    )
                    .unwrap(),
                );
                assert_eq!(told.lock().unwrap().len(), 6, "they are told once: {next}");
                assert_eq!(
                    place.workspace.read("set-aside-by-toolcrib/.gitignore"),
                    "*\n"
                );
                list.iter().for_each(|file| file.put_back().unwrap());
                assert!(place.exists(".envrc") && place.workspace.read("AGENTS.md") == "small\n");
                assert_eq!(place.workspace.read("sub/.idea/x").len(), 60000);
                assert!(
                    !place.exists("set-aside-by-toolcrib"),
                    "an empty folder is removed"
                );
                unmount(small.0.path());
            },
        ),
        trials_of(
            "files_whose_record_has_no_room_are_moved_all_the_same",
            |layers| {
                let Some(small) = SmallDisk::new("64k") else {
                    return;
                };
                let place = Place {
                    folder: small.0,
                    ..Place::new(layers, &[("sub/file", "")])
                };
                let script = "for i in $(seq 400); do mkdir -p d/$i; echo evil > d/$i/AGENTS.md; done; echo | tee set-aside-by-toolcrib";
                place.sh(&ALL, script, None);
                assert!((1..=400).all(|number| !place.exists(format!("d/{number}/AGENTS.md"))));
                let list = place.list();
                assert_eq!(list.len(), 400);
                assert!(
                    list.iter().any(|file| file.path == "d/17/AGENTS.md"),
                    "{:?}",
                    list[0]
                );
                let records = Command::new("find")
                    .arg(place.folder.path())
                    .args(["-name", "record.json"])
                    .output()
                    .unwrap();
                assert!(
                    records.stdout.is_empty(),
                    "no part of a record takes the room"
                );
                list.iter().for_each(|file| file.put_back().unwrap());
                assert!(place.exists("d/400/AGENTS.md"));
                unmount(place.folder.path());
            },
        ),
        trials_of(
            "no_file_that_a_program_makes_keeps_its_folder_for_planted_ones",
            |layers| {
                for obstacle in [
                    "echo > F",
                    "ln -s / F",
                    "ln -s sub F",
                    "mkdir F; chmod 0 F",
                    "mkdir F; chmod 555 F; echo > F/x; true",
                    "mkfifo F",
                ] {
                    let Some(small) = SmallDisk::new("64k") else {
                        return;
                    };
                    let place = Place {
                        folder: small.0,
                        ..Place::new(layers, &[("sub/file", "")])
                    };
                    let obstacle = obstacle.replace('F', "set-aside-by-toolcrib");
                    let (result, _) =
                        place.sh(&ALL, &format!("truncate -s 1G .envrc; {obstacle}"), None);
                    assert!(!place.exists(".envrc"), "{obstacle}: {result}");
                    // A link to a folder that the user may write lies aside, too.
                    let aside = place.aside();
                    assert!(
                        aside.iter().any(|path| path == ".envrc"),
                        "{obstacle}: {result}"
                    );
                    unmount(place.folder.path());
                }
            },
        ),
        trials_of(
            "what_cannot_be_moved_at_all_is_told_until_it_is_gone",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let (result, questions) = place.sh(
                    &ALL,
                    "echo evil > AGENTS.md; echo > .envrc; chattr +i AGENTS.md",
                    Some(true),
                );
                if result.contains("chattr") {
                    // The walls or the file system have no such attribute.
                    return;
                }
                assert!(place.exists(".envrc"), "it is put back: {result}");
                assert!(
                    !questions[0].contains("AGENTS.md"),
                    "what was not moved is not asked about: {questions:?}"
                );
                let is_stuck = |file: &ProtectedFile| {
                    file.path == "AGENTS.md" && file.fate == ProtectedFate::Stuck
                };
                assert!(place.told.lock().unwrap().iter().any(is_stuck));
                let aside = Aside::new(place.folder.path().join("aside"));
                place.workspace.write("CLAUDE.md", "of the user");
                for _ in 0..2 {
                    let told = aside.recover(&place.root());
                    assert_eq!(
                        told.iter()
                            .map(|file| (&*file.path, &file.fate))
                            .collect::<Vec<_>>(),
                        [("AGENTS.md", &ProtectedFate::Stuck)]
                    );
                }
                place.sh(&ALL, "echo > file", None);
                assert!(
                    place.exists("CLAUDE.md"),
                    "a file of the user is not that of an earlier program"
                );
                let freed = Command::new("chattr")
                    .arg("-i")
                    .arg(place.workspace.join("AGENTS.md"))
                    .status()
                    .unwrap();
                assert!(freed.success());
                assert_eq!(aside.recover(&place.root()).len(), 1);
                assert!(!place.exists("AGENTS.md") && place.exists("CLAUDE.md"));
                assert!(aside.recover(&place.root()).is_empty());
            },
        ),
        trials_of(
            "without_a_folder_for_them_changed_files_remain_and_are_told",
            |layers| {
                if layers.confinement().is_ok() {
                    return;
                }
                let place = Place::new(layers, &[("AGENTS.md", "old")]);
                let sandbox = Sandbox {
                    aside: None,
                    ..place.sandbox()
                };
                let root = Workspace::open(place.workspace.path()).unwrap();
                let host = TestHost::new(tools_exec::register)
                    .with_grant(&ALL)
                    .with_service(root)
                    .with_service(sandbox);
                let script = "echo new > AGENTS.md; echo > CLAUDE.md";
                let program = json!({"program": "sh", "args": ["-c", script]});
                let result = text(run(&host, program).unwrap());
                let told = place.told.lock().unwrap();
                let told: Vec<_> = told.iter().map(|it| (&*it.path, &it.fate)).collect();
                let changed = ProtectedFate::Changed;
                assert_eq!(
                    told,
                    [("AGENTS.md", &changed), ("CLAUDE.md", &changed)],
                    "{result}"
                );
                assert_eq!(place.workspace.read("AGENTS.md"), "new\n");
            },
        ),
        trials_of("a_removed_file_is_there_again", |layers| {
            if layers
                .confinement()
                .is_ok_and(|it| it.keeps_protected_paths())
            {
                return;
            }
            let (middle, large) = ("m".repeat(1 << 20), "l".repeat(9 << 20));
            let files = [
                ("AGENTS.md", "old"),
                (".vscode/tasks.json", "old"),
                (".git/hooks/pre-push", "old"),
                (".idea/x", "old"),
                ("CLAUDE.md", &*middle),
                ("GEMINI.md", &*large),
                ("sub/.envrc", "old"),
                ("gone/.envrc", "old"),
            ];
            let place = Place::new(layers, &files);
            let grant = [&ALL[..], &["fs:write:sub/.envrc"]].concat();
            let script = "rm -r AGENTS.md .vscode .git GEMINI.md sub/.envrc .idea gone; ln -s sub .idea; echo > gone; echo > CLAUDE.md";
            let (result, _) = place.sh(&grant, script, None);
            for path in [
                "AGENTS.md",
                ".vscode/tasks.json",
                ".git/hooks/pre-push",
                ".idea/x",
            ] {
                assert_eq!(place.workspace.read(path), "old", "{result}");
            }
            assert_eq!(place.workspace.read("CLAUDE.md"), middle);
            assert!(
                !place.exists("sub/.envrc") && !place.exists("GEMINI.md"),
                "the one is named, and the other too large"
            );
            let told = place.told.lock().unwrap().clone();
            let mut paths: Vec<&str> = told.iter().map(|file| &*file.path).collect();
            paths.sort_unstable();
            paths.dedup();
            assert_eq!(paths.len(), told.len(), "each is told once: {told:?}");
            let fate = |path: &str| {
                told.iter()
                    .find(|file| file.path == path)
                    .map(|file| &file.fate)
            };
            assert_eq!(
                fate("AGENTS.md"),
                Some(&ProtectedFate::Restored),
                "{told:?}"
            );
            assert_eq!(fate("GEMINI.md"), Some(&ProtectedFate::Lost));
            assert_eq!(fate("sub/.envrc"), Some(&ProtectedFate::Changed));
            assert_eq!(
                fate("gone/.envrc"),
                Some(&ProtectedFate::Lost),
                "a file has the place of its folder"
            );
            // It is tried again by the next session.
            fs::remove_file(place.workspace.join("gone")).unwrap();
            let aside = Aside::new(place.folder.path().join("aside"));
            let late = aside.recover(&place.root());
            assert_eq!(
                late.iter()
                    .map(|file| (&*file.path, &file.fate))
                    .collect::<Vec<_>>(),
                [("gone/.envrc", &ProtectedFate::Restored)]
            );
            assert_eq!(place.workspace.read("gone/.envrc"), "old");
            assert!(aside.recover(&place.root()).is_empty());
        }),
    ];
    all.into_iter().flatten().collect()
}
