//! The files to which an approval of a command is bound.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tools::{Basis, Decision, Preview, Tasks};
use tools_testkit::{RecordingApprover, TempWorkspace};

use crate::setup::{call, host, trial};

/// Files of a project, each of which says its name.
const FILES: [&str; 19] = [
    "run.sh",
    "lib.sh",
    "Makefile",
    "gen",
    "sub/x.sh",
    "sub/Makefile",
    "package.json",
    "sub/package.json",
    "test.js",
    "a.py",
    "helper.py",
    "pkg/tool.py",
    "data.csv",
    "list",
    "src/main.rs",
    "tests/it.rs",
    "parts/one.sh",
    "node_modules/.bin/lint",
    "Cargo.toml",
];

/// Returns the preview of a call in a workspace.
fn preview(workspace: &TempWorkspace, tool: &str, arguments: Value) -> Preview {
    let approver = RecordingApprover::new(Decision::Deny {
        reason: "only the preview matters".to_owned(),
    });
    let host = host(workspace, &["fs:read:**"])
        .with_approver(approver.clone())
        .with_context(|cx| {
            let mut services = cx.services().clone();
            Tasks::offer(&mut services);
            cx.with_services(services)
        });
    call(&host, tool, arguments).unwrap_err();
    approver.requests().remove(0).preview.unwrap().unwrap()
}

fn project() -> TempWorkspace {
    let workspace = TempWorkspace::from_files(FILES.map(|file| (file, format!("{file}\n"))));
    workspace.write(
        "run.sh",
        "#!/bin/sh\n. ./lib.sh\nfor part in parts/*.sh; do . \"$part\"; done\n",
    );
    workspace.write(
        "Makefile",
        "all: data.csv\n\t./gen $@\n\tcd sub && ./x.sh\n",
    );
    workspace.write("package.json", r#"{"scripts": {"test": "node ./test"}}"#);
    workspace.write("a.py", "import helper\n");
    for file in ["run.sh", "gen", "sub/x.sh", "node_modules/.bin/lint"] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(workspace.join(file), std::fs::Permissions::from_mode(0o755))
            .unwrap();
    }
    workspace
}

fn run(program: &str, args: &[&str]) -> (&'static str, Value) {
    ("exec.run", json!({"program": program, "args": args}))
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an_approval_is_bound_to_the_files_that_a_command_runs",
            || {
                let shell = |script: &str| ("exec.shell", json!({"script": script}));
                for ((tool, arguments), files) in [
                    (
                        run("./run.sh", &[]),
                        &["run.sh", "lib.sh", "parts/one.sh", "parts/two.sh"] as &[&str],
                    ),
                    (run("./missing", &[]), &["missing"]),
                    (
                        run("sh", &["run.sh"]),
                        &["run.sh", "lib.sh", "parts/one.sh"],
                    ),
                    (
                        run("sh", &["-c", "cd sub && ./x.sh"]),
                        &["sub/x.sh", "Makefile"],
                    ),
                    (
                        run("env", &["A=b", "PATH=node_modules/.bin", "lint"]),
                        &["node_modules/.bin/lint"],
                    ),
                    (
                        run("npx", &["lint"]),
                        &["node_modules/.bin/lint", "package.json"],
                    ),
                    (
                        run("python3", &["a.py", "data.csv"]),
                        &["a.py", "helper.py", "data.csv"],
                    ),
                    (
                        run("python3", &["-m", "pkg.tool"]),
                        &["pkg/tool.py", "pyproject.toml", "conftest.py"],
                    ),
                    (run("python3", &["-mhelper"]), &["helper.py"]),
                    (
                        run("make", &[]),
                        &["Makefile", "gen", "sub/x.sh", "GNUmakefile"],
                    ),
                    (run("make", &["-C", "sub"]), &["sub/Makefile"]),
                    (run("make", &["-Csub"]), &["sub/Makefile"]),
                    (run("make", &["--directory=sub"]), &["sub/Makefile"]),
                    (run("make", &["-flist"]), &["list"]),
                    (
                        run("npm", &["--prefix", "sub", "test"]),
                        &["sub/package.json"],
                    ),
                    (run("npm", &["test"]), &["package.json", "test.js"]),
                    (run("cargo", &["test"]), &["Cargo.toml", "build.rs"]),
                    (run("awk", &["-f", "list", "data.csv"]), &["list"]),
                    (
                        run("some-unknown-program", &["run.sh"]),
                        &["run.sh", "lib.sh"],
                    ),
                    (
                        ("exec.run", json!({"program": "make", "cwd": "sub"})),
                        &["sub/Makefile", "Makefile"],
                    ),
                    (
                        ("exec.start", json!({"program": "./run.sh"})),
                        &["run.sh", "lib.sh"],
                    ),
                    (shell("./run.sh"), &["run.sh", "lib.sh"]),
                    (shell("cd sub && ./x.sh"), &["sub/x.sh"]),
                    (shell("cat data.csv && sh list"), &["list", "data.csv"]),
                ] {
                    for file in files {
                        let workspace = project();
                        let before = preview(&workspace, tool, arguments.clone());
                        assert!(
                            matches!(before.basis, Basis::Content(_)),
                            "{tool} {arguments}"
                        );
                        assert_eq!(
                            preview(&workspace, tool, arguments.clone()),
                            before,
                            "{tool} {arguments}"
                        );
                        if workspace.contains(file) {
                            let named = before
                                .text()
                                .lines()
                                .any(|line| line.starts_with("code: ") && line.contains(file));
                            assert!(named, "{tool} {arguments} {file}: {}", before.text());
                        }
                        workspace.write(file, "other\n");
                        let after = preview(&workspace, tool, arguments.clone());
                        assert_ne!(after.basis, before.basis, "{tool} {arguments} {file}");
                    }
                }
            },
        ),
        trial(
            "a_file_of_data_that_a_command_takes_for_code_is_bound_however_it_is_named",
            || {
                let workspace = project();
                let absolute = workspace.path().canonicalize().unwrap().join("data.csv");
                workspace.write("package.json", r#"{"scripts": {"test": "node sub/test"}}"#);
                workspace.write("Makefile", "all:\n\tsub/x.sh\n");
                workspace.write("sub/x.sh", "#!/bin/sh\npython3 part.py\n");
                for ((tool, arguments), file) in [
                    (run("python3", &["my data.csv"]), "my data.csv"),
                    (run("python3", &[absolute.to_str().unwrap()]), "data.csv"),
                    (
                        ("exec.shell", json!({"script": "python3 < data.csv"})),
                        "data.csv",
                    ),
                    (run("npm", &["test"]), "sub/test.js"),
                    (run("make", &[]), "sub/part.py"),
                ] {
                    workspace.write(file, "old\n");
                    let before = preview(&workspace, tool, arguments.clone());
                    assert!(
                        matches!(before.basis, Basis::Content(_)),
                        "{tool} {arguments}"
                    );
                    workspace.write(file, "other\n");
                    assert_ne!(
                        preview(&workspace, tool, arguments.clone()).basis,
                        before.basis,
                        "{tool} {arguments}"
                    );
                }
            },
        ),
        trial(
            "an_approval_of_a_build_tool_outlives_a_change_of_what_it_builds",
            || {
                for (program, args) in [
                    ("cargo", &["test"] as &[&str]),
                    ("make", &["all"]),
                    ("npm", &["test"]),
                    ("python3", &["-m", "pytest"]),
                    ("echo", &["run"]),
                    ("cat", &["data.csv"]),
                    ("git", &["status"]),
                ] {
                    let (tool, arguments) = run(program, args);
                    let workspace = project();
                    let before = preview(&workspace, tool, arguments.clone());
                    for file in ["src/main.rs", "tests/it.rs", "data.csv", "pkg/tool.py"] {
                        workspace.write(file, "other\n");
                    }
                    assert_eq!(
                        preview(&workspace, tool, arguments).basis,
                        before.basis,
                        "{program} {args:?}"
                    );
                }
            },
        ),
        trial(
            "an_approval_of_an_interpreter_or_a_script_ends_when_any_code_changes",
            || {
                for (program, args) in [
                    ("python3", &["-m", "unittest"] as &[&str]),
                    ("python3", &["-m", "pkg"]),
                    ("python3", &["a.py"]),
                    ("node", &["--test"]),
                    ("node", &["."]),
                    ("perl", &["-I", "lib", "x.pl"]),
                    ("sh", &["run.sh"]),
                    ("./run.sh", &[]),
                    ("node_modules/.bin/lint", &[]),
                    ("./cargo", &[]),
                    ("env", &["A=b", "make"]),
                ] {
                    let (tool, arguments) = run(program, args);
                    for file in [
                        "deep/er/new.py",
                        "tests/it.rs",
                        "node_modules/x/lib",
                        "sub/tool.so",
                        "deep/.x.json",
                    ] {
                        let workspace = project();
                        let before = preview(&workspace, tool, arguments.clone());
                        workspace.write("results/out.csv", "1\n");
                        workspace.write(".git/HEAD", "");
                        let built = preview(&workspace, tool, arguments.clone());
                        workspace.write("results/out.csv", "3\n");
                        workspace.write("sub/page.html", "");
                        workspace.write(".git/index", "");
                        assert_ne!(
                            before.basis, built.basis,
                            "a new folder can shadow a module"
                        );
                        assert_eq!(
                            preview(&workspace, tool, arguments.clone()).basis,
                            built.basis,
                            "data"
                        );
                        workspace.write(file, "other\n");
                        assert_ne!(
                            preview(&workspace, tool, arguments.clone()).basis,
                            built.basis,
                            "{args:?} {file}"
                        );
                    }
                }
            },
        ),
        trial(
            "a_file_that_was_changed_back_in_time_and_length_ends_an_approval",
            || {
                let workspace = project();
                let (tool, arguments) = run("python3", &["-m", "unittest"]);
                let file = workspace.join("pkg/tool.py");
                let time = std::fs::metadata(&file).unwrap().modified().unwrap();
                let before = preview(&workspace, tool, arguments.clone());
                std::thread::sleep(std::time::Duration::from_millis(20));
                workspace.write("pkg/tool.py", "pkg/evil.py\n");
                std::fs::File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_modified(time)
                    .unwrap();
                assert_ne!(preview(&workspace, tool, arguments).basis, before.basis);
            },
        ),
        trial(
            "outputs_of_a_build_count_only_where_their_folder_has_no_tag",
            || {
                let workspace = project();
                let (tool, arguments) = run("./run.sh", &[]);
                workspace.write("target/CACHEDIR.TAG", "");
                let basis = || preview(&workspace, tool, arguments.clone());
                let before = basis();
                workspace.write("target/debug/app", "");
                assert_eq!(basis().basis, before.basis);
                workspace.write("dist/CACHEDIR.TAG", "");
                let before = basis();
                workspace.write("dist/app", "");
                assert_ne!(basis().basis, before.basis);
            },
        ),
        trial(
            "an_approval_of_a_build_tool_ends_when_a_file_changes_that_says_how_to_build",
            || {
                for (program, args, file) in [
                    ("make", &["all"] as &[&str], "deep/er/Makefile"),
                    ("make", &["all"], "deep/rules.mk"),
                    ("make", &["all"], "rules"),
                    ("make", &["all"], "helper"),
                    ("make", &["all"], "second"),
                    ("make", &["all"], "third"),
                    ("make", &["all"], "sub/fourth"),
                    ("cargo", &["test"], "crates/a/build.rs"),
                    ("npm", &["test"], "deep/jest.config.ts"),
                    ("pytest", &[], "deep/conftest.py"),
                    ("python3", &["-m", "pytest"], "deep/conftest.py"),
                    ("go", &["test"], "deep/gen.sh"),
                ] {
                    let (tool, arguments) = run(program, args);
                    let workspace = project();
                    workspace.write("Makefile", "include rules\n");
                    let rules = b"all: # \xE9\n\t@echo; sh helper\n\t/bin/sh second\n\t$(SHELL) third\n\tcd sub; zsh \\\n\t\tfourth\n";
                    workspace.write("rules", rules);
                    for name in ["helper", "second", "third", "sub/fourth"] {
                        workspace.write(name, "echo\n");
                    }
                    let before = preview(&workspace, tool, arguments.clone());
                    workspace.write("node_modules/x/Makefile", "");
                    workspace.write("deep/er/lib.rs", "");
                    assert_eq!(
                        preview(&workspace, tool, arguments.clone()).basis,
                        before.basis,
                        "{program}"
                    );
                    workspace.write(file, "other\n");
                    assert_ne!(
                        preview(&workspace, tool, arguments).basis,
                        before.basis,
                        "{program} {file}"
                    );
                }
            },
        ),
        trial(
            "code_that_is_not_known_before_it_runs_is_approved_for_one_call",
            || {
                for (program, args) in [
                    ("xargs", &["-a", "list", "sh"] as &[&str]),
                    ("find", &[".", "-name", "x", "-exec", "sh", "{}", ";"]),
                    ("run-parts", &["parts"]),
                    ("sh", &["-c", "cat list | xargs sh"]),
                    ("sh", &["-c", "for part in parts/*; do . $part; done"]),
                    ("bash", &["-c", "eval `cat list`"]),
                    ("env", &["A=b", "fd", "-x", "sh"]),
                    ("make", &["SHELL=$(cat list)"]),
                ] {
                    let (tool, arguments) = run(program, args);
                    let shown = preview(&project(), tool, arguments);
                    assert_eq!(shown.basis, Basis::Unknown, "{program} {args:?}");
                }
            },
        ),
        trial("code_in_too_many_files_is_not_known", || {
            let workspace = TempWorkspace::new();
            for number in 0..300 {
                workspace.write(format!("parts/{number}.sh"), "true\n");
            }
            workspace.write("run.sh", ". parts/*.sh\n");
            let (tool, arguments) = run("sh", &["run.sh"]);
            assert_eq!(preview(&workspace, tool, arguments).basis, Basis::Unknown);
        }),
        trial("large_scripts_are_searched_in_time", || {
            let workspace = TempWorkspace::new();
            let words: String = (0..40_000).map(|number| format!("w{number} ")).collect();
            for folder in 0..40 {
                workspace.write(format!("folder{folder}/a.py"), "");
            }
            let folders: String = (0..40).map(|folder| format!("folder{folder} ")).collect();
            workspace.write("run.sh", format!("{words}{folders}"));
            let (tool, arguments) = run("sh", &["run.sh"]);
            assert!(matches!(
                preview(&workspace, tool, arguments).basis,
                Basis::Content(_)
            ));
        }),
        trial("the_whole_input_and_script_are_part_of_the_preview", || {
            let lines: String = (0..40).map(|line| format!("line {line}\n")).collect();
            let input = ("exec.run", json!({"program": "sh", "stdin": lines}));
            let shell = ("exec.shell", json!({"script": "sh", "stdin": lines}));
            for (tool, arguments) in [input, shell] {
                let shown = preview(&TempWorkspace::new(), tool, arguments);
                for line in lines.lines() {
                    assert!(
                        shown.text().contains(&format!("  | {line}\n")),
                        "{line}: {}",
                        shown.text()
                    );
                }
            }
        }),
    ]
}
