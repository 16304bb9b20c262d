//! Removals of files by which programs run.

use serde_json::json;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::{Decision, ToolContext, ToolError};
use tools_fs::{Workspace, WorkspaceFiles as _};
use tools_testkit::RecordingApprover;

use crate::sensitive::{Bench, concern, put_repository};

#[tokio::test]
async fn the_removal_of_a_file_by_which_programs_run_asks_unless_a_clause_spells_it() {
    let clauses = ["*:*:**", "fs:destroy:**/.git/**", "fs:destroy:gone.md"];
    let bench = Bench::new(&[&clauses[..], &["fs:destroy:old/AGENTS.md"]].concat());
    let named = SensitivePath::new("/scripts/fsm", Sensitivity::RunsByItself, "of git").unwrap();
    let paths = SensitivePaths::default().with_paths([named]);
    let bench = Bench {
        host: bench.host.with_context(|cx| cx.with_sensitive_paths(paths)),
        ..bench
    };
    put_repository(&bench, "store");
    put_repository(&bench, "deep/in/store");
    for path in [
        ".git/HEAD",
        ".git/config",
        "sub/AGENTS.md",
        "old/AGENTS.md",
        ".envrc",
        "scripts/fsm",
        "scripts/other",
        "gone.md",
        ".unheard-of",
        "target/x/.envrc",
        "node_modules/.bin/x",
        ".venv/bin/activate",
        ".venv/pyvenv.cfg",
        "app/src/.npmrc",
        "Makefile",
        "box/build/pyvenv.cfg",
    ] {
        bench.put(path, "x");
    }
    let remove = async |path: &str| {
        bench
            .call("fs.remove", json!({"path": path, "recursive": true}))
            .await
    };
    for path in [
        "store/HEAD",
        "store/config",
        "store/objects",
        "store",
        "deep/in/store",
        ".git/HEAD",
        ".git/config",
        ".git",
        "sub/AGENTS.md",
        "sub",
        ".envrc",
        "scripts/fsm",
        "scripts",
        "Sub/../.ENVRC",
        "app/src",
        "old",
    ] {
        let asked = concern(remove(path).await);
        assert_eq!(
            asked.to_lowercase(),
            format!(
                "fs:destroy:{}",
                path.trim_start_matches("Sub/../").to_lowercase()
            )
        );
    }
    for (link, target, below) in [
        ("notes", "store", "HEAD"),
        ("ways", "scripts", "fsm"),
        ("here", ".", "scripts"),
    ] {
        std::os::unix::fs::symlink(target, bench.root().join(link)).unwrap();
        let path = format!("{link}/{below}");
        remove(&path).await.unwrap_err();
        assert!(bench.has(&path), "{path}");
    }
    let path = json!({"path": "store/HEAD"});
    bench.call("note.drop", path).await.unwrap_err();
    assert!(bench.has("store/HEAD") && bench.has(".git/config"));
    // Deeper files go with their folder, and outputs as they are.
    for path in [
        "old/AGENTS.md",
        "old",
        "scripts/other",
        "gone.md",
        ".unheard-of",
        "target",
        "node_modules",
        ".venv",
        "app",
        "Makefile",
        "box",
        "deep",
    ] {
        remove(path).await.unwrap();
        assert!(!bench.has(path), "{path}");
    }
    let approver = RecordingApprover::new(Decision::Allow);
    let bench = bench.approved_by(&approver);
    for path in ["store", ".git"] {
        let path = json!({"path": path, "recursive": true});
        bench.call("fs.remove", path).await.unwrap();
    }
    assert!(!bench.has("store") && !bench.has(".git") && approver.requests().len() == 2);
}

/// Removes a file through the workspace, like tools of other crates.
#[tools::tool(name = "note.drop", destroys = "fs:{path}", needs = Workspace)]
pub(crate) fn drop_note(
    cx: &ToolContext,
    /// The path.
    path: String,
) -> Result<(), ToolError> {
    cx.need::<Workspace>()?.remove(cx, &path)
}
