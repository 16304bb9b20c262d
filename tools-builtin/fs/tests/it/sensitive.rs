//! Writes to sensitive paths, with real files and a real git.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::{Catalog, Decision, RegisterError, ToolContext, ToolError, ToolErrorKind, ToolResult};
use tools_fs::{Workspace, WorkspaceFiles as _};
use tools_testkit::{RecordedApproval, RecordingApprover, TempWorkspace, TestHost};

pub(crate) struct Bench {
    pub(crate) files: TempWorkspace,
    pub(crate) host: TestHost,
}

/// Returns the only target of a request with its note.
fn described(request: &RecordedApproval) -> String {
    let ([_], [(target, path)]) = (&*request.targets, &*request.sensitive) else {
        panic!("{request:?}")
    };
    format!("{target} {}", path.describe(target.value()))
}

fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    tools_fs::register(catalog)?;
    catalog.submit(&[&SAVE_TOOL, &crate::removal::DROP_NOTE_TOOL])
}

impl Bench {
    pub(crate) fn new(clauses: &[&str]) -> Self {
        let files = TempWorkspace::new();
        let workspace = Workspace::open(files.path()).unwrap();
        let host = TestHost::new(register)
            .with_grant(clauses)
            .with_service(workspace);
        Self { files, host }
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.path()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        self.files.write(path, text);
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
        self.host.call(tool, arguments).await
    }

    async fn write(&self, path: &str) -> Result<ToolResult, ToolError> {
        self.call(
            "fs.write",
            json!({"path": path, "content": "x", "parents": true}),
        )
        .await
    }

    #[track_caller]
    fn unapproved(outcome: Result<ToolResult, ToolError>) -> Vec<String> {
        let error = outcome.unwrap_err();
        let ToolErrorKind::Unapproved { sensitive, .. } = error.kind() else {
            panic!("{error}")
        };
        for (target, path) in sensitive {
            let text = error.to_string();
            assert!(
                text.contains(target.value()) && text.contains(&path.note),
                "{text}"
            );
        }
        sensitive
            .iter()
            .map(|(target, _)| target.to_string())
            .collect()
    }

    pub(crate) fn approved_by(self, approver: &RecordingApprover) -> Self {
        Self {
            host: self.host.with_approver(approver.clone()),
            ..self
        }
    }
}

/// Runs git in a directory, without the configuration of the machine.
fn git(directory: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", directory);
    git.output().unwrap().status.success()
}

#[tokio::test]
async fn a_grant_for_the_data_of_git_covers_branches_of_any_name_and_no_settings() {
    let bench = Bench::new(&["fs:write:**", "fs:write:.git/**"]);
    for (path, is_data) in [
        (".git/refs/heads/hooks", true),
        (".git/modules/a/refs/remotes/origin/main", true),
        (".git/logs/refs/remotes/origin/config", true),
        (".git/objects/info/alternates", false),
        (".git/remotes/origin", false),
        (".git/modules/a/Hooks/post-commit", false),
    ] {
        let outcome = bench.write(path).await;
        if is_data {
            assert!(outcome.is_ok(), "{path}: {outcome:?}")
        } else {
            drop(Bench::unapproved(outcome))
        }
    }
}

#[tokio::test]
async fn a_command_gets_into_the_configuration_of_git_only_by_a_grant_that_names_it() {
    use std::os::unix::fs::PermissionsExt as _;

    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: there is no git here");
        return;
    }
    for (clauses, expected) in [
        (&["fs:write:**"][..], false),
        (&["fs:write:**", "fs:write:.git/**"], false),
        (&["fs:write:**", "fs:write:.git/config"], true),
    ] {
        let bench = Bench::new(clauses);
        assert!(git(bench.root(), &["init", "--quiet"]));
        let (hook, proof) = (bench.root().join("hook"), bench.root().join("proof"));
        std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", proof.display())).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {}\n",
            hook.display()
        );
        let outcome = bench
            .call(
                "fs.write",
                json!({"path": ".git/config", "content": config}),
            )
            .await;
        if !expected {
            Bench::unapproved(outcome);
        }
        assert!(git(bench.root(), &["status"]));
        assert_eq!(proof.exists(), expected, "{clauses:?}");
    }
}

#[tokio::test]
async fn a_folder_gets_into_a_folder_of_git_only_by_a_grant_that_names_it() {
    let clauses = [
        "fs:read:**",
        "fs:write:**",
        "fs:write:.git/**",
        "fs:destroy:**",
    ];
    for (to, named) in [
        (".git", "fs:write:.git"),
        (".git/modules", "fs:write:.git/modules"),
        (".git/rebase-merge", "fs:write:.git/rebase-merge"),
    ] {
        let bench = Bench::new(&clauses);
        bench.put("x/foo/config", "[core]\n\tfsmonitor = evil\n");
        let arguments = json!({"from": "x", "to": to});
        Bench::unapproved(bench.call("fs.move", arguments.clone()).await);
        assert!(bench.root().join("x/foo/config").exists());

        let bench = Bench::new(&[&clauses[..], &[named]].concat());
        bench.put("x/foo/ORIG", "data");
        if to != ".git" {
            bench.put(".git/HEAD", "ref: refs/heads/main");
        }
        bench.call("fs.move", arguments).await.unwrap();
        assert!(bench.root().join(to).join("foo/ORIG").exists());
    }
}

#[tokio::test]
async fn files_that_run_by_themselves_need_a_grant_that_names_them_in_every_tool() {
    let bench = Bench::new(&["*:*:**"]);
    bench.put("plain", "x");
    bench.put("sub/.envrc", "x");
    bench.put("dir/workflows/ci.yml", "x");
    for path in [
        ".envrc",
        "a/.git/config",
        ".github/workflows/ci.yml",
        ".vscode/tasks.json",
        "AGENTS.md",
        ".bashrc",
    ] {
        assert_eq!(
            Bench::unapproved(bench.write(path).await),
            [format!("fs:write:{path}")]
        );
        assert!(!bench.has(path.split('/').next().unwrap()), "{path}");
    }
    let edit = json!({"path": "sub/.envrc", "old": "x", "new": "y"});
    assert_eq!(
        Bench::unapproved(bench.call("fs.edit", edit).await),
        ["fs:write:sub/.envrc"]
    );
    for (from, to, needed) in [
        ("plain", ".envrc", "fs:write:.envrc"),
        ("sub/.envrc", "plain2", "fs:write:sub/.envrc"),
        ("dir", ".github", "fs:write:.github"),
        ("dir", "sub/.GIT", "fs:write:sub/.GIT"),
    ] {
        let outcome = bench.call("fs.move", json!({"from": from, "to": to})).await;
        assert_eq!(Bench::unapproved(outcome), [needed]);
        assert!(bench.has(from) && !bench.has(to), "{from} -> {to}");
    }
    bench
        .call("fs.read", json!({"path": "sub/.envrc"}))
        .await
        .unwrap();
    let bench = Bench::new(&["fs:write:**/.git/**", "fs:write:.envrc"]);
    for path in [".envrc", "a/.git/COMMIT_EDITMSG", ".git/info/exclude"] {
        bench.write(path).await.unwrap();
    }
    // The clause is for the data that git writes, not for what it runs.
    for path in ["a/.git/config", ".git/hooks/pre-commit", ".git/Hooks/x"] {
        Bench::unapproved(bench.write(path).await);
    }
    Bench::unapproved(
        Bench::new(&["fs:write:.envrc", "fs:write:**"])
            .write("sub/.envrc")
            .await,
    );
}

#[tokio::test]
async fn a_dot_file_that_no_list_has_needs_a_grant_that_names_it_in_every_tool() {
    let bench = Bench::new(&["*:*:**"]);
    bench.put("plain", "x");
    bench.put("sub/.unheard-of", "x");
    for path in [".unheard-of", "a/.unheard-of/b", ".env", ".gitignore/.x"] {
        assert_eq!(
            Bench::unapproved(bench.write(path).await),
            [format!("fs:write:{path}")]
        );
    }
    let edit = json!({"path": "sub/.unheard-of", "old": "x", "new": "y"});
    assert_eq!(
        Bench::unapproved(bench.call("fs.edit", edit).await),
        ["fs:write:sub/.unheard-of"]
    );
    let outcome = bench
        .call("fs.move", json!({"from": "plain", "to": ".unheard-of"}))
        .await;
    assert_eq!(Bench::unapproved(outcome), ["fs:write:.unheard-of"]);
    for path in [".gitignore", "sub/.gitkeep", ".editorconfig", ".cache/a"] {
        bench.write(path).await.unwrap();
    }
    bench
        .call("fs.read", json!({"path": "sub/.unheard-of"}))
        .await
        .unwrap();
    bench
        .call("fs.remove", json!({"path": "sub/.unheard-of"}))
        .await
        .unwrap();
    let bench = Bench::new(&["fs:write:**/.unheard-of/**"]);
    bench.write("a/.unheard-of/b").await.unwrap();
    Bench::unapproved(bench.write("a/.unheard-of/.other").await);
}

#[tokio::test]
async fn a_moved_directory_with_a_dot_file_needs_an_approval_of_the_directory() {
    let policy = || tools::Policy::by_effects();
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["*:*:**"]).approved_by(&approver);
    let bench = Bench {
        host: bench.host.with_context(|cx| cx.with_policy(policy())),
        ..bench
    };
    bench.put("project/.unheard-of", "");
    bench
        .call("fs.move", json!({"from": "project", "to": "moved"}))
        .await
        .unwrap();
    assert!(bench.has("moved/.unheard-of") && approver.requests().len() == 1);
    let bench = Bench::new(&["*:*:**"]);
    bench.put("project/.unheard-of", "");
    let outcome = bench
        .call("fs.move", json!({"from": "project", "to": "moved"}))
        .await;
    assert_eq!(Bench::unapproved(outcome), ["fs:write:project/.unheard-of"]);
}

pub(crate) fn concern(outcome: Result<ToolResult, ToolError>) -> String {
    let error = outcome.unwrap_err();
    let ToolErrorKind::Unapproved {
        concern: Some(concern),
        ..
    } = error.kind()
    else {
        panic!("{error}")
    };
    assert!(error.to_string().contains(&concern.reason), "{error}");
    concern.target.to_string()
}

#[tokio::test]
async fn a_new_script_in_the_root_asks_unless_a_clause_without_wildcards_names_it() {
    let bench = Bench::new(&["*:*:**", "fs:write:*.js"]);
    bench.put("old.config.js", "x");
    bench.put("dir/run", "#!/bin/sh\n");
    bench.put("dir/plain", "text");
    let write = async |path: &str, content: &str| {
        bench
            .call(
                "fs.write",
                json!({"path": path, "content": content, "parents": true}),
            )
            .await
    };
    for path in [
        "vite.config.js",
        "conftest.py",
        "x/../babelrc.mjs",
        "gunicorn.conf.py",
        "GIT.CMD",
    ] {
        assert!(
            concern(write(path, "x").await).starts_with("fs:write:"),
            "{path}"
        );
    }
    for script in ["#!/bin/sh\n", "\u{FEFF}#!/bin/sh\n"] {
        assert_eq!(concern(write("run", script).await), "fs:write:run");
    }
    for (from, to) in [("dir/run", "run"), ("dir/plain", "a.config.ts")] {
        assert_eq!(
            concern(bench.call("fs.move", json!({"from": from, "to": to})).await),
            format!("fs:write:{to}")
        );
        assert!(bench.has(from) && !bench.has(to));
    }
    for path in [
        ".venv/bin/python",
        "venv/bin/x",
        "vendor/bin/phpunit",
        "sub/venv/bin",
    ] {
        assert_eq!(concern(write(path, "x").await), format!("fs:write:{path}"));
    }
    for (path, content) in [
        ("bin/tool", "x"),
        ("venv/lib/x.py", "x"),
        ("old.config.js", "#!"),
        ("dir/vite.config.js", "x"),
        ("dir/run2", "#!/bin/sh\n"),
        ("main.py", "print()"),
        ("notes.md", "# text"),
    ] {
        write(path, content).await.unwrap();
    }
    bench
        .call("fs.move", json!({"from": "dir/plain", "to": "plain"}))
        .await
        .unwrap();

    let bench = Bench::new(&["fs:write:**", "fs:write:vite.config.js"]);
    bench.write("vite.config.js").await.unwrap();
    concern(bench.write("other.config.js").await);
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["fs:write:**"]).approved_by(&approver);
    bench.write("vite.config.js").await.unwrap();
    bench.write("vite.config.js").await.unwrap();
    let [request] = &approver.requests()[..] else {
        panic!("only the new file is asked about")
    };
    assert_eq!(
        (request.targets.len(), request.concerns.len()),
        (1, 1),
        "{request:?}"
    );
}

#[tokio::test]
async fn a_file_that_can_be_started_becomes_no_script_unasked() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::new(&["*:*:**"]);
    for (path, content, mode) in [
        ("run", "X!/bin/sh\n", 0o755),
        ("plain", "x", 0o644),
        ("script", "#!/bin/sh\n", 0o755),
        ("sub/run", "x", 0o755),
    ] {
        bench.put(path, content);
        std::fs::set_permissions(
            bench.root().join(path),
            std::fs::Permissions::from_mode(mode),
        )
        .unwrap();
    }
    std::os::unix::fs::symlink("run", bench.root().join("link")).unwrap();
    std::os::unix::fs::symlink(".", bench.root().join("here")).unwrap();
    let write = async |path: &str| {
        bench
            .call(
                "fs.write",
                json!({"path": path, "content": "#!/bin/sh\nid\n"}),
            )
            .await
    };
    let edit = async |new: &str| {
        bench
            .call("fs.edit", json!({"path": "run", "old": "X", "new": new}))
            .await
    };
    // A move takes the permission with it.
    for to in ["run2", "plain", "here/run2"] {
        let arguments = json!({"from": "sub/run", "to": to, "overwrite": true});
        bench.call("fs.move", arguments).await.unwrap_err();
    }
    let arguments = json!({"from": "sub/run", "to": "sub/run2"});
    bench.call("fs.move", arguments).await.unwrap();
    bench.put("sub/run", "x");
    assert_eq!(concern(write("run").await), "fs:write:run");
    assert_eq!(concern(edit("#").await), "fs:write:run");
    write("link").await.unwrap_err();
    edit("Y").await.unwrap();
    for path in ["plain", "script", "sub/run"] {
        write(path).await.unwrap();
    }
    bench
        .call("fs.write", json!({"path": "link", "content": "text"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn no_link_leads_to_a_new_script_in_the_root_unasked() {
    let bench = Bench::new(&["*:*:**"]);
    bench.put("dir/plain", "#!/bin/sh\n");
    std::os::unix::fs::symlink(".", bench.root().join("here")).unwrap();
    std::os::unix::fs::symlink("vite.config.js", bench.root().join("notes.md")).unwrap();
    for (tool, arguments) in [
        ("fs.write", json!({"path": "notes.md", "content": "x"})),
        (
            "fs.write",
            json!({"path": "here/vite.config.js", "content": "x"}),
        ),
        (
            "fs.write",
            json!({"path": "here/run", "content": "#!/bin/sh\n"}),
        ),
        ("fs.move", json!({"from": "dir/plain", "to": "here/run"})),
    ] {
        let error = bench.call(tool, arguments).await.unwrap_err();
        assert!(
            !bench.has("vite.config.js") && !bench.has("run") && bench.has("dir/plain"),
            "{error}"
        );
    }
    bench
        .call("fs.write", json!({"path": "here/plain.md", "content": "x"}))
        .await
        .unwrap();
}

/// Makes a repository that is no folder `.git`, as `git init --bare` and `git init --separate-git-dir` do.
pub(crate) fn put_repository(bench: &Bench, path: &str) {
    for (name, content) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", "[core]\n\tbare = true\n"),
        ("objects/info/a", ""),
        ("refs/a", ""),
    ] {
        bench.put(&format!("{path}/{name}"), content);
    }
}

#[tokio::test]
async fn a_part_of_a_repository_under_another_name_asks_unless_a_clause_without_wildcards_names_it()
{
    let bench = Bench::new(&[
        "*:*:**",
        "fs:write:sub/x.git/**",
        "fs:write:sub/x.git/hooks/post-update",
    ]);
    put_repository(&bench, "sub/x.git");
    bench.put("sub/x.git/main/.git", "gitdir: ../worktrees/main\n");
    bench.put("sub/x.git/rebase-merge/.git", "");
    bench.put("plan", "x");
    bench.put("config", "x");
    for path in [
        "config",
        "hooks/update",
        "Config",
        "info/attributes",
        "info/sparse-checkout",
        "objects/info/alternates",
        "commondir",
        "rebase-merge/git-rebase-todo",
        "sequencer/opts",
        "refs/heads/main",
        "notes",
        "other/notes",
    ] {
        let path = format!("sub/x.git/{path}");
        assert_eq!(
            concern(bench.write(&path).await),
            format!("fs:write:{path}")
        );
    }
    let edit = json!({"path": "sub/x.git/config", "old": "true", "new": "false"});
    assert_eq!(
        concern(bench.call("fs.edit", edit).await),
        "fs:write:sub/x.git/config"
    );
    for (from, to, asked) in [
        ("plan", "sub/x.git/hooks/update", "sub/x.git/hooks/update"),
        ("sub/x.git/config", "plan2", "sub/x.git/config"),
        ("sub/x.git", "x", "sub/x.git"),
    ] {
        let moved = bench.call("fs.move", json!({"from": from, "to": to})).await;
        assert_eq!(concern(moved), format!("fs:write:{asked}"));
    }
    for path in [
        "sub/x.git/hooks/post-update",
        "sub/x.git/main/src/config",
        "config",
        "sub/config",
        "sub/hooks/a",
    ] {
        bench.write(path).await.unwrap();
    }

    // One that takes its data from another one.
    bench.put("tree/HEAD", "");
    bench.put("tree/commondir", "../sub/x.git\n");
    concern(bench.write("tree/rebase-merge/git-rebase-todo").await);

    // A root that is one.
    let bench = Bench::new(&["*:*:**"]);
    put_repository(&bench, ".");
    bench.put("main/.git", "gitdir: ../worktrees/main\n");
    concern(bench.write("rebase-merge/git-rebase-todo").await);
    assert_eq!(
        concern(bench.write("hooks/update").await),
        "fs:write:hooks/update"
    );
    bench.write("main/config").await.unwrap();
}

#[tokio::test]
async fn no_link_and_no_tool_of_another_crate_leads_into_such_a_repository_unasked() {
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["*:*:**"]);
    put_repository(&bench, "store");
    std::os::unix::fs::symlink("store/hooks/update", bench.root().join("notes.md")).unwrap();
    std::os::unix::fs::symlink("store", bench.root().join("notes")).unwrap();
    for path in ["notes.md", "notes/config"] {
        bench.write(path).await.unwrap_err();
    }
    bench
        .call("note.save", json!({"path": "store/hooks/update"}))
        .await
        .unwrap_err();
    let bench = bench.approved_by(&approver);
    bench.write("notes/config").await.unwrap_err();
    assert!(!bench.has("store/hooks/update") && bench.files.read("store/config").contains("bare"));
    bench.write("store/config").await.unwrap();
    assert_eq!(bench.files.read("store/config"), "x");
}

/// Writes a file through the workspace, like tools of other crates.
#[tools::tool(name = "note.save", writes = "fs:notes/**", needs = Workspace)]
fn save(
    cx: &ToolContext,
    /// The path.
    path: String,
) -> Result<(), ToolError> {
    cx.need::<Workspace>()?.write_file(cx, &path, "x")
}

#[tokio::test]
async fn a_tool_of_another_crate_writes_no_such_file_either() {
    let bench = Bench::new(&["fs:write:**"]);
    bench
        .call("note.save", json!({"path": "notes/a"}))
        .await
        .unwrap();
    Bench::unapproved(bench.call("note.save", json!({"path": ".envrc"})).await);
    assert!(!bench.has(".envrc"));
}

#[tokio::test]
async fn sensitive_paths_in_a_moved_directory_count() {
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["*:*:**"]).approved_by(&approver);
    bench.put("project/.git/config", "");
    bench.put("inner/hooks/pre-commit", "");
    let outcome = bench
        .call("fs.move", json!({"from": "project", "to": "moved"}))
        .await;
    assert_eq!(Bench::unapproved(outcome), ["fs:write:project/.git/config"]);
    assert!(bench.has("project/.git/config") && !bench.has("moved"));
    assert!(
        approver.requests().is_empty(),
        "`project` itself is like any other directory"
    );
    bench
        .call("fs.move", json!({"from": "inner", "to": ".git"}))
        .await
        .unwrap();
    assert!(
        described(&approver.requests()[0]).starts_with("fs:write:.git a part of a git repository")
    );
    assert!(bench.has(".git/hooks/pre-commit"));
}

#[tokio::test]
async fn approval_of_a_directory_does_not_cover_its_sensitive_paths() {
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["fs:*:open/**"]).approved_by(&approver);
    bench.put("project/.git/config", "");
    bench.put("open/file", "");
    let outcome = bench
        .call("fs.move", json!({"from": "project", "to": "open/moved"}))
        .await;
    assert_eq!(Bench::unapproved(outcome), ["fs:write:project/.git/config"]);
    assert!(bench.has("project/.git/config"));
}

#[tokio::test]
async fn a_link_is_refused_by_the_path_that_it_leads_to_and_that_path_can_be_asked_about() {
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&["fs:*:**"]).approved_by(&approver);
    bench.put(".git/config", "old");
    std::os::unix::fs::symlink(".git/config", bench.root().join("harmless")).unwrap();
    std::os::unix::fs::symlink(".git", bench.root().join("dir")).unwrap();
    for (path, real) in [
        ("harmless", "fs:write:.git/config"),
        ("dir/hooks/x", "fs:write:.git/hooks/x"),
    ] {
        assert_eq!(Bench::unapproved(bench.write(path).await), [real]);
    }
    assert!(approver.requests().is_empty());
    bench.write(".git/config").await.unwrap();
    assert_eq!(approver.requests().len(), 1);
}

#[tokio::test]
async fn settings_are_written_and_destroyed_only_by_a_yes() {
    let clauses = ["fs:*:toolcrib.toml", "*:*:**"];
    let bench = Bench::new(&clauses);
    bench.put("toolcrib.toml", "x");
    bench.put("sub/Toolcrib.toml", "x");
    bench
        .call("fs.read", json!({"path": "toolcrib.toml"}))
        .await
        .unwrap();
    Bench::unapproved(bench.write("toolcrib.toml").await);
    Bench::unapproved(bench.write("new/toolcrib.toml").await);
    for (tool, arguments) in [
        (
            "fs.edit",
            json!({"path": "toolcrib.toml", "old": "x", "new": "y"}),
        ),
        (
            "fs.move",
            json!({"from": "toolcrib.toml", "to": "old.toml"}),
        ),
        ("fs.move", json!({"from": "sub", "to": "other"})),
        ("fs.remove", json!({"path": "toolcrib.toml"})),
        ("fs.remove", json!({"path": "sub", "recursive": true})),
    ] {
        Bench::unapproved(bench.call(tool, arguments).await);
    }
    assert!(bench.has("toolcrib.toml") && bench.has("sub/Toolcrib.toml") && !bench.has("new"));
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = Bench::new(&clauses).approved_by(&approver);
    for _ in 0..2 {
        bench.write("toolcrib.toml").await.unwrap();
    }
    bench
        .call("fs.remove", json!({"path": "toolcrib.toml"}))
        .await
        .unwrap();
    let requests = approver.requests();
    assert_eq!(requests.len(), 3);
    let described = described(&requests[0]);
    assert!(
        described.starts_with("fs:write:toolcrib.toml the settings of Toolcrib"),
        "{described}"
    );
}

#[tokio::test]
async fn a_host_adds_settings_of_its_own() {
    let bench = Bench::new(&["*:*:**"]);
    bench.put("conf/rules.toml", "x");
    let own = SensitivePath::new(
        "/conf/rules.toml",
        Sensitivity::Settings,
        "the rules of this session",
    )
    .unwrap();
    let paths = SensitivePaths::default().with_paths([own]);
    let bench = Bench {
        host: bench.host.with_context(|cx| cx.with_sensitive_paths(paths)),
        ..bench
    };
    for (tool, arguments) in [
        (
            "fs.write",
            json!({"path": "conf/rules.toml", "content": ""}),
        ),
        ("fs.move", json!({"from": "conf", "to": "away"})),
        ("fs.remove", json!({"path": "conf", "recursive": true})),
    ] {
        Bench::unapproved(bench.call(tool, arguments).await);
    }
    bench.write("conf/other.toml").await.unwrap();
    bench.write("sub/conf/rules.toml").await.unwrap();
    assert_eq!(
        std::fs::read_to_string(bench.root().join("conf/rules.toml")).unwrap(),
        "x"
    );
}

#[tokio::test]
async fn a_build_file_is_written_as_before_and_the_result_says_what_it_is() {
    let bench = Bench::new(&["*:*:**"]);
    bench.put("plain", "x");
    let message = bench.write("build.rs").await.unwrap().to_text();
    assert!(
        message.starts_with("created `build.rs`, 1 byte (a build script"),
        "{message}"
    );
    let edit = json!({"path": "build.rs", "old": "x", "new": "y"});
    let message = bench.call("fs.edit", edit).await.unwrap().to_text();
    assert!(
        message.contains("+y")
            && message.ends_with(
                "[edited `build.rs` (a build script, which cargo runs at the next build)]\n"
            )
    );
    let message = bench
        .call("fs.move", json!({"from": "plain", "to": "Makefile"}))
        .await
        .unwrap()
        .to_text();
    assert!(
        message.starts_with("moved `plain` to `Makefile` (a list of commands"),
        "{message}"
    );
}

#[tokio::test]
async fn the_readme_lists_the_table() {
    let readme = include_str!("../../README.md");
    let mut rows = Vec::<(&SensitivePath, Vec<String>)>::new();
    let paths = SensitivePaths::default();
    for path in paths.paths() {
        let pattern = format!("`{}`", path.pattern);
        match rows.last_mut() {
            Some((first, patterns)) if first.note == path.note => patterns.push(pattern),
            _ => rows.push((path, vec![pattern])),
        }
    }
    let rows = rows.into_iter().map(|(path, patterns)| {
        let kind = match path.sensitivity {
            Sensitivity::Settings => "settings",
            Sensitivity::RunsByItself => "runs by itself",
            _ => "build file",
        };
        format!("| {kind} | {} | {} |\n", patterns.join(", "), path.note)
    });
    let expected: String = rows.collect();
    let begin = readme
        .find("| settings |")
        .expect("the table of sensitive paths is missing");
    let end = readme[begin..].find("\n\n").unwrap() + begin + 1;
    assert_eq!(
        &readme[begin..end],
        expected,
        "put this table into the README"
    );
}
