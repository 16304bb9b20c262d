//! `fs.remove`: an entry less.

use std::io;
use std::time::{Duration, Instant};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, Progress, ToolContext, ToolError, tool};

use crate::Workspace;
use crate::error::FsError;
use crate::hidden::Sight;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::{Missing, Slot, Way};
use crate::subtree::{check_seen, visit_all};

/// How many entries are removed from one report of progress to the next.
const REPORTED: u64 = 100;

/// How much of a call's time is kept to tell what was done in the rest of it: this, or a tenth of it if that is less.
const MAX_LAST_WORDS: Duration = Duration::from_millis(500);

/// Removes a file, an empty directory, or a link of the workspace, for good. Of a link, what it leads to stays. A directory
/// with something in it is removed only with `recursive`. That a file is marked as read-only does not keep it.
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
    Ok(removed(cx, &workspace, &path, recursive)?)
}

/// Removes an entry, and everything below it with `recursive`, and tells what was done.
pub(crate) fn removed(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    recursive: bool,
) -> Result<String, FsError> {
    // Held from the first look on, so that no other call of this workspace changes what was checked.
    let _changing = workspace.changing();
    let way = Way { accesses: &[Access::Destroy], follow: false, missing: Missing::Refused };
    let slot = Slot::find(cx, workspace, path, way)?;
    if slot.path.is_root() {
        return Err(FsError::Root);
    }
    let kind = slot.kind.unwrap_or(Kind::Unknown);
    let sight = workspace.sight();
    if kind != Kind::Directory && sight.is_above(&slot.path) {
        return Err(FsError::LeadsToHidden { path: slot.path });
    }
    cx.check_cancelled()?;
    let mut entries = 0;
    if kind == Kind::Directory && recursive {
        let dir = slot.parent.open_dir_nofollow(&slot.name).map_err(FsError::io(&slot.path))?;
        // All of it is checked before any of it is removed.
        let total = visit_all(cx, &dir, &slot.path, &mut |dir, name, path, _| {
            check_seen(&sight, dir, name, path, &slot.path)?;
            allowed(cx, path)
        })?;
        entries = emptied(cx, &sight, &dir, &slot.path, total)?;
    }
    remove_one(&slot.parent, &slot.name, &slot.path, kind).map_err(|error| partly(error, &slot.path, entries))?;
    Ok(match entries {
        0 => format!("removed `{}`, {kind}", slot.path),
        _ => format!("removed `{}`, {kind}, with everything in it: {entries} entries", slot.path),
    })
}

/// Removes everything below a directory, and tells on the way how far it is: whoever takes the call back gets no result.
/// Gives the number of entries, `total` being how many there were.
fn emptied(cx: &ToolContext, sight: &Sight<'_>, dir: &Dir, path: &RelativePath, total: u64) -> Result<u64, FsError> {
    // The counter's own word for a call that took too long would not say what was done.
    let stop = cx.deadline().map(|deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        deadline - MAX_LAST_WORDS.min(left / 10)
    });
    let mut entries = 0;
    let emptied = visit_all(cx, dir, path, &mut |dir, name, entry, kind| {
        if stop.is_some_and(|stop| Instant::now() >= stop) {
            return Err(FsError::OutOfTime);
        }
        check_seen(sight, dir, name, entry, path)?;
        allowed(cx, entry)?;
        remove_one(dir, name, entry, kind)?;
        entries += 1;
        if entries % REPORTED == 0 {
            cx.report(Progress::new(entries as f64, total as f64));
        }
        Ok(())
    });
    emptied.map_err(|error| partly(error, path, entries))
}

/// An error, and how many entries below a directory are gone all the same.
fn partly(error: FsError, path: &RelativePath, entries: u64) -> FsError {
    match entries {
        0 => error,
        _ => error.after(format!("entries below `{path}` that were removed: {entries}; the others are still there")),
    }
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
    use std::sync::Arc;

    use serde_json::json;
    use tools::ProgressSink;

    use super::*;
    use crate::fixture::Fixture;

    /// Something that happens at the first report of progress.
    struct At<F>(F);

    impl<F: Fn(&ToolContext) + Send + Sync> ProgressSink for At<F> {
        fn report(&self, cx: &ToolContext, progress: Progress) {
            assert_eq!(progress.total, Some(150.0));
            if progress.done == Some(100.0) {
                self.0(cx);
            }
        }
    }

    /// What is left of 150 files in `dir`, and what was said, when something happens after 100 of them were removed.
    fn interrupted(at: impl Fn(&ToolContext) + Send + Sync + 'static, time: Option<Duration>) -> (usize, String) {
        let fixture = Fixture::new();
        for number in 0..150 {
            fixture.write(&format!("dir/{number}"), "");
        }
        let workspace = Workspace::open(fixture.root()).unwrap();
        let late = fixture.root().join("dir/late");
        let sink = At(move |cx: &ToolContext| {
            std::fs::write(&late, "").unwrap();
            at(cx);
        });
        let cx = ToolContext::new().with_grant(tools::Grant::all()).with_progress(Arc::new(sink));
        let cx = time.map_or(cx.clone(), |time| cx.with_deadline(Instant::now() + time));
        let outcome = removed(&cx, &workspace, &"dir".to_owned().try_into().unwrap(), true);
        (fixture.names("dir").len(), outcome.unwrap_err().to_string())
    }

    #[test]
    fn a_removal_that_fails_on_the_way_says_how_far_it_came() {
        let (left, told) = interrupted(|_| {}, None);
        assert!(told.contains("`dir` has entries") && left == 1, "{told}");
        let done = "before that, entries below `dir` that were removed: 150; the others are still there";
        assert!(told.ends_with(done), "{told}");
    }

    #[test]
    fn a_removal_that_is_taken_back_says_how_far_it_came() {
        let (left, told) = interrupted(|cx| cx.cancellation().cancel(), None);
        assert!(told.contains("was cancelled; before that, entries below `dir` that were removed: 100;"), "{told}");
        assert_eq!(left, 51);
    }

    #[test]
    fn a_removal_stops_before_its_time_is_up_and_says_how_far_it_came() {
        let wait = |cx: &ToolContext| {
            let deadline = cx.deadline().unwrap();
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        };
        let (left, told) = interrupted(wait, Some(Duration::from_secs(5)));
        assert!(told.contains("call the tool again to go on; before that"), "{told}");
        assert!(told.contains("that were removed: 100;") && left == 51, "{told}");
    }

    #[cfg(unix)]
    struct Yes;

    impl tools::Approver for Yes {
        fn approve<'a>(&'a self, _: tools::Approval<'a>) -> tools::ApprovalFuture<'a> {
            Box::pin(async { tools::Decision::Allow })
        }
    }

    #[tokio::test]
    async fn a_yes_to_a_directory_is_a_yes_to_what_is_in_it() {
        let fixture = Fixture::new().granted("fs:read:**");
        fixture.write("dir/b/c", "");
        fixture.write("other", "");
        let cx = fixture.cx().clone().with_approver(Arc::new(Yes));
        let fixture = fixture.with(cx);
        fixture.text("fs.remove", json!({"path": "dir", "recursive": true})).await;
        assert_eq!(fixture.names("."), ["other"]);
    }

    #[tokio::test]
    async fn a_read_only_mark_keeps_no_file_and_the_system_decides_by_the_directory() {
        let fixture = Fixture::of(&["marked", "in/marked", "dir/a", "dir/b"].map(|path| (path, "")));
        for (path, mode) in [("marked", 0o444), ("in/marked", 0o444), ("dir", 0o555)] {
            fixture.set_mode(path, mode);
        }
        fixture.text("fs.remove", json!({"path": "marked"})).await;
        fixture.text("fs.remove", json!({"path": "in", "recursive": true})).await;
        // Root may do it, others may not.
        let may = std::fs::remove_file(fixture.root().join("dir/a")).is_ok();
        assert_eq!(fixture.call("fs.remove", json!({"path": "dir/b"})).await.is_ok(), may);
        fixture.set_mode("dir", 0o755);
        assert_eq!(fixture.names("."), ["dir"]);
    }

    #[tokio::test]
    async fn files_and_empty_directories_are_removed() {
        let fixture = Fixture::of(&[("dir/file", "")]);
        assert_eq!(fixture.text("fs.remove", json!({"path": "dir/file"})).await, "removed `dir/file`, a file");
        assert_eq!(fixture.text("fs.remove", json!({"path": "dir/"})).await, "removed `dir`, a directory");
        fixture.fails("fs.remove", json!({"path": "dir"}), "there is no `dir`").await;
    }

    #[tokio::test]
    async fn a_directory_with_entries_goes_only_when_asked_for() {
        let fixture = Fixture::of(&[("dir/a/b", ""), ("dir/c", "")]);
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
        let fixture = Fixture::of(&[("dir/file", "")]);
        for path in [".", "dir/..", "./"] {
            let arguments = json!({"path": path, "recursive": true});
            fixture.fails("fs.remove", arguments, "the root of the workspace stays").await;
        }
        assert_eq!(fixture.names("dir"), ["file"]);
    }

    #[tokio::test]
    async fn what_is_partly_granted_stays_whole() {
        let fixture = Fixture::of(&["dir/a/x", "dir/b", "dir/z"].map(|path| (path, "")));
        let fixture = fixture.granted_all(&["fs:destroy:dir", "fs:destroy:dir/a/**", "fs:destroy:dir/b"]);
        fixture.denies("fs.remove", json!({"path": "dir", "recursive": true})).await;
        assert_eq!(
            (fixture.names("dir"), fixture.names("dir/a")),
            (vec!["a".into(), "b".into(), "z".into()], vec!["x".to_owned()])
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn of_a_link_the_destination_stays() {
        let fixture = Fixture::of(&[("dir/file", "")]);
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
        let fixture = Fixture::of(&[("secret/file", "")]);
        fixture.link("../secret", "dir_link");
        fixture.link("secret", "link");
        let fixture = fixture.granted("fs:destroy:link/**");
        fixture.denies("fs.remove", json!({"path": "link/file"})).await;
        fixture.text("fs.remove", json!({"path": "link"})).await;
        assert_eq!(fixture.names("secret"), ["file"]);
    }
}
