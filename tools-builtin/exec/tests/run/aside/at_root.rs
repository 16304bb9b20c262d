//! Files at the root that programs load by their name, and links at protected names.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use libtest_mimic::Trial;
use serde_json::json;

use super::back::mode;
use super::{OF_GIT, Place, is_landlock_alone, trials_of};
use crate::setup::{ALL, run};

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of(
            "a_new_file_that_programs_load_from_the_root_is_asked_about",
            |layers| {
                let place = Place::new(layers, &[("noxfile.py", "old"), ("sub/file", "")]);
                let script = "echo x > eslint.config.js; echo x > conftest.py; ln -s sub/file vite.config.ts
                              echo x > sub/conftest.py; echo x > main.py; echo new > noxfile.py; mkdir wscript";
                let (result, questions) = place.sh(&ALL, script, Some(false));
                let moved = ["conftest.py", "eslint.config.js", "vite.config.ts"];
                assert_eq!(place.aside(), moved, "{result}");
                assert!(
                    questions.len() == 1 && questions[0].contains("load or run by its name"),
                    "{questions:?}"
                );
                let grant = [&ALL[..], &["fs:write:tasks.py"]].concat();
                place.sh(&grant, "echo x > tasks.py; echo x > manage.py", None);
                assert!(place.exists("tasks.py") && !place.exists("manage.py"));
            },
        ),
        trials_of("a_file_that_git_checks_out_is_no_new_one", |layers| {
            // Programs cannot change permissions there, which git needs.
            if is_landlock_alone(layers) {
                return;
            }
            let place = Place::new(layers, &[("AGENTS.md", "rules")]);
            place.repository(".");
            place.git(".", "branch main-of-test");
            place.git(".", "checkout -qb other");
            place.workspace.write("eslint.config.js", "ours");
            place.workspace.write("deploy", "#!/bin/sh");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(place.workspace.join("deploy"), mode).unwrap();
            symlink("AGENTS.md", place.workspace.join("CLAUDE.md")).unwrap();
            place.git(".", "add .");
            place.git(".", "commit -qm second");
            place.git(".", "checkout -q main-of-test");
            let grant = [&ALL[..], &[OF_GIT]].concat();
            let evil =
                "git checkout -q other && echo evil > eslint.config.js && echo evil >> deploy";
            let (result, _) = place.sh(&grant, evil, None);
            assert_eq!(place.aside(), ["deploy", "eslint.config.js"], "{result}");
            let again = "git checkout -qf main-of-test && git checkout -q other";
            let (result, questions) = place.sh(&grant, again, Some(false));
            assert!(
                questions.is_empty()
                    && place.workspace.read("eslint.config.js") == "ours"
                    && place.workspace.read("deploy") == "#!/bin/sh"
                    && place.workspace.join("CLAUDE.md").is_symlink(),
                "{result} {questions:?}"
            );
            // A repository that the program makes says what the program chose.
            let place = Place::new(layers, &[]);
            let own = "git init -q .; echo evil > eslint.config.js; echo '#!/bin/sh' > deploy; chmod +x deploy; git add .";
            let (result, _) = place.sh(&grant, own, None);
            assert_eq!(place.aside(), ["deploy", "eslint.config.js"], "{result}");
        }),
        trials_of(
            "a_folder_that_a_program_closes_is_looked_at_and_stays_open",
            |layers| {
                // Programs cannot change permissions there.
                if is_landlock_alone(layers) {
                    return;
                }
                for closed in ["000", "200", "444", "600"] {
                    let place = Place::new(layers, &[("tools/.envrc", "mine"), ("file", "")]);
                    let plant = format!(
                    "mkdir -p new/.vscode; echo evil > new/.envrc; echo evil > new/.vscode/tasks.json; echo evil > AGENTS.md
                     chmod {closed} new tools ."
                );
                    let (result, _) = place.sh(&ALL, &plant, None);
                    assert_eq!(
                        place.aside(),
                        ["AGENTS.md", "new/.envrc", "new/.vscode"],
                        "{closed} {result}"
                    );
                    for folder in ["tools", "new", "."] {
                        assert_eq!(mode(&place.workspace.join(folder)) & 0o700, 0o700);
                    }
                    let change = "chmod 755 tools; echo evil > tools/.envrc";
                    let (result, _) = place.sh(&ALL, change, None);
                    assert_eq!(
                        place.workspace.read("tools/.envrc"),
                        "mine",
                        "{closed} {result}"
                    );
                }
            },
        ),
        trials_of(
            "a_link_between_instructions_leads_to_what_was_there",
            |layers| {
                let place = Place::new(layers, &[("AGENTS.md", "rules"), ("file", "")]);
                let script =
                    "ln -s AGENTS.md CLAUDE.md; ln -s AGENTS.md .envrc; ln -s file GEMINI.md";
                let (result, _) = place.sh(&ALL, script, None);
                assert_eq!(place.aside(), [".envrc", "GEMINI.md"], "{result}");
                assert!(place.exists("CLAUDE.md"), "{result}");
            },
        ),
        trials_of(
            "programs_run_beside_protected_links_and_those_they_replace_are_put_back",
            |layers| {
                let place = Place::new(layers, &[("AGENTS.md", "rules"), (".idea/x", "")]);
                let outside = place.folder.path().join("npmrc");
                fs::write(&outside, "mine").unwrap();
                let links = [
                    ("CLAUDE.md", "AGENTS.md".as_ref()),
                    ("GEMINI.md", "CLAUDE.md".as_ref()),
                    (".npmrc", &*outside),
                    (".vscode", ".idea".as_ref()),
                ];
                for (link, target) in links {
                    symlink(target, place.workspace.join(link)).unwrap();
                }
                let (result, questions) = place.sh(&ALL, "echo x > plain", Some(false));
                assert!(
                    place.exists("plain") && questions.is_empty() && place.aside().is_empty(),
                    "{result} {questions:?}"
                );
                let script = "rm CLAUDE.md .npmrc .vscode; echo evil > CLAUDE.md; mkdir .vscode; echo evil > .vscode/tasks.json";
                let (result, _) = place.sh(&ALL, script, None);
                assert_eq!(place.aside(), [".vscode", "CLAUDE.md"], "{result}");
                assert!(!result.contains("takes for a repository"), "{result}");
                for (link, target) in links {
                    let now = fs::read_link(place.workspace.join(link)).unwrap();
                    assert_eq!(now, target, "{link} {result}");
                }
            },
        ),
        trials_of(
            "a_protected_link_to_a_file_that_programs_may_replace_is_refused",
            |layers| {
                let keeps = layers.confinement();
                if !keeps.is_ok_and(|it| it.keeps_protected_paths()) {
                    return;
                }
                for (link, target) in [
                    (".envrc", "env/dev"),
                    (".envrc", "way/.npmrc"),
                    (".envrc", "node_modules/.envrc"),
                ] {
                    let files = [
                        ("env/dev", ""),
                        ("real/.npmrc", ""),
                        ("node_modules/.envrc", ""),
                    ];
                    let place = Place::new(layers, &files);
                    symlink("real", place.workspace.join("way")).unwrap();
                    symlink(target, place.workspace.join(link)).unwrap();
                    let call = json!({"program": "true"});
                    let error = run(&place.host(&ALL), call).unwrap_err().to_string();
                    assert!(
                        error.contains(".envrc is a symbolic link"),
                        "{target}: {error}"
                    );
                }
            },
        ),
        trials_of(
            "a_file_that_lies_aside_cannot_be_started_until_it_is_put_back",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[]);
                place.sh(&ALL, "echo '#!/bin/sh' > run.sh; chmod 754 run.sh", None);
                let [file] = &place.list()[..] else { panic!() };
                assert_eq!(
                    (mode(file.place.as_deref().unwrap()), file.mode),
                    (0o644, Some(0o754))
                );
                file.put_back().unwrap();
                assert_eq!(mode(&place.workspace.join("run.sh")), 0o754);
                let place = Place::new(layers, &[]);
                place.sh(
                    &ALL,
                    "echo '#!/bin/sh' > run.sh; chmod 754 run.sh",
                    Some(true),
                );
                assert_eq!(mode(&place.workspace.join("run.sh")), 0o754);
            },
        ),
    ];
    all.into_iter().flatten().collect()
}
