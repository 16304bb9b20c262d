//! The preview of `fs.remove`: the number and size of the contents that it would remove.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use tools::{Access, Preview, ToolContext, ToolError};
use tools_workspace::{HiddenSnapshot, Workspace, is_output};

use crate::counted::counted;
use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::removal_question::is_listed;
use crate::slot::Slot;
use crate::subtree::{check_not_hidden, visit_all};

/// The maximum number of entries that a preview counts.
const MAX_COUNTED: u64 = 10_000;

/// The maximum number of entries that a preview names because they run or configure programs by themselves.
const MAX_NAMED: usize = 5;

/// The time before its deadline at which a preview stops counting.
const COUNT_RESERVE: Duration = Duration::from_millis(200);

/// Describes the entry that a call would remove, with the number and size of its contents.
pub(crate) fn preview(
    cx: &ToolContext,
    path: RelativePath,
    recursive: bool,
) -> Result<Preview, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    cx.require(Access::Read, "fs", path.as_str())?;
    let files = Files::new(cx, &workspace);
    Ok(planned_removal(files, &path, recursive)?)
}

fn planned_removal(
    files: Files<'_>,
    path: &RelativePath,
    recursive: bool,
) -> Result<Preview, FsError> {
    let hidden = files.workspace.hidden_snapshot();
    let (slot, kind) = Slot::find_removable(files, &hidden, path, &[Access::Read])?;
    let removes = format!("removes `{}`, {kind}", slot.path);
    if kind == Kind::File {
        let size = file_size(&slot.parent, &slot.name, &slot.path)?;
        let size = counted(size, "byte", "bytes");
        return Ok(Preview::summary(format!("{removes} of {size}")));
    }
    if kind != Kind::Directory {
        return Ok(Preview::summary(removes));
    }
    let dir = slot.open_dir()?;
    if !recursive {
        let mut entries = dir.entries().map_err(FsError::io(&slot.path))?;
        return if entries.next().is_none() {
            Ok(Preview::summary(removes))
        } else {
            Err(FsError::NotEmpty { path: slot.path })
        };
    }
    let contents = Contents::count(files, &hidden, &dir, &slot.path)?;
    Ok(Preview::summary(match contents.entries {
        0 => removes,
        _ => format!("{removes}, with its contents: {contents}"),
    }))
}

/// The number of entries below a directory, and of its files with their size.
#[derive(Default)]
struct Contents {
    entries: u64,
    files: u64,
    bytes: u64,
    /// True if there are more.
    is_cut: bool,
    /// The first entries that run or configure programs by themselves. A folder stands for its contents, and folders of outputs are left out.
    named: Vec<String>,
}

impl Contents {
    fn count(
        files: Files<'_>,
        hidden: &HiddenSnapshot<'_>,
        dir: &Dir,
        path: &RelativePath,
    ) -> Result<Self, FsError> {
        let deadline = files.cx.deadline();
        let stop = deadline.and_then(|deadline| deadline.checked_sub(COUNT_RESERVE));
        let mut contents = Self::default();
        visit_all(files.cx, dir, path, &mut |dir, name, entry, kind| {
            if contents.entries == MAX_COUNTED || stop.is_some_and(|stop| Instant::now() >= stop) {
                contents.is_cut = true;
                return Ok(ControlFlow::Break(()));
            }
            check_not_hidden(hidden, dir, name, entry, path)?;
            contents.entries += 1;
            if contents.named.len() <= MAX_NAMED && is_top(files, entry) {
                contents.named.push(format!("`{entry}`"));
            }
            match kind {
                Kind::Directory => files.require(Access::Read, entry)?,
                Kind::File => {
                    contents.files += 1;
                    contents.bytes += file_size(dir, name, entry)?;
                }
                _ => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(contents)
    }
}

/// Returns true if the entry is listed, and none of the folders around it is or is one of outputs.
fn is_top(files: Files<'_>, entry: &RelativePath) -> bool {
    let above = entry.prefix(entry.names().count() - 1);
    is_listed(files, entry) && !is_listed(files, &above) && !above.names().any(is_output)
}

/// Formats as `3 entries, of them 1 file with 20 bytes`.
impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (more, least) = if self.is_cut {
            ("more than ", "at least ")
        } else {
            ("", "")
        };
        let entries = counted(self.entries, "entry", "entries");
        let files = counted(self.files, "file", "files");
        let bytes = counted(self.bytes, "byte", "bytes");
        write!(
            f,
            "{more}{entries}, of them {least}{files} with {least}{bytes}"
        )?;
        if self.named.is_empty() {
            return Ok(());
        }
        let names = self.named[..self.named.len().min(MAX_NAMED)].join(", ");
        let others = if self.named.len() > MAX_NAMED {
            " and others"
        } else {
            ""
        };
        write!(f, "; among them {names}{others}, by which programs run")
    }
}

fn file_size(dir: &Dir, name: &str, path: &RelativePath) -> Result<u64, FsError> {
    dir.symlink_metadata(name)
        .map(|metadata| metadata.len())
        .map_err(FsError::io(path))
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_map;
    use proptest::prelude::*;
    use serde_json::json;
    use tools::ErrorCode;

    use super::*;
    use crate::fixture::Fixture;

    async fn previewed(
        fixture: &Fixture,
        path: &str,
        recursive: bool,
    ) -> Result<String, ToolError> {
        let preview = fixture
            .preview("fs.remove", json!({"path": path, "recursive": recursive}))
            .await;
        preview.map(|preview| preview.text().to_owned())
    }

    #[tokio::test]
    async fn the_number_and_the_size_are_shown_and_nothing_is_removed() {
        let fixture = Fixture::with_files(&[
            ("dir/a/b", "four"),
            ("dir/c", "x"),
            ("one/file", ""),
            ("file", "text"),
        ]);
        fixture.write("none/x", "");
        std::fs::remove_file(fixture.root().join("none/x")).unwrap();
        for (path, recursive, expected) in [
            (
                "dir",
                true,
                "removes `dir`, a directory, with its contents: 3 entries, of them 2 files with 5 bytes",
            ),
            (
                "one",
                true,
                "removes `one`, a directory, with its contents: 1 entry, of them 1 file with 0 bytes",
            ),
            ("file", false, "removes `file`, a file of 4 bytes"),
            ("none", false, "removes `none`, a directory"),
            ("none", true, "removes `none`, a directory"),
        ] {
            assert_eq!(
                previewed(&fixture, path, recursive).await.unwrap(),
                expected
            );
        }
        assert_eq!(fixture.names("."), ["dir", "file", "none", "one"]);
        assert_eq!(fixture.names("dir"), ["a", "c"]);
    }

    #[tokio::test]
    async fn a_removal_that_would_fail_has_no_preview() {
        let fixture = Fixture::with_files(&[("dir/a", "")]);
        for (path, recursive, part) in [
            ("dir", false, "`dir` is not empty"),
            ("gone", true, "there is no `gone`"),
            (".", true, "workspace root"),
        ] {
            let error = previewed(&fixture, path, recursive)
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[tokio::test]
    async fn a_directory_that_may_not_be_read_is_not_counted() {
        let fixture = Fixture::with_files(&[("dir/a/b", ""), ("dir/c", "")]);
        let fixture = fixture.granted_all(&["fs:read:dir", "fs:read:dir/c", "fs:destroy:**"]);
        let error = previewed(&fixture, "dir", true).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
        let fixture = fixture.granted("fs:destroy:**");
        assert_eq!(
            previewed(&fixture, "dir/c", false)
                .await
                .unwrap_err()
                .code(),
            ErrorCode::PermissionDenied
        );
    }

    #[tokio::test]
    async fn a_huge_directory_is_counted_up_to_a_limit() {
        let fixture = Fixture::new();
        fixture.write("dir/first", "x");
        for number in 1..MAX_COUNTED {
            std::fs::write(fixture.root().join(format!("dir/{number}")), "x").unwrap();
        }
        let all = previewed(&fixture, "dir", true).await.unwrap();
        assert!(
            all.ends_with(": 10000 entries, of them 10000 files with 10000 bytes"),
            "{all}"
        );
        fixture.write("dir/last", "x");
        let more = previewed(&fixture, "dir", true).await.unwrap();
        assert!(
            more.contains(": more than 10000 entries, of them at least"),
            "{more}"
        );
    }

    #[tokio::test]
    async fn the_first_entries_by_which_programs_run_are_named() {
        let fixture = Fixture::with_files(&[
            ("dir/a/AGENTS.md", ""),
            ("dir/.git/config", ""),
            ("dir/node_modules/a/.npmrc", ""),
            ("dir/plain", ""),
        ]);
        let shown = previewed(&fixture, "dir", true).await.unwrap();
        let (_, named) = shown.split_once("among them ").unwrap();
        assert!(
            ["`dir/a/AGENTS.md`", "`dir/.git`"]
                .iter()
                .all(|name| named.contains(name)),
            "{shown}"
        );
        assert!(
            !named.contains("npmrc") && !named.contains("config"),
            "{shown}"
        );
        for number in 0..9 {
            fixture.write(&format!("many/{number}/.envrc"), "");
        }
        let shown = previewed(&fixture, "many", true).await.unwrap();
        assert!(
            shown.matches(".envrc").count() == 5 && shown.contains("and others"),
            "{shown}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_number_shown_is_the_number_removed(
            files in btree_map("dir(/[abc]){0,3}/[xyz]", "[a-z]{0,9}", 1..12),
        ) {
            let fixture = Fixture::new();
            files.iter().for_each(|(path, content)| fixture.write(path, content));
            let bytes: usize = files.values().map(String::len).sum();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let shown = previewed(&fixture, "dir", true).await.unwrap();
                let result = fixture.text("fs.remove", json!({"path": "dir", "recursive": true})).await;
                let size = counted(bytes, "byte", "bytes");
                let files = counted(files.len(), "file", "files");
                let removed = result.replacen("removed", "removes", 1);
                assert_eq!(shown, format!("{removed}, of them {files} with {size}"));
            });
        }
    }
}
