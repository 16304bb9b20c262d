//! `fs.move`: moves or renames an entry.

use std::io;
use std::ops::ControlFlow;

use cap_std::fs::{Dir, MetadataExt};
use tools::{Access, ToolContext, ToolError, tool};
use tools_workspace::{HiddenSnapshot, Workspace};

use crate::diff::note;
use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::new_script;
use crate::path::RelativePath;
use crate::planned_move::{is_sensitive, preview};
use crate::rename::rename_new;
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::subtree::{check_not_hidden, visit_all};

/// Moves or renames a file, a link, or a directory with its contents in the workspace. `to` is the complete new path, not a
/// directory to move into. Overwrites a file or link only if `overwrite` is set, and never a directory. Read-only files are moved
/// and overwritten like others.
#[tool(
    name = "fs.move",
    title = "Move or rename a file or directory",
    // Moving a file to a readable path would reveal its content.
    reads = "fs:{from}",
    writes = ["fs:{from}", "fs:{to}"],
    // An entry at `to` is known only at run time.
    destroys = "fs:{to}",
    needs = Workspace,
    preview = preview,
    concerns = new_script::of_move,
    tags = ["files"],
    example({"from": "draft.md", "to": "notes/final.md"}),
    example({"from": "new.json", "to": "data.json", "overwrite": true}),
)]
pub(crate) fn relocate(
    cx: &ToolContext,
    /// The entry to move, relative to the workspace root.
    from: RelativePath,
    /// The new path, relative to the workspace root.
    to: RelativePath,
    /// Replace a file or link that exists at `to`.
    #[serde(default)]
    overwrite: bool,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let files = Files::new(cx, &workspace);
    Ok(move_entry(files, &from, &to, overwrite)?)
}

/// The accesses that `from` needs.
pub(crate) const FROM: &[Access] = &[Access::Read, Access::Write];
/// The accesses that `to` needs.
pub(crate) const TO: &[Access] = &[Access::Write, Access::Destroy];

/// Moves an entry and returns a description of the change.
pub(crate) fn move_entry(
    files: Files<'_>,
    from: &RelativePath,
    to: &RelativePath,
    overwrite: bool,
) -> Result<String, FsError> {
    // Locked before the checks, so that no other call of this workspace invalidates them.
    let _changing = files.workspace.lock_changes();
    let options = FindOptions::of_entry(FROM, IfMissing::Fail);
    let from = Slot::find(files, from, options)?;
    let requested = to;
    let options = FindOptions::of_entry(TO, IfMissing::AllowLast);
    let to = Slot::find(files, to, options)?;
    if from.path.is_root() || to.path.is_root() {
        return Err(FsError::Root);
    }
    if to.path.as_str().starts_with(&format!("{}/", from.path)) {
        return Err(FsError::IntoItself {
            from: from.path,
            to: to.path,
        });
    }
    let is_directory = from.kind == Some(Kind::Directory);
    let hidden = files.workspace.hidden_snapshot();
    // Below a directory, `check_all` looks at each entry.
    if !is_directory && hidden.has_hidden_below(from.path.as_str()) {
        return Err(FsError::LeadsToHidden { path: from.path });
    }
    if hidden.has_hidden_below(to.path.as_str()) {
        return Err(FsError::LeadsToHidden { path: to.path });
    }
    match to.kind {
        None => new_script::check_link(files.workspace, requested, &to, || {
            new_script::may_start(files.workspace, &from.path)
        })?,
        Some(kind)
            if overwrite && kind != Kind::Directory && !is_directory && from.path != to.path => {}
        Some(kind) => {
            let advice = match kind {
                Kind::Directory => "give the complete new path below it, or an unused path",
                _ => {
                    "choose another path, or set `overwrite` to replace a file or link with a file or link"
                }
            };
            return Err(FsError::Taken {
                path: to.path,
                kind,
                advice,
            });
        }
    }
    if is_directory {
        files.note_move(&from.path, &to.path)?;
        // An error names an entry below it.
        check_all(files, &hidden, &from, &to).inspect_err(|_| files.show_content(&from.path))?;
    } else {
        check_names(files, (&from.parent, &from.name), &from.path, &to.path)?;
    }
    if to.kind.is_some() && is_same_file(&from, &to) {
        // The system call would do nothing and report success.
        return Err(FsError::SameFile {
            from: from.path,
            to: to.path,
        });
    }
    files.cx.check_cancelled()?;
    let renamed = match to.kind {
        None => rename_new(&from.parent, &from.name, &to.parent, &to.name),
        Some(_) => from.parent.rename(&from.name, &to.parent, &to.name),
    };
    match renamed {
        Ok(()) => {
            let note = note(files.cx, &to.path);
            Ok(format!("moved `{}` to `{}`{note}", from.path, to.path))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(FsError::Changed { path: to.path })
        }
        Err(error) => Err(FsError::change("move", &from.path)(error)),
    }
}

/// Returns true if both entries are names of the same file.
fn is_same_file(from: &Slot, to: &Slot) -> bool {
    use cap_std::fs::MetadataExt;

    let [from, to] = [from, to].map(|slot| slot.parent.symlink_metadata(&slot.name));
    from.is_ok_and(|from| to.is_ok_and(|to| (from.dev(), from.ino()) == (to.dev(), to.ino())))
}

/// Checks that the grant covers everything below a directory, at the old path and at the new one.
fn check_all(
    files: Files<'_>,
    hidden: &HiddenSnapshot<'_>,
    from: &Slot,
    to: &Slot,
) -> Result<(), FsError> {
    let dir = from.open_dir()?;
    visit_all(files.cx, &dir, &from.path, &mut |dir, name, path, _| {
        check_not_hidden(hidden, dir, name, path, &from.path)?;
        for access in FROM {
            files.require(*access, path)?;
        }
        let there = format!("{}/{}", to.path, path.below(&from.path));
        files.cx.require(Access::Write, "fs", &there)?;
        let there = there
            .try_into()
            .map_err(|_| FsError::InvalidName { path: path.clone() })?;
        check_names(files, (dir, name), path, &there)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}

/// Checks that a file has no other name if it runs by itself at its new path alone. Whoever may write that name would write the file.
fn check_names(
    files: Files<'_>,
    (dir, name): (&Dir, &str),
    from: &RelativePath,
    to: &RelativePath,
) -> Result<(), FsError> {
    let is_sensitive = |path| is_sensitive(files, path);
    let metadata = dir.symlink_metadata(name);
    let has_others = metadata.is_ok_and(|file| file.is_file() && file.nlink() > 1);
    if has_others && is_sensitive(to) && !is_sensitive(from) {
        return Err(FsError::OtherName { path: from.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fixture::Fixture;

    fn arguments(from: &str, to: &str) -> Value {
        json!({"from": from, "to": to})
    }

    #[tokio::test]
    async fn a_move_between_two_names_of_one_file_is_refused() {
        let fixture = Fixture::with_files(&[("a", "text")]);
        std::fs::hard_link(fixture.root().join("a"), fixture.root().join("b")).unwrap();
        fixture
            .fails(
                "fs.move",
                json!({"from": "a", "to": "b", "overwrite": true}),
                "two names of the same file",
            )
            .await;
    }

    #[tokio::test]
    async fn no_file_with_another_name_becomes_one_that_runs_by_itself() {
        let clauses = [
            "*:*:**",
            "fs:write:.envrc",
            "fs:write:.vscode/**",
            "fs:write:.idea/**",
        ];
        let fixture =
            Fixture::with_files(&[("a", "text"), ("dir/tasks.json", "text")]).granted_all(&clauses);
        let link = |from: &str, to: &str| {
            std::fs::hard_link(fixture.root().join(from), fixture.root().join(to)).unwrap();
        };
        link("a", "b");
        link("dir/tasks.json", "c");
        let refusal = "has another name";
        for (from, to) in [("a", ".envrc"), ("dir", ".vscode")] {
            fixture.fails("fs.move", arguments(from, to), refusal).await;
        }
        fixture.text("fs.move", arguments("a", "d")).await;
        std::fs::remove_file(fixture.root().join("c")).unwrap();
        fixture.text("fs.move", arguments("dir", ".vscode")).await;
        link(".vscode/tasks.json", "c");
        fixture.text("fs.move", arguments(".vscode", ".idea")).await;
    }

    #[tokio::test]
    async fn files_and_directories_are_moved() {
        let fixture = Fixture::with_files(&[("a/b/file", "text")]);
        let message = fixture
            .text("fs.move", arguments("a/b/file", "a/new"))
            .await;
        assert_eq!(
            (&*message, &*fixture.read("a/new")),
            ("moved `a/b/file` to `a/new`", "text")
        );
        fixture.text("fs.move", arguments("a", "c")).await;
        assert_eq!(
            (fixture.names("."), fixture.names("c")),
            (vec!["c".to_owned()], vec!["b".into(), "new".into()])
        );
    }

    #[tokio::test]
    async fn existing_files_are_overwritten_only_if_requested() {
        let fixture = Fixture::with_files(&[("a", "a"), ("b", "b"), ("dir/x", "")]);
        fixture
            .fails(
                "fs.move",
                arguments("a", "b"),
                "`b` already exists and is a file",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("a", "dir"),
                "give the complete new path below it",
            )
            .await;
        let overwrite = |from: &str, to: &str| json!({"from": from, "to": to, "overwrite": true});
        fixture.text("fs.move", overwrite("a", "b")).await;
        assert_eq!(
            (fixture.read("b"), fixture.names(".")),
            ("a".to_owned(), vec!["b".into(), "dir".into()])
        );
        for (from, to) in [("b", "dir"), ("dir", "b"), ("b", "b")] {
            fixture
                .fails("fs.move", overwrite(from, to), "already")
                .await;
        }
        assert_eq!(fixture.read("b"), "a");
    }

    #[tokio::test]
    async fn a_read_only_mark_keeps_no_file_and_the_system_decides_by_the_directory() {
        let fixture = Fixture::new();
        for file in ["a", "b", "dir/a", "dir/b"] {
            fixture.write(file, file);
        }
        for (path, mode) in [("a", 0o444), ("b", 0o444), ("dir", 0o555)] {
            fixture.set_mode(path, mode);
        }
        fixture
            .text(
                "fs.move",
                json!({"from": "a", "to": "b", "overwrite": true}),
            )
            .await;
        assert_eq!(fixture.read("b"), "a");
        fixture.text("fs.move", arguments("b", "c")).await;
        assert_eq!(fixture.mode("c"), 0o444);
        // Only root may do it.
        let may =
            std::fs::rename(fixture.root().join("dir/a"), fixture.root().join("dir/x")).is_ok();
        assert_eq!(
            fixture
                .call("fs.move", arguments("dir/b", "dir/y"))
                .await
                .is_ok(),
            may
        );
        fixture.set_mode("dir", 0o755);
    }

    #[tokio::test]
    async fn a_move_to_an_overlong_name_is_refused() {
        let fixture = Fixture::with_files(&[("a", "")]);
        let long = arguments("a", &"é".repeat(150));
        fixture
            .fails(
                "fs.move",
                long,
                "…` has 300 bytes, more than the file system allows",
            )
            .await;
        assert_eq!(fixture.names("."), ["a"]);
    }

    #[tokio::test]
    async fn unusable_moves_are_refused() {
        let fixture = Fixture::with_files(&[("dir/x", "")]);
        fixture
            .fails("fs.move", arguments("gone", "b"), "there is no `gone`")
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("dir/x", "no/x"),
                "there is no directory `no`",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("dir", "dir/y"),
                "a directory cannot be moved into itself",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments(".", "y"),
                "the workspace root cannot be moved, replaced or removed",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("dir", "."),
                "the workspace root cannot be moved, replaced or removed",
            )
            .await;
        assert_eq!(fixture.names("dir"), ["x"]);
    }

    #[tokio::test]
    async fn moving_a_directory_needs_a_grant_for_its_contents() {
        let fixture = Fixture::with_files(&[("dir/secret", "")]);
        let clauses = ["fs:*:open/**", "fs:*:dir", "fs:write:dir/**"];
        let fixture = fixture.granted_all(&clauses);
        fixture.denies("fs.move", arguments("dir", "open")).await;
        fixture
            .denies("fs.move", arguments("dir/secret", "open"))
            .await;
        assert_eq!(fixture.names("dir"), ["secret"]);
    }

    #[tokio::test]
    async fn links_are_moved_and_replaced_themselves() {
        let fixture = Fixture::with_files(&[("dir/file", "text")])
            .granted_all(&["*:*:**", "fs:write:still_out"]);
        fixture.link("dir", "to_dir");
        fixture.link("../outside", "out");
        fixture.text("fs.move", arguments("out", "still_out")).await;
        assert!(fixture.root().join("still_out").is_symlink());
        fixture
            .fails(
                "fs.move",
                arguments("dir/file", "out/file"),
                "there is no directory `out`",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("dir/file", "still_out/file"),
                "leads out of the workspace",
            )
            .await;
        fixture
            .fails(
                "fs.move",
                arguments("still_out/file", "file"),
                "leads out of the workspace",
            )
            .await;
        fixture
            .text("fs.move", arguments("to_dir/file", "to_dir/new"))
            .await;
        fixture
            .text(
                "fs.move",
                json!({"from": "dir/new", "to": "still_out", "overwrite": true}),
            )
            .await;
        assert_eq!(fixture.read("still_out"), "text");
    }
}
