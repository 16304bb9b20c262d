//! `fs.remove`: removes an entry.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, Progress, ToolContext, ToolError, tool};
use tools_workspace::{HiddenSnapshot, Workspace};

use crate::counted::counted;
use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::Slot;
use crate::subtree::{check_not_hidden, visit_all};

/// The number of removed entries between two progress reports.
const REPORT_INTERVAL: u64 = 100;

/// The most time that is reserved before the deadline for reporting a partial removal. A tenth of the remaining time if that is less.
const MAX_RESERVE: Duration = Duration::from_millis(500);

/// Permanently removes a file, a link or an empty directory of the workspace. Removes a link itself, not its target. A directory with
/// entries is removed only with `recursive`. Read-only files are removed like others.
#[tool(
    name = "fs.remove",
    title = "Remove a file or directory",
    destroys = "fs:{path}",
    needs = Workspace,
    preview = crate::planned_removal::preview,
    concerns = crate::removal_question::of_remove,
    tags = ["files"],
    example({"path": "old.txt"}),
    example({"path": "build", "recursive": true}),
)]
pub(crate) fn remove(
    cx: &ToolContext,
    /// The entry to remove, relative to the workspace root.
    path: RelativePath,
    /// Remove a directory with its contents.
    #[serde(default)]
    recursive: bool,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    Ok(remove_entry(Files::new(cx, &workspace), &path, recursive)?)
}

/// Removes an entry, with its contents if `recursive`, and returns a description of the change.
pub(crate) fn remove_entry(
    files: Files<'_>,
    path: &RelativePath,
    recursive: bool,
) -> Result<String, FsError> {
    // Locked before the checks, so that no other call of this workspace invalidates them.
    let _changing = files.workspace.lock_changes();
    let hidden = files.workspace.hidden_snapshot();
    let (slot, kind) = Slot::find_removable(files, &hidden, path, &[Access::Destroy])?;
    files.cx.check_cancelled()?;
    let mut entries = 0;
    if kind == Kind::Directory && recursive {
        let dir = slot.open_dir()?;
        // Everything is checked before anything is removed.
        let total = visit_all(files.cx, &dir, &slot.path, &mut |dir, name, path, _| {
            check_not_hidden(&hidden, dir, name, path, &slot.path)?;
            check_grant(files.cx, path)?;
            Ok(ControlFlow::Continue(()))
        });
        // An error names an entry below the directory.
        let removed =
            total.and_then(|total| remove_contents(files.cx, &hidden, &dir, &slot.path, total));
        entries = removed.inspect_err(|_| files.show_content(&slot.path))?;
    }
    remove_one(&slot.parent, &slot.name, &slot.path, kind)
        .map_err(|error| with_removed(error, &slot.path, entries))?;
    Ok(match entries {
        0 => format!("removed `{}`, {kind}", slot.path),
        _ => format!(
            "removed `{}`, {kind}, with its contents: {}",
            slot.path,
            counted(entries, "entry", "entries")
        ),
    })
}

/// Removes everything below a directory, which has `total` entries, and returns the number removed.
///
/// Reports progress, because a cancelled call has no result.
fn remove_contents(
    cx: &ToolContext,
    hidden: &HiddenSnapshot<'_>,
    dir: &Dir,
    path: &RelativePath,
    total: u64,
) -> Result<u64, FsError> {
    // Stops before the deadline: the pipeline's timeout error would not say how much was removed.
    let stop = cx.deadline().map(|deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        deadline - MAX_RESERVE.min(left / 10)
    });
    let mut entries = 0;
    let outcome = visit_all(cx, dir, path, &mut |dir, name, entry, kind| {
        if stop.is_some_and(|stop| Instant::now() >= stop) {
            return Err(FsError::OutOfTime);
        }
        check_not_hidden(hidden, dir, name, entry, path)?;
        check_grant(cx, entry)?;
        remove_one(dir, name, entry, kind)?;
        entries += 1;
        if entries % REPORT_INTERVAL == 0 {
            cx.report(Progress::new(entries as f64, total as f64));
        }
        Ok(ControlFlow::Continue(()))
    });
    outcome.map_err(|error| with_removed(error, path, entries))
}

/// Adds the number of entries already removed to an error.
fn with_removed(error: FsError, path: &RelativePath, entries: u64) -> FsError {
    match entries {
        0 => error,
        _ => error.with_done(format!(
            "entries removed below `{path}`: {entries}; the others remain"
        )),
    }
}

fn check_grant(cx: &ToolContext, path: &RelativePath) -> Result<(), FsError> {
    Ok(cx.require(Access::Destroy, "fs", path.as_str())?)
}

/// Removes an entry without following links. The system returns an error if the entry has become a directory or is no longer one.
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
    use tools::Host;

    /// Runs a function when 100 entries are removed.
    struct At<F>(F);

    impl<F: Fn(&ToolContext) + Send + Sync> ProgressSink for At<F> {
        fn report(&self, cx: &ToolContext, progress: Progress) {
            assert_eq!(progress.total, Some(150.0));
            if progress.done == Some(100.0) {
                self.0(cx);
            }
        }
    }

    /// Removes 150 files in `dir` and runs `at` after 100 of them. Returns the names of the remaining files and the message.
    fn interrupted(
        at: impl Fn(&ToolContext) + Send + Sync + 'static,
        time: Option<Duration>,
    ) -> (Vec<String>, String) {
        let fixture = Fixture::with_files(&[("dir/HEAD", "")]);
        for number in 1..150 {
            fixture.write(&format!("dir/{number}"), "");
        }
        let workspace = Workspace::open(fixture.root()).unwrap();
        let late = fixture.root().join("dir/late");
        let sink = At(move |cx: &ToolContext| {
            std::fs::write(&late, "").unwrap();
            at(cx);
        });
        let cx = Host::new()
            .with_grant(tools::Grant::all())
            .with_progress(Arc::new(sink));
        let cx = time.map_or(cx.clone(), |time| cx.with_deadline(Instant::now() + time));
        let outcome = remove_entry(
            Files::new(&cx, &workspace),
            &"dir".to_owned().try_into().unwrap(),
            true,
        );
        (fixture.names("dir"), outcome.unwrap_err().to_string())
    }

    #[test]
    fn a_removal_that_fails_on_the_way_says_how_far_it_came() {
        let (left, message) = interrupted(|_| {}, None);
        assert!(
            message.contains("`dir` is not empty") && left == ["late"],
            "{message}"
        );
        let done = "before that, entries removed below `dir`: 150; the others remain";
        assert!(message.ends_with(done), "{message}");
    }

    #[test]
    fn a_removal_that_is_cancelled_says_how_far_it_came() {
        let (left, message) = interrupted(|cx| cx.cancellation().cancel(), None);
        assert!(
            message.contains("was cancelled; before that, entries removed below `dir`: 100;"),
            "{message}"
        );
        assert!(
            left.len() == 51 && left.contains(&"HEAD".to_owned()),
            "{left:?}"
        );
    }

    #[test]
    fn a_removal_stops_before_its_time_is_up_and_says_how_far_it_came() {
        let wait = |cx: &ToolContext| {
            let deadline = cx.deadline().unwrap();
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        };
        let (left, message) = interrupted(wait, Some(Duration::from_secs(5)));
        assert!(
            message.contains("call the tool again to continue; before that"),
            "{message}"
        );
        assert!(
            message.contains("entries removed below `dir`: 100;") && left.len() == 51,
            "{message}"
        );
    }

    struct Yes;

    impl tools::Approver for Yes {
        fn approve<'a>(&'a self, _: tools::Approval<'a>) -> tools::context::ApprovalFuture<'a> {
            Box::pin(async { tools::Decision::Allow })
        }
    }

    #[tokio::test]
    async fn a_yes_to_a_directory_is_a_yes_to_what_is_in_it() {
        let fixture = Fixture::new().granted("fs:read:**");
        fixture.write("dir/b/c", "");
        fixture.write("other", "");
        let cx = fixture.cx().clone().with_approver(Arc::new(Yes));
        let fixture = fixture.with_context(cx);
        fixture
            .text("fs.remove", json!({"path": "dir", "recursive": true}))
            .await;
        assert_eq!(fixture.names("."), ["other"]);
    }

    #[tokio::test]
    async fn a_read_only_mark_keeps_no_file_and_the_system_decides_by_the_directory() {
        let fixture =
            Fixture::with_files(&["marked", "in/marked", "dir/a", "dir/b"].map(|path| (path, "")));
        for (path, mode) in [("marked", 0o444), ("in/marked", 0o444), ("dir", 0o555)] {
            fixture.set_mode(path, mode);
        }
        fixture.text("fs.remove", json!({"path": "marked"})).await;
        fixture
            .text("fs.remove", json!({"path": "in", "recursive": true}))
            .await;
        // Only root may do it.
        let may = std::fs::remove_file(fixture.root().join("dir/a")).is_ok();
        assert_eq!(
            fixture
                .call("fs.remove", json!({"path": "dir/b"}))
                .await
                .is_ok(),
            may
        );
        fixture.set_mode("dir", 0o755);
        assert_eq!(fixture.names("."), ["dir"]);
    }

    #[tokio::test]
    async fn files_and_empty_directories_are_removed() {
        let fixture = Fixture::with_files(&[("dir/file", "")]);
        assert_eq!(
            fixture.text("fs.remove", json!({"path": "dir/file"})).await,
            "removed `dir/file`, a file"
        );
        assert_eq!(
            fixture.text("fs.remove", json!({"path": "dir/"})).await,
            "removed `dir`, a directory"
        );
        fixture
            .fails("fs.remove", json!({"path": "dir"}), "there is no `dir`")
            .await;
    }

    #[tokio::test]
    async fn a_directory_with_entries_goes_only_when_asked_for() {
        let fixture = Fixture::with_files(&[("dir/a/b", ""), ("dir/c", "")]);
        fixture
            .fails(
                "fs.remove",
                json!({"path": "dir"}),
                "`dir` is not empty; remove its entries first",
            )
            .await;
        let message = fixture
            .text("fs.remove", json!({"path": "dir", "recursive": true}))
            .await;
        assert_eq!(
            message,
            "removed `dir`, a directory, with its contents: 3 entries"
        );
        assert_eq!(fixture.names("."), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_directory_that_is_nested_too_deep_stays_whole() {
        let fixture = Fixture::new();
        fixture.write(&("d/".repeat(110) + "file"), "");
        fixture.write("d/a", "");
        let arguments = json!({"path": "d", "recursive": true});
        fixture
            .fails(
                "fs.remove",
                arguments,
                "is nested more than 100 directories deep; start at a directory further down",
            )
            .await;
        assert_eq!(fixture.names("d"), ["a", "d"]);
        let note = fixture
            .value("fs.glob", json!({"pattern": "**/file"}))
            .await["note"]
            .clone();
        assert_eq!(note, "entries nested too deep to be entered: 1");
    }

    #[tokio::test]
    async fn the_root_stays() {
        let fixture = Fixture::with_files(&[("dir/file", "")]);
        for path in [".", "dir/..", "./"] {
            let arguments = json!({"path": path, "recursive": true});
            fixture
                .fails(
                    "fs.remove",
                    arguments,
                    "the workspace root cannot be moved, replaced or removed",
                )
                .await;
        }
        assert_eq!(fixture.names("dir"), ["file"]);
    }

    #[tokio::test]
    async fn a_partly_granted_directory_stays_whole() {
        let fixture = Fixture::with_files(&["dir/a/x", "dir/b", "dir/z"].map(|path| (path, "")));
        let fixture =
            fixture.granted_all(&["fs:destroy:dir", "fs:destroy:dir/a/**", "fs:destroy:dir/b"]);
        fixture
            .denies("fs.remove", json!({"path": "dir", "recursive": true}))
            .await;
        assert_eq!(
            (fixture.names("dir"), fixture.names("dir/a")),
            (
                vec!["a".into(), "b".into(), "z".into()],
                vec!["x".to_owned()]
            )
        );
    }

    #[tokio::test]
    async fn of_a_link_the_destination_stays() {
        let fixture = Fixture::with_files(&[("dir/file", "")]);
        fixture.link("..", "dir/up");
        fixture.link("dir", "to_dir");
        fixture.link("../outside", "out");
        fixture.link("gone", "dangling");
        fixture.pipe("dir/pipe");
        for link in ["to_dir/", "out", "dangling"] {
            let message = fixture
                .text("fs.remove", json!({"path": link, "recursive": true}))
                .await;
            assert!(message.ends_with("a link"), "{message}");
        }
        assert_eq!(fixture.names("dir"), ["file", "pipe", "up"]);
        fixture
            .text("fs.remove", json!({"path": "dir", "recursive": true}))
            .await;
        assert_eq!(fixture.names("."), Vec::<String>::new());
    }

    #[tokio::test]
    async fn through_a_link_the_grant_for_its_destination_counts() {
        let fixture = Fixture::with_files(&[("secret/file", "")]);
        fixture.link("../secret", "dir_link");
        fixture.link("secret", "link");
        let fixture = fixture.granted("fs:destroy:link/**");
        fixture
            .denies("fs.remove", json!({"path": "link/file"}))
            .await;
        fixture.text("fs.remove", json!({"path": "link"})).await;
        assert_eq!(fixture.names("secret"), ["file"]);
    }
}
