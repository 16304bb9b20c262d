//! Tools of other crates that use a workspace, with a grant for their own targets only.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::json;
use tempfile::TempDir;
use tools::{ErrorCode, Grant, Host, ToolContext, ToolError, tool};
use tools_fs::{Kind, Workspace, WorkspaceFiles as _};
use tools_testkit::{TempWorkspace, TestHost};

/// Saves a note.
#[tool(name = "note.save", writes = "fs:notes/{name}.md", idempotent, needs = Workspace)]
fn save(
    cx: &ToolContext,
    /// The name of the note.
    name: String,
    /// Its text.
    text: String,
) -> Result<String, ToolError> {
    cx.need::<Workspace>()?
        .write_file(cx, &format!("notes/{name}.md"), text)?;
    Ok("saved".to_owned())
}

/// Saves a note to another path than declared.
#[tool(name = "note.stray", writes = "fs:notes/{name}.md", idempotent, needs = Workspace)]
fn stray(
    cx: &ToolContext,
    /// The name of the note.
    name: String,
) -> Result<String, ToolError> {
    cx.need::<Workspace>()?
        .write_file(cx, &format!("{name}.md"), "stray")?;
    Ok("saved".to_owned())
}

fn session(grant: &str) -> (TempWorkspace, TestHost) {
    let files = TempWorkspace::new();
    fs::create_dir(files.join("root")).unwrap();
    let workspace = Workspace::open(files.join("root")).unwrap();
    let host = TestHost::new(&[&SAVE_TOOL, &STRAY_TOOL])
        .with_grant(&[grant])
        .with_service(workspace);
    (files, host)
}

#[tokio::test]
async fn a_plugin_writes_its_target_without_fs_write() {
    let (files, host) = session("fs:write:notes/**");
    for name in ["a", "sub/b", "./c", "d/../e"] {
        host.call("note.save", json!({"name": name, "text": name}))
            .await
            .unwrap();
    }
    assert_eq!(
        files.files(),
        ["a.md", "c.md", "e.md", "sub/b.md"].map(|name| format!("root/notes/{name}"))
    );
    assert!(!host.catalog().contains("fs.write"));
}

#[tokio::test]
async fn no_argument_leads_a_template_out_of_its_directory() {
    let (files, host) = session("fs:write:notes/**");
    for name in [
        "../x",
        "../../x",
        "../../../x",
        "a/../../x",
        "a/../../../x",
        "/x",
        "..\\x",
        "../notes/../x",
        "\0",
        "..",
    ] {
        let refused = host
            .call("note.save", json!({"name": name, "text": ""}))
            .await;
        // `...md` is a dot file, which the grant does not name.
        assert!(refused.is_err(), "{name}");
    }
    assert!(files.files().is_empty());
    // Even with everything granted.
    let (files, host) = session("fs:write:**");
    for name in ["../../x", "../../../x", "a/../../../x", "/x"] {
        assert!(
            host.call("note.save", json!({"name": name, "text": ""}))
                .await
                .is_err(),
            "{name}"
        );
    }
    assert!(files.files().is_empty());
}

#[tokio::test]
async fn a_plugin_that_writes_elsewhere_than_it_declares_is_held_to_the_grant() {
    let (files, host) = session("fs:write:notes/**");
    let refused = host.call("note.stray", json!({"name": "a"})).await;
    assert_eq!(refused.unwrap_err().code(), ErrorCode::PermissionDenied);
    assert!(files.files().is_empty());
}

const SECRET: &str = "canary";

/// A workspace with a granted directory `notes` and an ungranted directory `private`. `notes` has links to `private` and to a
/// directory outside the workspace.
struct Notes {
    dir: TempDir,
    workspace: Workspace,
    cx: Host,
}

impl Notes {
    fn new(grant: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for path in ["root/notes/sub", "root/private", "outside"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        for path in [
            "root/notes/a",
            "root/notes/sub/b",
            "root/private/file",
            "outside/file",
        ] {
            fs::write(dir.path().join(path), SECRET).unwrap();
        }
        for (link, target) in [
            ("out", "../../outside"),
            ("file_out", "../../outside/file"),
            ("new_out", "../../outside/new"),
            ("aside", "../private"),
            ("file_aside", "../private/file"),
            ("new_aside", "../private/new"),
            ("inside", "sub"),
        ] {
            symlink(target, dir.path().join("root/notes").join(link)).unwrap();
        }
        let workspace = Workspace::open(dir.path().join("root")).unwrap();
        Self {
            dir,
            workspace,
            cx: Host::new().with_grant(Grant::parse(grant).unwrap()),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path)
    }

    /// Returns all files with their content.
    fn state(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        fn gather(dir: &Path, state: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let file_type = entry.file_type().unwrap();
                state.insert(
                    entry.path(),
                    file_type.is_file().then(|| fs::read(entry.path()).unwrap()),
                );
                if file_type.is_dir() {
                    gather(&entry.path(), state);
                }
            }
        }
        let mut state = BTreeMap::new();
        gather(self.dir.path(), &mut state);
        state
    }

    fn write(&self, path: &str, content: &str) -> Result<(), ToolError> {
        self.workspace.write_file(&self.cx, path, content)
    }
}

#[test]
fn granted_paths_are_read_written_listed_moved_and_removed() {
    let notes = Notes::new(&["fs:*:notes/**"]);
    let Notes { workspace, cx, .. } = &notes;
    notes.write("notes/./new/deep/a", "one").unwrap();
    notes.write("notes/new/deep/a", "two").unwrap();
    notes.write("notes/inside/c", "through a link").unwrap();
    let read = |path| io::read_to_string(workspace.open_file(cx, path).unwrap()).unwrap();
    assert_eq!(
        (read("notes/new/deep/a"), read("notes/sub/c")),
        ("two".into(), "through a link".into())
    );
    workspace.create_dir(cx, "notes/made/deep").unwrap();
    workspace.create_dir(cx, "notes/made/deep").unwrap();
    workspace
        .rename(cx, "notes/new/deep", "notes/made/deep/er")
        .unwrap();
    let made = workspace.entries(cx, "notes/made/deep/er").unwrap();
    assert_eq!(
        made.iter()
            .map(|entry| (&*entry.name, entry.kind, entry.size))
            .collect::<Vec<_>>(),
        [("a", Kind::File, Some(3))]
    );
    workspace.remove(cx, "notes/new").unwrap();
    workspace.remove(cx, "notes/inside").unwrap();
    assert!(
        workspace.remove(cx, "notes/made").is_err(),
        "it has entries"
    );
    workspace.remove_all(cx, "notes/made").unwrap();
    assert!(!notes.path("notes/made").exists() && notes.path("notes/sub/c").exists());
    assert!(
        workspace.rename(cx, "notes/a", "notes/sub/c").is_err(),
        "there is one already"
    );
    assert!(workspace.create_dir(cx, "notes/a").is_err(), "it is a file");
    assert!(notes.write("notes/sub", "").is_err(), "it is a directory");
}

#[test]
fn a_missing_file_is_told_from_one_that_cannot_be_read() {
    let notes = Notes::new(&["fs:*:notes/**"]);
    let Notes { workspace, cx, .. } = &notes;
    symlink("nowhere", notes.path("notes/dangling")).unwrap();
    for path in ["notes/free", "notes/no/such/file", "notes/dangling"] {
        assert_eq!(workspace.read_file(cx, path), Ok(None), "{path}");
    }
    assert_eq!(
        workspace.read_file(cx, "notes/inside/b"),
        Ok(Some(SECRET.into()))
    );
    fs::File::create(notes.path("notes/large"))
        .unwrap()
        .set_len((8 << 20) + 1)
        .unwrap();
    for path in ["notes/sub", "notes/a/b", "notes/large"] {
        assert_eq!(
            workspace.read_file(cx, path).unwrap_err().code(),
            ErrorCode::ExecutionFailed,
            "{path}"
        );
    }
}

#[test]
fn a_hidden_file_is_a_missing_one() {
    let notes = Notes::new(&["fs:*:notes/**"]);
    let (cx, before) = (&notes.cx, notes.state());
    let workspace = Workspace::open(notes.path("."))
        .unwrap()
        .with_hidden([notes.path("notes/a")])
        .unwrap();
    assert_eq!(workspace.read_file(cx, "notes/a"), Ok(None));
    assert!(workspace.write_file(cx, "notes/a", "x").is_err());
    assert_eq!(notes.state(), before);
}

#[test]
fn nothing_else_is_touched_than_what_is_granted() {
    let notes = Notes::new(&["fs:*:notes/**"]);
    let Notes { workspace, cx, .. } = &notes;
    let before = notes.state();
    for path in [
        "private/file",
        "private",
        "new",
        "..",
        ".",
        "../outside/file",
        "notes/../private/file",
        "notes/../../outside/file",
        "notes/sub/../../private/new",
        "/etc/hostname",
        "notes/out/file",
        "notes/out/new",
        "notes/aside/file",
        "notes/aside/new",
        "notes/..\\private",
    ] {
        for (call, outcome) in [
            ("write_file", notes.write(path, "x")),
            ("read_file", workspace.read_file(cx, path).map(drop)),
            ("create_dir", workspace.create_dir(cx, path)),
            ("open_file", workspace.open_file(cx, path).map(drop)),
            ("entries", workspace.entries(cx, path).map(drop)),
            ("remove", workspace.remove(cx, path)),
            ("remove_all", workspace.remove_all(cx, path)),
            ("rename from", workspace.rename(cx, path, "notes/free")),
            ("rename to", workspace.rename(cx, "notes/a", path)),
        ] {
            assert!(outcome.is_err(), "{call} {path}");
        }
    }
    // Some methods follow a link in the last component, others use the link itself.
    for path in [
        "notes/file_out",
        "notes/file_aside",
        "notes/new_out",
        "notes/new_aside",
    ] {
        assert!(notes.write(path, "x").is_err(), "{path}");
        assert!(workspace.create_dir(cx, path).is_err(), "{path}");
        assert!(workspace.open_file(cx, path).is_err(), "{path}");
        assert!(workspace.read_file(cx, path).is_err(), "{path}");
    }
    for path in [
        "private/file",
        "new",
        "notes/aside/file",
        "notes/file_aside",
        "notes/new_aside",
    ] {
        assert!(
            matches!(&notes.write(path, "x"), Err(error) if error.code() == ErrorCode::PermissionDenied),
            "{path}"
        );
    }
    assert_eq!(notes.state(), before);
}

#[test]
fn each_access_is_granted_by_itself() {
    for access in ["read", "write", "destroy"] {
        let notes = Notes::new(&[&format!("fs:{access}:notes/**")]);
        let Notes { workspace, cx, .. } = &notes;
        let rename = workspace.rename(cx, "notes/a", "notes/free");
        assert_eq!(rename.unwrap_err().code(), ErrorCode::PermissionDenied);
        for (needed, outcome) in [
            ("write", notes.write("notes/new", "x")),
            ("write", workspace.create_dir(cx, "notes/made/deep")),
            ("read", workspace.read_file(cx, "notes/a").map(drop)),
            ("read", workspace.open_file(cx, "notes/a").map(drop)),
            ("read", workspace.entries(cx, "notes").map(drop)),
            ("destroy", workspace.remove(cx, "notes/a")),
            ("destroy", workspace.remove_all(cx, "notes/sub")),
        ] {
            let is_denied =
                matches!(&outcome, Err(error) if error.code() == ErrorCode::PermissionDenied);
            assert_eq!(
                (outcome.is_ok(), is_denied),
                (needed == access, needed != access),
                "{needed} {outcome:?}"
            );
        }
    }
}

#[test]
fn a_directory_is_removed_whole_only_if_all_of_it_is_granted() {
    let notes = Notes::new(&["fs:destroy:notes", "fs:destroy:notes/a"]);
    let before = notes.state();
    let denied = notes.workspace.remove_all(&notes.cx, "notes");
    assert_eq!(denied.unwrap_err().code(), ErrorCode::PermissionDenied);
    assert_eq!(notes.state(), before);
}

/// Unlike `fs.write`, `write_file` replaces a file of any bytes.
#[test]
fn a_file_is_replaced_as_by_fs_write() {
    let notes = Notes::new(&["fs:write:notes/**"]);
    fs::hard_link(notes.path("notes/a"), notes.path("notes/other")).unwrap();
    fs::set_permissions(notes.path("notes/a"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::read(notes.path("notes/other")).unwrap();
    notes.write("notes/a", "new").unwrap();
    assert_eq!(
        fs::read(notes.path("notes/other")).unwrap(),
        before,
        "the other name keeps its file"
    );
    assert_eq!(
        fs::metadata(notes.path("notes/a"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o640
    );
    fs::set_permissions(notes.path("notes/a"), fs::Permissions::from_mode(0o440)).unwrap();
    assert!(
        notes.write("notes/a", "newer").is_err(),
        "a read-only file is not replaced"
    );
    assert!(
        notes
            .write("notes/.toolcrib-0123456789abcdef.tmp", "")
            .is_err(),
        "the name of a temporary file is refused"
    );
    notes
        .workspace
        .write_file(&notes.cx, "notes/latin", b"caf\xE9")
        .unwrap();
    notes
        .workspace
        .write_file(&notes.cx, "notes/latin", b"caf\xE9s")
        .unwrap();
    assert_eq!(fs::read(notes.path("notes/latin")).unwrap(), b"caf\xE9s");
}
