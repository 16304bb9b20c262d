//! Hosts that died while a program ran: the next session and the next program look at what it left.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::{ProtectedFate, ProtectedFile};
use tools_exec::Aside;

use super::{Place, is_landlock_alone, trials_of};
use crate::background::session::{self, Session, until};
use crate::setup::ALL;

impl Place {
    fn aside_folder(&self) -> Aside {
        Aside::new(self.folder.path().join("aside"))
    }

    /// Starts a program, and ends its host while it runs, as if that were killed: nothing looks after the program.
    fn die(&self, script: &str) {
        let Session { host, runtime } =
            Session::with_sandbox(&self.workspace, &session::ALL, self.sandbox());
        let deploy =
            SensitivePath::new("deploy.yaml", Sensitivity::RunsByItself, "a deployment").unwrap();
        let host = host.with_context(|cx| {
            let paths = SensitivePaths::default().with_paths([deploy]);
            cx.with_sensitive_paths(paths)
        });
        let session = Session { host, runtime };
        let answer = session.start("sh", &["-c", &format!("{script}; echo ready; sleep 60")]);
        session.read_on(answer, "t1", "ready");
        let Session { host, runtime } = session;
        // First the runtime, which could look at what the program left when the end of the host stops it.
        Arc::into_inner(runtime).unwrap().shutdown_background();
        drop(host);
        let running = self.folder.path().join("aside/running");
        until("the record is free", || {
            fs::read_dir(&running).unwrap().flatten().all(|record| {
                let locked = std::process::Command::new("flock")
                    .arg("-n")
                    .arg(record.path())
                    .arg("true")
                    .status();
                locked.unwrap().success()
            })
        });
    }

    fn recover(&self) -> Vec<(String, ProtectedFate)> {
        told(self.aside_folder().recover(&self.root()))
    }
}

fn told(files: Vec<ProtectedFile>) -> Vec<(String, ProtectedFate)> {
    files
        .into_iter()
        .map(|file| (file.path, file.fate))
        .collect()
}

fn names(files: Vec<(String, ProtectedFate)>) -> Vec<String> {
    files.into_iter().map(|(path, _)| path).collect()
}

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of("the_next_look_finds_what_a_host_that_died_left", |layers| {
            if !layers
                .confinement()
                .is_ok_and(|it| it.keeps_protected_paths())
            {
                return;
            }
            let place = Place::new(
                layers,
                &[("old/AGENTS.md", "old"), (".vscode/settings.json", "old")],
            );
            let session = Session::with_sandbox(&place.workspace, &session::ALL, place.sandbox());
            let answer = session.start(
                "sh",
                &[
                    "-c",
                    "echo evil > AGENTS.md; mkdir sub; echo > sub/.envrc; echo ready; sleep 60",
                ],
            );
            session.read_on(answer, "t1", "ready");
            let other = Aside::new(place.folder.path().join("aside"));
            let found: Vec<String> = other
                .recover(&place.root())
                .into_iter()
                .map(|file| file.path)
                .collect();
            assert_eq!(
                found,
                ["AGENTS.md", "sub/.envrc"],
                "another session looks while the program runs"
            );
            place.workspace.write("CLAUDE.md", "later");
            // As if the process were killed: nothing runs after the program.
            let Session { host, runtime } = session;
            drop(host);
            Arc::into_inner(runtime).unwrap().shutdown_background();
            until("the record is free", || {
                !other.recover(Path::new("/elsewhere")).is_empty() || !place.exists("CLAUDE.md")
            });
            assert!(place.exists("old/AGENTS.md") && place.exists(".vscode/settings.json"));
            assert_eq!(place.aside(), ["AGENTS.md", "CLAUDE.md", "sub/.envrc"]);
            assert!(other.recover(&place.root()).is_empty());
        }),
        trials_of(
            "the_next_program_looks_at_what_a_host_that_died_left_and_the_person_is_told",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                place.die("echo evil > AGENTS.md");
                place.sh(&ALL, "true", None);
                assert_eq!(place.aside(), ["AGENTS.md"]);
                assert_eq!(place.told.lock().unwrap().len(), 1);
                place.workspace.write("CLAUDE.md", "of the user");
                assert!(
                    place.recover().is_empty() && place.exists("CLAUDE.md"),
                    "it is looked at once"
                );
            },
        ),
        trials_of(
            "the_look_after_a_host_that_died_knows_the_paths_of_the_host_and_the_hidden_folders",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let is_kept = layers.confinement().is_ok();
                let place = Place::new(
                    layers,
                    &[
                        ("hidden/key", ""),
                        (".vscode/old", "old"),
                        ("AGENTS.md", "old"),
                    ],
                );
                fs::hard_link(
                    place.workspace.join("AGENTS.md"),
                    place.workspace.join("other"),
                )
                .unwrap();
                place.die(
                    "echo evil > deploy.yaml; echo evil > other; echo evil > .vscode/new || true",
                );
                place.workspace.write("hidden/.envrc", "of the host");
                let found = names(place.recover());
                // Without walls, a program reaches all.
                let expected = ["deploy.yaml", "AGENTS.md", ".vscode/new", "hidden/.envrc"];
                let count = if is_kept { 2 } else { 4 };
                for path in &expected[..count] {
                    assert!(found.iter().any(|found| found == path), "{path}: {found:?}");
                }
                assert_eq!(
                    (found.len(), place.exists("hidden/.envrc")),
                    (count, is_kept),
                    "{found:?}"
                );
            },
        ),
        trials_of("a_record_that_is_not_complete_is_left_alone", |layers| {
            if is_landlock_alone(layers) {
                return;
            }
            let place = Place::new(layers, &[("file", "")]);
            place.die("echo evil > AGENTS.md");
            let running = place.folder.path().join("aside/running");
            let record = fs::read_dir(&running)
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path();
            let unfinished = record.with_extension("new");
            fs::rename(&record, &unfinished).unwrap();
            assert!(place.recover().is_empty() && unfinished.exists() && place.exists("AGENTS.md"));
            fs::rename(&unfinished, &record).unwrap();
            assert_eq!(names(place.recover()), ["AGENTS.md"]);
        }),
        trials_of(
            "programs_of_another_workspace_are_left_alone_while_they_run",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("old/.envrc", "")]);
                let session =
                    Session::with_sandbox(&place.workspace, &session::ALL, place.sandbox());
                let answer = session.start(
                    "sh",
                    &["-c", "echo evil > AGENTS.md; echo ready; read line"],
                );
                session.read_on(answer, "t1", "ready");
                fs::remove_file(place.workspace.join("old/.envrc")).unwrap();
                assert!(
                    place
                        .aside_folder()
                        .recover(Path::new("/elsewhere"))
                        .is_empty()
                        && place.exists("AGENTS.md")
                );
                let other = Place::new(layers, &[("file", "")]);
                let other = Place {
                    folder: tempfile::tempdir_in(place.folder.path()).unwrap(),
                    ..other
                };
                std::os::unix::fs::symlink(
                    place.folder.path().join("aside"),
                    other.folder.path().join("aside"),
                )
                .unwrap();
                let (result, _) = other.sh(&ALL, "echo > file", None);
                assert!(
                    !result.contains("old/.envrc") && other.told.lock().unwrap().is_empty(),
                    "{result}"
                );
                session.ask("t1", "go\n", "exit code 0");
                assert_eq!(place.aside(), ["AGENTS.md"]);
            },
        ),
        trials_of(
            "what_a_running_program_changed_or_removed_counts_for_one_that_started_later",
            |layers| {
                if layers.confinement().is_ok() {
                    return;
                }
                let place = Place::new(layers, &[("AGENTS.md", "old"), (".envrc", "old")]);
                let session =
                    Session::with_sandbox(&place.workspace, &session::ALL, place.sandbox());
                let first = session.start(
                    "sh",
                    &[
                        "-c",
                        "echo evil > AGENTS.md; rm .envrc; echo ready; read line",
                    ],
                );
                session.read_on(first, "t1", "ready");
                let second = session.start("sh", &["-c", "echo ready; read line"]);
                session.read_on(second, "t2", "ready");
                session.ask("t2", "go\n", "exit code 0");
                assert_eq!(
                    (
                        place.workspace.read("AGENTS.md"),
                        place.workspace.read(".envrc")
                    ),
                    ("old".into(), "old".into())
                );
                assert_eq!(place.aside(), ["AGENTS.md"]);
            },
        ),
    ];
    all.into_iter().flatten().collect()
}
