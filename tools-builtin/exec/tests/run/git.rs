//! Git in a sandbox.

use std::process::Command;

use libtest_mimic::{Completion, Trial};
use tools::Answer;
use tools_exec::Sandbox;
use tools_exec::walls::{Confinement, Layers};
use tools_testkit::{RecordingPerson, TempWorkspace, TestHost};

use crate::setup::{ALL, host_with, sh};

/// The clause that lifts the protection.
const OF_GIT: &str = "fs:write:.git/**";

const COMMIT: &str = "git add file && git commit -qm second && git checkout -qb config && git commit -qm third --allow-empty";

/// Returns a repository with one commit.
fn repository() -> TempWorkspace {
    let workspace = TempWorkspace::from_files([("file", "old"), ("sub/a", "")]);
    for args in [
        "init -q",
        "config user.name a",
        "config user.email a",
        "add .",
        "commit -qm first",
    ] {
        assert!(git(&workspace, args).status.success(), "{args}");
    }
    workspace.write("file", "new");
    workspace
}

fn git(workspace: &TempWorkspace, args: &str) -> std::process::Output {
    Command::new("git")
        .args(args.split(' '))
        .current_dir(workspace.path())
        .output()
        .unwrap()
}

/// A test that is left out, with the reason, without git or this confinement.
fn trial(
    name: &str,
    layers: fn() -> Layers,
    is_fit: fn(&Confinement) -> bool,
    test: fn(Layers),
) -> Trial {
    Trial::ignorable_test(name, move || {
        if Command::new("git").arg("--version").output().is_err() {
            return Ok(Completion::ignored_with("git is missing"));
        }
        match layers().confinement() {
            Ok(confinement) if is_fit(&confinement) => test(layers()),
            other => return Ok(Completion::ignored_with(format!("{other:?}"))),
        }
        Ok(Completion::Completed)
    })
}

fn host(workspace: &TempWorkspace, grant: &[&str], layers: Layers) -> TestHost {
    host_with(
        workspace,
        grant,
        Sandbox {
            layers: layers.into(),
            ..Sandbox::default()
        },
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    let kept = |name, test| {
        trial(
            name,
            Layers::probe,
            Confinement::keeps_protected_paths,
            test,
        )
    };
    let alone = |name, test| {
        trial(
            name,
            || Layers::probe().without_bubblewrap(),
            |it| !it.keeps_protected_paths(),
            test,
        )
    };
    vec![
        kept("git_commits_with_one_clause_for_its_folder", |layers| {
            for grant in [
                &["fs:read:**", "exec:write:**", OF_GIT][..],
                &[&ALL[..], &[OF_GIT]].concat(),
            ] {
                let workspace = repository();
                let answer = sh(&host(&workspace, grant, layers.clone()), COMMIT);
                assert!(answer.starts_with("[exit code 0,"), "{answer}");
                assert!(
                    !answer.contains("have changed"),
                    "a commit changes neither hooks nor settings: {answer}"
                );
                let log = git(&workspace, "log --format=%s").stdout;
                assert_eq!(String::from_utf8_lossy(&log), "third\nsecond\nfirst\n");
            }
            let workspace = repository();
            let answer = sh(&host(&workspace, &ALL, layers), COMMIT);
            assert!(
                !answer.starts_with("[exit code 0,"),
                "without the clause it is protected: {answer}"
            );
        }),
        kept(
            "changes_of_files_that_git_runs_are_named_also_where_the_grant_names_its_folder",
            |layers| {
                let workspace = repository();
                workspace.write(".git/hooks/pre-push", "echo");
                let host = host(&workspace, &[&ALL[..], &[OF_GIT]].concat(), layers);
                let named = |script: &str| {
                    let answer = sh(&host, &format!("cd .git && {script}"));
                    let notes = answer
                        .lines()
                        .filter(|line| line.contains("have changed: "));
                    notes
                        .map(|line| {
                            line.trim_end_matches(']')
                                .rsplit(": ")
                                .next()
                                .unwrap()
                                .to_owned()
                        })
                        .collect::<String>()
                };
                for (script, expected) in [
                    ("echo x > hooks/pre-commit", ".git/hooks/pre-commit"),
                    ("chmod +x hooks/pre-commit", ".git/hooks/pre-commit"),
                    (
                        "touch -r hooks/pre-push t; printf evil > hooks/pre-push; touch -r t hooks/pre-push; rm t",
                        ".git/hooks/pre-push",
                    ),
                    ("git config core.pager x", ".git/config"),
                    (
                        "echo '* filter=x' > info/attributes",
                        ".git/info/attributes",
                    ),
                    (
                        "mkdir -p modules/a/hooks; echo > modules/a/hooks/x",
                        ".git/modules/a/hooks",
                    ),
                    ("echo .. > commondir; rm commondir; echo > ORIG_HEAD", ""),
                    ("rm -r hooks", ".git/hooks"),
                ] {
                    assert_eq!(named(script), expected, "{script}");
                }
                assert!(
                    named("cd .. && rm -rf .git && git init -q")
                        .starts_with(".git/config, .git/hooks,")
                );
            },
        ),
        alone(
            "with_landlock_alone_changes_inside_the_folder_of_git_are_named",
            |layers| {
                let workspace = repository();
                let host = host(&workspace, &ALL, layers);
                let run = |script: &str| {
                    let person = RecordingPerson::new([Answer::Confirmation(true)]);
                    sh(&host.clone().with_person(person), script)
                };
                let answer = run("echo x > .git/hooks/pre-commit");
                assert!(
                    answer.contains("have changed: .git/hooks/pre-commit]"),
                    "{answer}"
                );
                let answer = run(COMMIT);
                assert!(
                    answer.starts_with("[exit code 0,") && !answer.contains("have changed"),
                    "{answer}"
                );
                let answer = run("mkdir -p sub/.git/hooks; echo > sub/.git/hooks/x");
                assert!(answer.contains("have changed: sub/.git]"), "{answer}");
            },
        ),
    ]
}
