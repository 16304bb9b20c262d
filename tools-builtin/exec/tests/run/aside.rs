//! Protected files that programs create or change: they lie aside when the program has ended, until a person puts them back.

mod asked;
mod at_root;
mod back;
mod died;
mod other_name;
mod room;
mod second_names;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libtest_mimic::{Completion, Trial};
use serde_json::json;
use tempfile::TempDir;
use tools::policy::{SensitivePaths, Sensitivity};
use tools::{Answer, ProtectedFate, ProtectedFile};
use tools_exec::walls::{Bubblewrap, Layers};
use tools_exec::{Aside, Sandbox, SetAside, Teller};
use tools_testkit::{RecordingPerson, TempWorkspace, TestHost};
use tools_workspace::Workspace;

use crate::background::session::{Session, until};
use crate::setup::{ALL, run, text};

/// The clause that opens the repository for commits.
const OF_GIT: &str = "fs:write:.git/**";

/// A workspace with a folder for what programs plant.
struct Place {
    workspace: TempWorkspace,
    folder: TempDir,
    layers: Layers,
    /// The files of which the person at the host was told.
    told: Arc<Mutex<Vec<ProtectedFile>>>,
}

impl Place {
    fn new(layers: &Layers, files: &[(&str, &str)]) -> Self {
        let (workspace, folder) = (
            TempWorkspace::from_files(files.iter().copied()),
            tempfile::tempdir().unwrap(),
        );
        Self {
            workspace,
            folder,
            layers: layers.clone(),
            told: Arc::default(),
        }
    }

    fn sandbox(&self) -> Sandbox {
        let told = self.told.clone();
        let teller = Teller::new(move |files| told.lock().unwrap().extend_from_slice(files));
        Sandbox {
            layers: self.layers.clone().into(),
            may_run_unconfined: true,
            aside: Some(Aside::new(self.folder.path().join("aside"))),
            teller: Some(teller),
            ..Sandbox::default()
        }
    }

    fn host(&self, grant: &[&str]) -> TestHost {
        // With Landlock alone, a hidden file keeps programs from creating others beside it.
        let root = Workspace::open(self.workspace.path()).unwrap();
        TestHost::new(tools_exec::register)
            .with_grant(grant)
            .with_service(root)
            .with_service(self.sandbox())
    }

    /// Runs a script. The person agrees to a program that writes, if that is asked, and then gives this answer.
    fn sh(&self, grant: &[&str], script: &str, answer: Option<bool>) -> (String, Vec<String>) {
        self.run(
            grant,
            json!({"program": "sh", "args": ["-c", script]}),
            answer,
        )
    }

    fn run(
        &self,
        grant: &[&str],
        call: serde_json::Value,
        answer: Option<bool>,
    ) -> (String, Vec<String>) {
        let asks_first = is_landlock_alone(&self.layers);
        let answers = asks_first
            .then_some(true)
            .into_iter()
            .chain(answer)
            .map(Answer::Confirmation);
        let person = RecordingPerson::new(answers);
        let result = text(run(&self.host(grant).with_person(person.clone()), call).unwrap());
        let questions = person
            .questions()
            .into_iter()
            .skip(usize::from(asks_first))
            .map(|asked| asked.text().to_owned());
        (result, questions.collect())
    }

    fn root(&self) -> PathBuf {
        self.workspace.path().canonicalize().unwrap()
    }

    fn list(&self) -> Vec<SetAside> {
        Aside::new(self.folder.path().join("aside")).list(&self.root())
    }

    /// Returns the paths that lie aside, sorted.
    fn aside(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.list().into_iter().map(|file| file.path).collect();
        paths.sort();
        paths
    }

    fn exists(&self, path: impl AsRef<Path>) -> bool {
        fs::symlink_metadata(self.workspace.path().join(path)).is_ok()
    }

    fn git(&self, folder: &str, args: &str) {
        let folder = self.workspace.path().join(folder);
        let done = Command::new("git")
            .args(args.split(' '))
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args}: {done:?}");
    }

    /// Creates a repository with one commit.
    fn repository(&self, folder: &str) {
        fs::create_dir_all(self.workspace.path().join(folder)).unwrap();
        for args in [
            "init -q",
            "config user.name a",
            "config user.email a",
            "add .",
            "commit -qm first --allow-empty",
        ] {
            self.git(folder, args);
        }
    }
}

/// A name of walls, their layers, and whether they keep protected paths. `None` means that there are no walls.
type Kind = (&'static str, fn() -> Layers, Option<bool>);

/// Makes a test for bubblewrap, one for Landlock alone and one without walls. Those that this machine cannot make are left out, with the
/// reason.
fn trials_of(name: &str, test: fn(&Layers)) -> Vec<Trial> {
    let none = || Layers {
        landlock: None,
        seccomp: false,
        bubblewrap: Bubblewrap::Missing,
    };
    let kinds: [Kind; 3] = [
        ("bubblewrap", Layers::probe, Some(true)),
        (
            "landlock",
            || Layers::probe().without_bubblewrap(),
            Some(false),
        ),
        ("no_walls", none, None),
    ];
    let trial = |(kind, layers, keeps): Kind| {
        Trial::ignorable_test(format!("aside::{name}::{kind}"), move || {
            let found = layers();
            if found
                .confinement()
                .ok()
                .map(|it| it.keeps_protected_paths())
                != keeps
            {
                return Ok(Completion::ignored_with(format!("{found}")));
            }
            test(&found);
            Ok(Completion::Completed)
        })
    };
    kinds.into_iter().map(trial).collect()
}

fn is_landlock_alone(layers: &Layers) -> bool {
    layers
        .confinement()
        .is_ok_and(|it| !it.keeps_protected_paths())
}

/// Returns a path for each protected pattern of the table.
fn every_path() -> Vec<String> {
    let table = SensitivePaths::default();
    let entries = table
        .paths()
        .iter()
        .filter(|entry| entry.sensitivity > Sensitivity::BuildFile);
    let concrete = |pattern: &str| {
        pattern
            .trim_start_matches('/')
            .replace("**", "x")
            .replace('*', "y")
    };
    // Below folders of dependencies, others count: see `below_folders_of_outputs…`.
    let is_output = |path: &String| {
        path.split('/')
            .any(|name| ["node_modules", ".venv", "venv"].contains(&name))
    };
    entries
        .map(|entry| concrete(&entry.pattern))
        .filter(|path| !is_output(path))
        .collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        trials_of(
            "every_name_of_the_table_is_moved_whichever_program_writes_it",
            |layers| {
                let place = Place::new(layers, &[("a", "1\n"), ("b", "2\n"), ("old/file", "")]);
                let mut script = "set -e\n".to_owned();
                let mut makefile = "all:\n".to_owned();
                let mut planted = Vec::new();
                for (number, path) in every_path().into_iter().enumerate() {
                    let path = ["", "old/", "new/deep/"][number % 3].to_owned() + &path;
                    if let Some((folder, _)) = path.rsplit_once('/') {
                        script += &format!("mkdir -p '{folder}'\n");
                    }
                    match number % 4 {
                        0 => {
                            script +=
                                &format!("git diff --no-index --output='{path}' a b || true\n")
                        }
                        1 => makefile += &format!("\techo evil > '{path}'\n"),
                        2 => script += &format!("cp a '{path}'\n"),
                        _ => {
                            script += &format!(
                                "/usr/bin/python3 -c \"open('{path}', 'w').write('evil')\"\n"
                            )
                        }
                    }
                    planted.push(path);
                }
                script += &format!(
                    "printf '%s' '{}' > steps.mk\nmake -f steps.mk\n",
                    makefile.replace('\'', "'\\''")
                );
                // Too long for the question of a machine without bubblewrap.
                place.workspace.write("plan", script);
                let (result, _) = place.sh(&ALL, ". ./plan", None);
                assert!(result.starts_with("[exit code 0"), "{result}");
                let (root, list) = (place.root(), place.list());
                for path in planted {
                    assert!(!place.exists(&path), "{path} remains: {result}");
                    let is_there = list
                        .iter()
                        .any(|file| root.join(&path).starts_with(&file.origin));
                    assert!(is_there, "{path} does not lie aside");
                }
                assert!(
                    place.told.lock().unwrap().len() >= list.len(),
                    "the person is told of each"
                );
                assert!(result.contains("moved out of the workspace"), "{result}");
            },
        ),
        trials_of("a_yes_puts_files_back_and_all_else_leaves_them", |layers| {
            for (answer, is_back) in [(Some(true), true), (Some(false), false), (None, false)] {
                let place = Place::new(layers, &[("file", "")]);
                let script = "mkdir .vscode; echo 'run \u{202e}me' > .vscode/tasks.json; echo hint > AGENTS.md; echo > plain";
                let (result, questions) = place.sh(&ALL, script, answer);
                for path in [".vscode/tasks.json", "AGENTS.md"] {
                    assert_eq!(place.exists(path), is_back, "{answer:?} {result}");
                }
                assert!(place.exists("plain"));
                assert_eq!(place.aside().is_empty(), is_back);
                assert_eq!(result.contains("has not agreed"), !is_back, "{result}");
                let told = place.told.lock().unwrap();
                assert_eq!(told.len(), 2);
                assert!(
                    told.iter()
                        .all(|file| (file.fate == ProtectedFate::PutBack) == is_back),
                    "{told:?}"
                );
                if answer.is_some() {
                    let [question] = &questions[..] else {
                        panic!("{questions:?}")
                    };
                    assert!(
                        question.contains("| hint") && question.contains("AGENTS.md (new)"),
                        "{question}"
                    );
                }
            }
        }),
        trials_of("a_changed_file_has_its_former_content_again", |layers| {
            if layers
                .confinement()
                .is_ok_and(|it| it.keeps_protected_paths())
            {
                return;
            }
            let files = [
                ("AGENTS.md", "old"),
                (".vscode/tasks.json", "old"),
                (".git/hooks/pre-push", "old"),
            ];
            for answer in [None, Some(true)] {
                let place = Place::new(layers, &files);
                symlink("plain", place.workspace.join(".envrc")).unwrap();
                fs::set_permissions(
                    place.workspace.join("AGENTS.md"),
                    fs::Permissions::from_mode(0o1640),
                )
                .unwrap();
                let script = "echo new > AGENTS.md; rm .vscode/tasks.json; ln -s ../x .vscode/tasks.json; echo evil > .git/hooks/pre-push
                              ln -sf evil .envrc; echo x > .vscode/new";
                let (result, _) = place.sh(&ALL, script, answer);
                let expected = if answer.is_some() { "new\n" } else { "old" };
                assert_eq!(place.workspace.read("AGENTS.md"), expected, "{result}");
                if answer.is_none() {
                    assert_eq!(place.workspace.read(".vscode/tasks.json"), "old");
                    let mode = |path| {
                        fs::metadata(place.workspace.join(path))
                            .unwrap()
                            .permissions()
                            .mode()
                            & 0o7777
                    };
                    assert_eq!(mode("AGENTS.md"), 0o1640);
                    assert_eq!(place.workspace.read(".git/hooks/pre-push"), "old");
                    assert_eq!(
                        fs::read_link(place.workspace.join(".envrc")).unwrap(),
                        Path::new("plain")
                    );
                    let moved = [
                        ".envrc",
                        ".git/hooks/pre-push",
                        ".vscode/new",
                        ".vscode/tasks.json",
                        "AGENTS.md",
                    ];
                    assert_eq!(place.aside(), moved);
                    assert_eq!(
                        place.told.lock().unwrap().len(),
                        moved.len(),
                        "each is told once"
                    );
                }
            }
        }),
        trials_of(
            "another_name_of_a_protected_file_leads_around_no_wall",
            |layers| {
                let place = Place::new(layers, &[("AGENTS.md", "old")]);
                fs::hard_link(
                    place.workspace.join("AGENTS.md"),
                    place.workspace.join("other"),
                )
                .unwrap();
                let (result, _) = place.sh(&ALL, "echo new > other", None);
                assert_eq!(place.workspace.read("AGENTS.md"), "old", "{result}");
                assert_eq!(place.aside(), ["AGENTS.md"]);
            },
        ),
        trials_of(
            "links_pipes_folders_locked_folders_and_strange_names_are_moved",
            |layers| {
                let outside = TempWorkspace::from_files([("kept", "kept")]);
                let place = Place::new(layers, &[("file", ""), ("sub/file", "")]);
                symlink(outside.path(), place.workspace.join("out")).unwrap();
                let script = r#"
                ln -s file CLAUDE.md; ln -s nowhere .envrc; mkfifo .npmrc; mkdir -p .idea/deep; echo > .idea/deep/x
                mkdir evil; ln -s evil .github; ln -s ../out sub/.vscode
                mkdir -p locked/.cargo; echo > locked/.cargo/config.toml; chmod 000 locked/.cargo; chmod 000 locked
                mkdir fixed; echo > fixed/AGENTS.md; chmod 555 fixed
                mkdir -p "$(printf 'n\377')/.git"; echo > "$(printf 'n\377')/.git/config"
                echo x > linked; ln linked GEMINI.md"#;
                let (result, _) = place.sh(&ALL, script, None);
                for path in [
                    "CLAUDE.md",
                    ".envrc",
                    ".npmrc",
                    ".idea",
                    ".github",
                    "sub/.vscode",
                    "locked/.cargo",
                    "fixed/AGENTS.md",
                    "GEMINI.md",
                ] {
                    assert!(!place.exists(path), "{path} {result}");
                }
                assert!(!place.exists(Path::new(OsStr::from_bytes(b"n\xff")).join(".git")));
                assert!(
                    place.exists("linked")
                        && place.exists("evil")
                        && outside.read("kept") == "kept"
                );
                assert_eq!(place.list().len(), 10, "{:?}", place.aside());
                let mode = fs::metadata(place.workspace.join("locked"))
                    .unwrap()
                    .permissions()
                    .mode();
                assert!(
                    mode & 0o777 == 0o700 || is_landlock_alone(layers),
                    "the next look can enter it"
                );
            },
        ),
        trials_of(
            "what_a_clone_or_an_init_makes_remains_and_nobody_is_asked",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("origin/file", "text")]);
                place.repository("origin");
                let script = "set -e; git init -q fresh; git clone -q origin copy; git clone -q --bare origin bare.git
                          cd copy; git -c user.name=a -c user.email=a commit -qm x --allow-empty; git checkout -qb other";
                let (result, questions) = place.sh(&ALL, script, Some(false));
                assert!(
                    result.starts_with("[exit code 0") && questions.is_empty(),
                    "{result} {questions:?}"
                );
                for path in ["fresh/.git/config", "copy/.git/config", "bare.git/HEAD"] {
                    assert!(place.exists(path), "{path} {result}");
                }
                assert!(
                    place.aside().is_empty() && place.told.lock().unwrap().is_empty(),
                    "{:?}",
                    place.aside()
                );
            },
        ),
        trials_of(
            "a_repository_that_sends_commits_elsewhere_is_put_back_until_a_yes",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[]);
                place.repository(".");
                for args in [
                    "remote add origin ../origin",
                    "config branch.main.remote origin",
                    "config branch.fork.remote fork",
                    "config filter.crypt.clean encrypt",
                ] {
                    place.git(".", args);
                }
                let config = || place.workspace.read(".git/config");
                let grant = [&ALL[..], &[OF_GIT]].concat();
                for script in [
                    "git config remote.origin.url ../evil",
                    "git config --unset filter.crypt.clean",
                    "git config --unset branch.fork.remote",
                    "git remote set-url --push origin ../evil",
                    "git config branch.main.pushRemote ../evil",
                    "git config url.../evil.insteadOf ../origin",
                    "git config user.email evil@example.org",
                    "git remote rename origin a; git remote add origin ../evil",
                    "git config branch.x.remote origin; git config branch.x.merge refs/heads/main; git config push.default upstream",
                ] {
                    let before = config();
                    let (_, questions) = place.sh(&grant, script, Some(false));
                    assert_eq!((questions.len(), config()), (1, before), "{script}");
                }
                let (_, questions) = place.sh(&grant, "git config branch.new.remote origin", None);
                assert_eq!(questions, [""; 0]);
                let call =
                    json!({"program": "git", "args": ["config", "user.email", "me@home.example"]});
                let (_, questions) = place.run(&grant, call.clone(), Some(false));
                assert_eq!(
                    (questions.len(), config().contains("me@home.example")),
                    (1, false)
                );
                let script = ("set.sh", json!({"program": "sh", "args": ["set.sh"]}));
                place
                    .workspace
                    .write(script.0, "git config user.email me@home.example\n");
                for (clause, call) in [
                    ("fs:write:git config user.email me@home.example", &call),
                    ("exec:write:git config user.*", &call),
                    ("exec:write:sh set.sh", &script.1),
                ] {
                    let (_, questions) =
                        place.run(&[&grant[..], &[clause]].concat(), call.clone(), Some(false));
                    assert_eq!(
                        (questions.len(), config().contains("me@home.example")),
                        (1, false),
                        "{clause}"
                    );
                }
                let spelled = [
                    &grant[..],
                    &["exec:write:git config user.email me@home.example"],
                ]
                .concat();
                let (_, questions) = place.run(&spelled, call, None);
                assert_eq!(
                    (questions.len(), config().contains("me@home.example")),
                    (0, true)
                );
            },
        ),
        trials_of("a_new_repository_that_runs_something_is_moved", |layers| {
            // Programs cannot change permissions there, which git needs.
            if is_landlock_alone(layers) {
                return;
            }
            for evil in [
                "git -C r config core.fsmonitor evil",
                "echo evil > r/.git/hooks/pre-commit",
                "ln -sf /bin/sh r/.git/hooks/pre-commit.sample",
                "echo ../../other > r/.git/commondir",
                "mkdir -p r/.git/modules/a/hooks; echo > r/.git/modules/a/hooks/x",
                "printf '[core]\\n\\tbare = false\\n\\thooksPath = ..\\n' > r/.git/config",
                "echo '* filter=x' > r/.git/info/attributes",
                "echo /elsewhere > r/.git/objects/info/alternates",
                "mv r/.git r/evil; echo 'gitdir: evil' > r/.git",
            ] {
                let place = Place::new(layers, &[("file", "")]);
                let (result, _) = place.sh(&ALL, &format!("set -e; git init -q r; {evil}"), None);
                assert!(
                    result.starts_with("[exit code 0") && !place.exists("r/.git"),
                    "{evil}: {result}"
                );
            }
            let place = Place::new(layers, &[("file", "")]);
            let (result, _) = place.sh(
                &ALL,
                "git init -q --bare r; git -C r config core.pager evil",
                None,
            );
            assert!(
                !place.exists("r/HEAD") && !place.exists("r/config"),
                "{result}"
            );
        }),
        trials_of(
            "settings_of_a_bare_repository_are_protected_with_it",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                place.git(".", "init -q --bare r");
                let (result, _) = place.sh(
                    &ALL,
                    "git -C r config core.pager evil; echo > r/hooks/pre-push",
                    None,
                );
                let config = place.workspace.read("r/config");
                assert!(
                    !config.contains("evil") && !place.exists("r/hooks/pre-push"),
                    "{config} {result}"
                );
            },
        ),
        trials_of(
            "below_folders_of_outputs_only_settings_instructions_and_repositories_count",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let script = "for f in node_modules/a .venv/lib/a target/debug vendor/a; do mkdir -p $f/.vscode $f/.github/workflows
                          echo > $f/.npmrc; echo > $f/.vscode/x; echo > $f/.github/workflows/ci.yml; echo > $f/.travis.yml; done
                          echo > node_modules/a/AGENTS.md; echo > target/toolcrib.toml
                          git init -q vendor/r; git -C vendor/r config core.fsmonitor evil";
                let (result, questions) = place.sh(&ALL, script, Some(false));
                assert_eq!(
                    place.aside(),
                    [
                        "node_modules/a/AGENTS.md",
                        "target/toolcrib.toml",
                        "vendor/r/.git"
                    ],
                    "{result}"
                );
                assert_eq!(questions.len(), 1, "{questions:?}");
            },
        ),
        trials_of("a_new_folder_is_one_line_of_one_question", |layers| {
            let place = Place::new(layers, &[("file", ""), ("sub/file", "")]);
            let script = "mkdir -p dep/.github/workflows; echo > dep/.github/workflows/a.yml
                          for i in 1 2 3 4; do mkdir -p dep/$i; echo > dep/$i/AGENTS.md; done; echo > sub/.envrc";
            let (_, questions) = place.sh(&ALL, script, Some(true));
            let [question] = &questions[..] else {
                panic!("{questions:?}")
            };
            assert_eq!(question.matches("\n- ").count(), 2, "{question}");
            assert!(
                question.contains("dep/ is new and has 5 files"),
                "{question}"
            );
            assert!(
                place.exists("dep/4/AGENTS.md")
                    && place.exists("sub/.envrc")
                    && place.aside().is_empty()
            );
        }),
        trials_of(
            "a_commit_with_its_clause_asks_nobody_and_a_hook_is_moved_all_the_same",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "old")]);
                place.repository(".");
                place.git(".", "remote add origin ../origin");
                let grant = [&ALL[..], &[OF_GIT]].concat();
                let commit =
                "set -e; echo new > file; git add file; git commit -qm second; git checkout -qb other; git branch -q x; git worktree add -q tree x
                          git config branch.x.remote .; git init -q .; git gc -q";
                let (result, questions) = place.sh(&grant, commit, Some(false));
                assert!(
                    result.starts_with("[exit code 0") && questions.is_empty(),
                    "{result} {questions:?}"
                );
                assert!(place.exists("tree/.git") && place.exists(".git/worktrees/tree/commondir"));
                let former = place.workspace.read(".git/config");
                let evil = "git config core.pager evil; echo ../../../evil > .git/worktrees/tree/commondir; echo evil > .git/hooks/pre-commit; mkdir -p .git/modules/m; echo > .git/modules/m/config
                        printf 'exec evil\\n' > .git/git-rebase-todo; printf '[alias]\\na = !evil\\n' > .git/modules/m/config";
                let (result, _) = place.sh(&grant, evil, None);
                assert_eq!(place.workspace.read(".git/config"), former, "{result}");
                let moved = [
                    ".git/config",
                    ".git/git-rebase-todo",
                    ".git/hooks/pre-commit",
                    ".git/modules/m/config",
                    ".git/worktrees/tree/commondir",
                ];
                assert_eq!(place.aside(), moved, "{result}");
            },
        ),
        trials_of(
            "a_file_that_the_grant_names_remains_and_is_told",
            |layers| {
                let place = Place::new(layers, &[("AGENTS.md", "old")]);
                let grant = [&ALL[..], &["fs:write:AGENTS.md"]].concat();
                let (result, questions) = place.sh(
                    &grant,
                    "echo new > AGENTS.md; echo evil > CLAUDE.md",
                    Some(false),
                );
                assert_eq!(
                    (place.workspace.read("AGENTS.md").as_str(), questions.len()),
                    ("new\n", 1),
                    "{result}"
                );
                assert_eq!(place.aside(), ["CLAUDE.md"]);
                let told = place.told.lock().unwrap();
                assert!(
                told.iter().any(|file| file.path == "AGENTS.md" && file.fate == ProtectedFate::Changed),
                "{told:?}"
            );
            },
        ),
        trials_of(
            "a_new_script_at_the_root_is_asked_about_and_others_are_not",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let script = "#!/bin/sh\n";
                let place = Place::new(layers, &[("old.sh", script), ("sub/file", "")]);
                let (result, questions) = place.sh(
                &ALL,
                "chmod +x old.sh; cp old.sh new.sh; cp old.sh sub/new.sh; cp /bin/true program; echo '#!' > text",
                Some(false),
            );
                assert_eq!(place.aside(), ["new.sh", "old.sh"], "{result}");
                assert_eq!(questions.len(), 1);
                assert_eq!(
                    place
                        .sh(&ALL, "echo more >> sub/new.sh", Some(false))
                        .1
                        .len(),
                    0
                );
            },
        ),
        trials_of(
            "what_is_put_back_replaces_nothing_that_came_later",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                place.sh(&ALL, "echo evil > AGENTS.md", None);
                place.workspace.write("AGENTS.md", "mine");
                assert!(place.list()[0].put_back().is_err());
                assert_eq!(place.workspace.read("AGENTS.md"), "mine");
            },
        ),
        trials_of(
            "a_program_in_the_background_and_a_dropped_call_leave_nothing",
            |layers| {
                if !layers
                    .confinement()
                    .is_ok_and(|it| it.keeps_protected_paths())
                {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                let session = Session::with_sandbox(
                    &place.workspace,
                    &crate::background::session::ALL,
                    place.sandbox(),
                );
                let answer = session.start(
                    "sh",
                    &["-c", "echo evil > AGENTS.md; echo ready; read line"],
                );
                session.read_on(answer, "t1", "ready");
                let read = session.ask("t1", "go\n", "exit code 0");
                assert!(
                    !place.exists("AGENTS.md") && read.contains("moved out of the workspace"),
                    "{read}"
                );
                // Nobody reads about its end.
                session.start("sh", &["-c", "sleep 0.3; echo evil > CLAUDE.md"]);
                until("a program that ended is looked at", || {
                    place.aside() == ["AGENTS.md", "CLAUDE.md"]
                });
                let call = session.host.call(
                    "exec.run",
                    json!({"program": "sh", "args": ["-c", "echo > .envrc; sleep 30"]}),
                );
                session.block_on(async {
                    let planted = async {
                        while !place.exists(".envrc") {
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                    };
                    tokio::select! { _ = call => panic!("it ended"), () = planted => {} }
                });
                until("a dropped call is looked at", || !place.exists(".envrc"));
                until("the person is told", || {
                    place
                        .told
                        .lock()
                        .unwrap()
                        .iter()
                        .any(|file| file.path == ".envrc")
                });
            },
        ),
        trials_of(
            "programs_that_overlap_do_not_make_a_planted_file_old_for_each_other",
            |layers| {
                if !layers
                    .confinement()
                    .is_ok_and(|it| it.keeps_protected_paths())
                {
                    return;
                }
                let place = Place::new(layers, &[("file", ""), ("old/.envrc", "old")]);
                let session = Session::with_sandbox(
                    &place.workspace,
                    &crate::background::session::ALL,
                    place.sandbox(),
                );
                let first = session.start("sh", &["-c", "echo evil > .envrc; mkdir .vscode; echo evil > .vscode/tasks.json; echo ready; read line; rm -r .envrc .vscode"]);
                session.read_on(first, "t1", "ready");
                let second = session.start(
                "sh",
                &["-c", "echo ready; read line; echo evil > .envrc; mkdir .vscode; echo evil > .vscode/tasks.json"],
            );
                session.read_on(second, "t2", "ready");
                session.ask("t1", "go\n", "exit code 0");
                assert!(
                    place.aside().is_empty(),
                    "the first one has removed its files"
                );
                session.ask("t2", "go\n", "exit code 0");
                assert_eq!(place.aside(), [".envrc", ".vscode"]);
                assert!(
                    !place.exists(".envrc")
                        && !place.exists(".vscode")
                        && place.exists("old/.envrc")
                );
            },
        ),
    ];
    let further = [
        asked::trials(),
        at_root::trials(),
        back::trials(),
        died::trials(),
        room::trials(),
        other_name::trials(),
        second_names::trials(),
    ];
    all.into_iter().chain(further).flatten().collect()
}
