//! `fs.remove`: an entry less.

use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, ToolContext, ToolError, tool};

use crate::Workspace;
use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::{Missing, Slot, Way};
use crate::subtree::visit_all;

/// Removes a file, an empty directory, or a link of the workspace, for good. Of a link, what it leads to stays. A directory
/// with something in it is removed only with `recursive`.
#[tool(
    name = "fs.remove",
    title = "Remove a file or directory",
    destroys = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    example({"path": "old.txt"}),
    example({"path": "build", "recursive": true}),
)]
pub(crate) fn remove(
    cx: &ToolContext,
    /// What to remove, relative to the workspace root.
    path: RelativePath,
    /// Whether to remove a directory with everything in it.
    #[serde(default)]
    recursive: bool,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    removed(cx, &workspace, &path, recursive).map_err(|error| error.told(cx))
}

fn removed(cx: &ToolContext, workspace: &Workspace, path: &RelativePath, recursive: bool) -> Result<String, FsError> {
    // Held from the first look on, so that no other call of this workspace changes what was checked.
    let _changing = workspace.changing();
    let way = Way { accesses: &[Access::Destroy], follow: false, missing: Missing::Refused };
    let slot = Slot::find(cx, workspace, path, way)?;
    if slot.path.is_root() {
        return Err(FsError::Root);
    }
    let kind = slot.kind.unwrap_or(Kind::Unknown);
    cx.check_cancelled()?;
    let mut entries = 0;
    if kind == Kind::Directory && recursive {
        let dir = slot.parent.open_dir_nofollow(&slot.name).map_err(FsError::io(&slot.path))?;
        // All of it is checked before any of it is removed.
        visit_all(cx, &dir, &slot.path, &mut |_, _, path, _| allowed(cx, path))?;
        entries = visit_all(cx, &dir, &slot.path, &mut |dir, name, path, kind| {
            allowed(cx, path)?;
            remove_one(dir, name, path, kind)
        })?;
    }
    remove_one(&slot.parent, &slot.name, &slot.path, kind)?;
    Ok(match entries {
        0 => format!("removed `{}`, {kind}", slot.path),
        _ => format!("removed `{}`, {kind}, with everything in it: {entries} entries", slot.path),
    })
}

fn allowed(cx: &ToolContext, path: &RelativePath) -> Result<(), FsError> {
    Ok(cx.require(Access::Destroy, "fs", path.as_str())?)
}

/// Removes what a name stands for; a link is removed itself. If it has become a directory, or ceased to be one, the system
/// refuses.
fn remove_one(dir: &Dir, name: &str, path: &RelativePath, kind: Kind) -> Result<(), FsError> {
    let removed = match kind {
        Kind::Directory => dir.remove_dir(name),
        _ => dir.remove_file_or_symlink(name),
    };
    removed.map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => FsError::NotEmpty { path: path.clone() },
        _ => FsError::change("remove", path)(error),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ToolError;

    use crate::fixture::Fixture;

    #[tokio::test]
    async fn files_and_empty_directories_are_removed() {
        let fixture = Fixture::new();
        fixture.write("dir/file", "");
        assert_eq!(fixture.text("fs.remove", json!({"path": "dir/file"})).await, "removed `dir/file`, a file");
        assert_eq!(fixture.text("fs.remove", json!({"path": "dir/"})).await, "removed `dir`, a directory");
        fixture.fails("fs.remove", json!({"path": "dir"}), "there is no `dir`").await;
    }

    #[tokio::test]
    async fn a_directory_with_entries_goes_only_when_asked_for() {
        let fixture = Fixture::new();
        fixture.write("dir/a/b", "");
        fixture.write("dir/c", "");
        fixture.fails("fs.remove", json!({"path": "dir"}), "`dir` has entries; remove them first").await;
        let told = fixture.text("fs.remove", json!({"path": "dir", "recursive": true})).await;
        assert_eq!(told, "removed `dir`, a directory, with everything in it: 3 entries");
        assert_eq!(fixture.names("."), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_directory_that_is_nested_too_deep_stays_whole() {
        let fixture = Fixture::new();
        fixture.write(&("d/".repeat(110) + "file"), "");
        fixture.write("d/a", "");
        let arguments = json!({"path": "d", "recursive": true});
        fixture.fails("fs.remove", arguments, "are nested deeper than 100; begin at a deeper one").await;
        assert_eq!(fixture.names("d"), ["a", "d"]);
        let note = fixture.value("fs.glob", json!({"pattern": "**/file"})).await["note"].clone();
        assert_eq!(note, "entries nested too deep to be entered: 1");
    }

    #[tokio::test]
    async fn the_root_stays() {
        let fixture = Fixture::new();
        fixture.write("dir/file", "");
        for path in [".", "dir/..", "./"] {
            let arguments = json!({"path": path, "recursive": true});
            fixture.fails("fs.remove", arguments, "the root of the workspace stays").await;
        }
        assert_eq!(fixture.names("dir"), ["file"]);
    }

    #[tokio::test]
    async fn what_is_partly_granted_stays_whole() {
        let fixture = Fixture::new();
        for path in ["dir/a/x", "dir/b", "dir/z"] {
            fixture.write(path, "");
        }
        let fixture = fixture.granted_all(&["fs:destroy:dir", "fs:destroy:dir/a/**", "fs:destroy:dir/b"]);
        let denied = fixture.call("fs.remove", json!({"path": "dir", "recursive": true})).await.unwrap_err();
        assert!(matches!(denied, ToolError::PermissionDenied { .. }), "{denied}");
        assert_eq!(
            (fixture.names("dir"), fixture.names("dir/a")),
            (vec!["a".into(), "b".into(), "z".into()], vec!["x".to_owned()])
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn of_a_link_the_destination_stays() {
        let fixture = Fixture::new();
        fixture.write("dir/file", "");
        fixture.link("..", "dir/up");
        fixture.link("dir", "to_dir");
        fixture.link("../outside", "out");
        fixture.link("gone", "dangling");
        fixture.pipe("dir/pipe");
        for link in ["to_dir/", "out", "dangling"] {
            let told = fixture.text("fs.remove", json!({"path": link, "recursive": true})).await;
            assert!(told.ends_with("a link"), "{told}");
        }
        assert_eq!(fixture.names("dir"), ["file", "pipe", "up"]);
        fixture.text("fs.remove", json!({"path": "dir", "recursive": true})).await;
        assert_eq!(fixture.names("."), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn through_a_link_the_grant_for_its_destination_counts() {
        let fixture = Fixture::new();
        fixture.write("secret/file", "");
        fixture.link("../secret", "dir_link");
        fixture.link("secret", "link");
        let fixture = fixture.granted("fs:destroy:link/**");
        let denied = fixture.call("fs.remove", json!({"path": "link/file"})).await.unwrap_err();
        assert!(matches!(denied, ToolError::PermissionDenied { .. }), "{denied}");
        fixture.text("fs.remove", json!({"path": "link"})).await;
        assert_eq!(fixture.names("secret"), ["file"]);
    }
}
