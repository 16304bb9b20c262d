//! `fs.edit`: replaces text in a file.

use std::io::Read as _;

use serde::Deserialize;
use tools::{Access, Concern, JsonSchema, Preview, ToolContext, ToolError, tool};
use tools_text::seven_bit;
use tools_workspace::Workspace;

use crate::diff::{self, note};
use crate::draft::Draft;
use crate::encoding::{Decoded, Encoding, parse_label};
use crate::error::FsError;
use crate::files::Files;
use crate::new_script;
use crate::path::RelativePath;
use crate::replacement::{MAX_FILE, replace};
use crate::repository;
use crate::shown::Shown;
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::view::View;
use crate::whole_file;

/// The note after the diff of a file that is not UTF-8.
const LOSSY: &str = "[bytes that are not UTF-8 are shown as \u{FFFD} and were kept]\n";

/// The most bytes of a file that is edited in mind.
const MAX_TEXT: u64 = 1 << 20;

/// The maximum number of attempts if other programs change the file meanwhile.
const ATTEMPTS: usize = 100;

/// Replaces text in a file of the workspace and returns a unified diff. `old` must match exactly, including spaces, and must occur
/// once unless `all` is set. Line endings match in any style. The file keeps its own style and encoding.
#[tool(
    name = "fs.edit",
    title = "Edit a file",
    reads = "fs:{path}",
    writes = "fs:{path}",
    needs = Workspace,
    preview = preview,
    concerns = concerns,
    tags = ["files"],
    example({"path": "src/main.rs", "old": "let port = 80;", "new": "let port = 8080;"}),
    example({"path": "README.md", "old": "colour", "new": "color", "all": true}),
)]
pub(crate) fn edit(cx: &ToolContext, #[args] call: EditArguments) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    Ok(apply_edit(Files::new(cx, &workspace), &call)?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct EditArguments {
    /// The file, relative to the workspace root.
    path: RelativePath,
    /// The text to replace, without line numbers.
    #[schemars(length(min = 1))]
    old: String,
    /// The replacement text. Empty to delete `old`.
    new: String,
    /// Replace every occurrence.
    #[serde(default)]
    all: bool,
    /// The encoding, if it is not UTF-8. Guessed if omitted.
    #[schemars(length(max = 40))]
    encoding: Option<String>,
}

fn apply_edit(files: Files<'_>, call: &EditArguments) -> Result<String, FsError> {
    let path = &call.path;
    for _ in 0..ATTEMPTS {
        let plan = Plan::new(
            files,
            call,
            &[Access::Read, Access::Write],
            diff::render_diff,
        )?;
        let slot = &plan.slot;
        new_script::check_link(files.workspace, path, slot, || {
            tools_workspace::is_script(&plan.after)
        })?;
        // Slow and fallible steps come before the lock.
        let draft = Draft::new(files.workspace, slot, &plan.after)?;
        let _changing = files.workspace.lock_changes();
        files.cx.check_cancelled()?;
        // Other calls may have changed the file before the lock, and other programs do not take it.
        if whole_file::is_same(slot, &plan.before).unwrap_or_default() && draft.commit()? {
            return Ok(match note(files.cx, &slot.path) {
                note if note.is_empty() => plan.diff,
                note => format!("{}[edited `{}`{note}]\n", plan.diff, slot.path),
            });
        }
        // The file has changed; try again with its new content.
    }
    Err(FsError::Changed { path: path.clone() })
}

/// Makes the diff that an edit would return now.
fn preview(cx: &ToolContext, call: EditArguments) -> Result<Preview, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    cx.require(Access::Read, "fs", call.path.as_str())?;
    let files = Files::new(cx, &workspace);
    let plan = Plan::new(files, &call, &[Access::Read], diff::unified_whole)?;
    Ok(Preview::diff(plan.diff))
}

/// Returns the concern that the text of a file that can be started becomes a script.
fn concerns(cx: &ToolContext, call: EditArguments) -> Vec<Concern> {
    let path = &call.path;
    // An edit creates no file.
    let is_there = cx
        .service::<Workspace>()
        .is_some_and(|workspace| workspace.dir().symlink_metadata(path.as_str()).is_ok());
    let script =
        is_there.then(|| new_script::concern(cx, path, |root| call.makes_script(root), |_| false));
    let of_repository = repository::concern(cx, path);
    script.flatten().into_iter().chain(of_repository).collect()
}

impl EditArguments {
    /// Returns true if the text becomes a script, or if that is not known.
    fn makes_script(&self, workspace: &Workspace) -> bool {
        let mut text = String::new();
        let file = workspace.dir().open(self.path.as_str());
        let read = file.and_then(|file| file.take(MAX_TEXT).read_to_string(&mut text));
        read.is_err()
            || text.len() as u64 == MAX_TEXT
            || tools_workspace::is_script(text.replacen(&self.old, &self.new, 1).as_bytes())
    }
}

/// A file and its new content.
struct Plan {
    slot: Slot,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The diff, with notes on a file that is not UTF-8.
    diff: String,
}

impl Plan {
    fn new(
        files: Files<'_>,
        call: &EditArguments,
        accesses: &'static [Access],
        unified: fn(&RelativePath, &str, &str) -> String,
    ) -> Result<Self, FsError> {
        let named = parse_label(call.encoding.as_deref())?;
        if call.old == call.new {
            return Err(FsError::SameText);
        }
        let options = FindOptions::following(accesses, IfMissing::Fail);
        let slot = Slot::find(files, &call.path, options)?;
        slot.is_file()?;
        let there = files.workspace.root().join(slot.path.as_str());
        let _shown = Shown::new(files, &slot.path, there.symlink_metadata().ok());
        let before = whole_file::read_at_most(&slot, MAX_FILE)?;
        // The memory for other texts is a multiple of their size.
        if before.len() as u64 > whole_file::MAX_FILE && std::str::from_utf8(&before).is_err() {
            let (path, limit) = (slot.path, whole_file::MAX_FILE);
            return Err(FsError::TooLarge { path, limit });
        }
        let decoded = Decoded::for_edit(&before, named);
        if decoded.is_none() {
            check_text(files.cx, &slot.path, &before)?;
            if let Some(encoding) = seven_bit(&before).filter(|_| named.is_none()) {
                let path = slot.path;
                return Err(FsError::SevenBit { path, encoding });
            }
        }
        // Errors and the diff show lines of it.
        files.show_content(&slot.path);
        let bytes = decoded
            .as_ref()
            .map_or(&*before, |decoded| decoded.text.as_bytes());
        let view = View::new(bytes);
        let replaced = replace(files.cx, &slot.path, &view, &call.old, &call.new, call.all)?;
        let mut diff = unified(&slot.path, &view.text, &View::new(&replaced).text);
        if !view.is_utf8() {
            diff.push_str(LOSSY);
        }
        if let Some(decoded) = &decoded {
            diff.push_str(&decoded.note());
            diff.push('\n');
        }
        let after = match &decoded {
            Some(decoded) => decoded.encode(&String::from_utf8_lossy(&replaced))?,
            None => replaced,
        };
        Ok(Self {
            slot,
            before,
            after,
            diff,
        })
    }
}

/// Refuses bytes that are neither UTF-8 nor text in an encoding whose ASCII characters are single bytes.
fn check_text(cx: &ToolContext, path: &RelativePath, bytes: &[u8]) -> Result<(), FsError> {
    match Encoding::detect(cx, path, bytes)? {
        Encoding::Utf8 | Encoding::Other => Ok(()),
        Encoding::Utf16 => Err(FsError::Utf16 { path: path.clone() }),
        Encoding::Binary => Err(FsError::Binary { path: path.clone() }),
    }
}

#[cfg(test)]
mod concurrent_tests;

#[cfg(test)]
mod shown_tests;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tools::ErrorCode;

    use super::*;
    use crate::fixture::Fixture;

    #[tokio::test]
    async fn one_occurrence_is_replaced_and_the_result_is_a_diff() {
        let fixture = Fixture::with_files(&[("a.txt", "one\ntwo\nthree\n")]);
        let diff = fixture
            .text(
                "fs.edit",
                json!({"path": "a.txt", "old": "two", "new": "2"}),
            )
            .await;
        assert_eq!(
            diff,
            "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        );
        assert_eq!(fixture.read("a.txt"), "one\n2\nthree\n");
        assert_eq!(fixture.names("."), ["a.txt"]);
        fixture
            .text(
                "fs.edit",
                json!({"path": "a.txt", "old": "\n2\nthree", "new": ""}),
            )
            .await;
        assert_eq!(fixture.read("a.txt"), "one\n");
    }

    #[tokio::test]
    async fn the_preview_of_an_edit_is_its_diff_and_changes_nothing() {
        let fixture = Fixture::with_files(&[("a.txt", "one\r\ntwo\r\nthree\r\n")]);
        fixture.write("latin", b"caf\xE9\nend\n");
        for (path, old, new) in [
            ("a.txt", "two", "2"),
            ("a.txt", "one\ntwo\n", ""),
            ("latin", "end", "END"),
        ] {
            let edit = json!({"path": path, "old": old, "new": new});
            let before = fixture.bytes(path);
            let preview = fixture.preview("fs.edit", edit.clone()).await.unwrap();
            assert_eq!(fixture.bytes(path), before);
            assert_eq!(preview, Preview::diff(fixture.text("fs.edit", edit).await));
            fixture.write(path, &before);
        }
        let named = json!({"path": "latin", "old": "й", "new": "и", "encoding": "windows-1251"});
        let preview = fixture.preview("fs.edit", named.clone()).await.unwrap();
        assert_eq!(preview, Preview::diff(fixture.text("fs.edit", named).await));
        let missing = fixture
            .preview(
                "fs.edit",
                json!({"path": "a.txt", "old": "four", "new": ""}),
            )
            .await;
        assert!(missing.unwrap_err().to_string().contains("does not occur"));
    }

    #[tokio::test]
    async fn the_preview_of_an_edit_needs_the_grant_to_read() {
        let fixture = Fixture::with_files(&[("a", "canary")]).granted("fs:write:**");
        let error = fixture
            .preview("fs.edit", json!({"path": "a", "old": "x", "new": "y"}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
    }

    #[tokio::test]
    async fn every_occurrence_is_replaced_when_asked_for() {
        let fixture = Fixture::with_files(&[("a", "x x\nx")]);
        fixture
            .text(
                "fs.edit",
                json!({"path": "a", "old": "x", "new": "xx", "all": true}),
            )
            .await;
        assert_eq!(fixture.read("a"), "xx xx\nxx");
    }

    #[tokio::test]
    async fn an_ambiguous_text_is_refused_with_its_lines() {
        let fixture = Fixture::with_files(&[("a", "x\ny\nx\naaa\n")]);
        let message = "`old` occurs 2 times in `a`, in lines 1, 3;";
        fixture
            .fails(
                "fs.edit",
                json!({"path": "a", "old": "x", "new": "z"}),
                message,
            )
            .await;
        fixture
            .fails(
                "fs.edit",
                json!({"path": "a", "old": "aa", "new": "z"}),
                "2 times in `a`, in lines 4;",
            )
            .await;
        assert_eq!(fixture.read("a"), "x\ny\nx\naaa\n");
    }

    #[tokio::test]
    async fn a_truncated_count_is_marked_as_such() {
        let fixture = Fixture::new();
        for (times, message) in [
            (1000, "occurs 1000 times"),
            (1001, "occurs more than 1000 times"),
        ] {
            fixture.write("a", &"x\n".repeat(times));
            fixture
                .fails(
                    "fs.edit",
                    json!({"path": "a", "old": "x", "new": "z"}),
                    message,
                )
                .await;
        }
    }

    #[tokio::test]
    async fn a_missing_text_is_refused_with_the_nearest_place() {
        let fixture =
            Fixture::with_files(&[("a.rs", "fn main() {\n    let x = 1;\n    print(x);\n}\n")]);
        let edit = |old: &str| json!({"path": "a.rs", "old": old, "new": ""});
        let message = "does not occur in `a.rs`; the nearest place is lines 2 to 3:\n2:     let x = 1;\n3:     print(x);";
        fixture
            .fails("fs.edit", edit("let x = 1;\nprint(x);"), message)
            .await;
        fixture
            .fails(
                "fs.edit",
                edit("let xy = 1;"),
                "the nearest place is line 2:\n2:     let x = 1;",
            )
            .await;
        fixture
            .fails("fs.edit", edit("qqqqqqqq"), "no similar text was found")
            .await;
    }

    #[tokio::test]
    async fn unusable_edits_are_refused() {
        let fixture = Fixture::with_files(&[("dir/a", "text"), ("binary", "a\0b")]);
        let edit = |path: &str| json!({"path": path, "old": "a", "new": "b"});
        fixture
            .fails("fs.edit", edit("dir"), "`dir` is a directory")
            .await;
        fixture
            .fails("fs.edit", edit("gone"), "there is no `gone`")
            .await;
        fixture
            .fails("fs.edit", edit("binary"), "it has NUL bytes")
            .await;
        fixture
            .fails(
                "fs.edit",
                json!({"path": "dir/a", "old": "t", "new": "t"}),
                "are the same",
            )
            .await;
        fixture
            .fails(
                "fs.edit",
                json!({"path": "dir/a", "old": "", "new": "t"}),
                "/old",
            )
            .await;
        let bomb =
            json!({"path": "dir/a", "old": "t", "new": "t".repeat(5 * 1024 * 1024), "all": true});
        assert!(fixture.call("fs.edit", bomb).await.is_err());
        assert_eq!(fixture.read("dir/a"), "text");
    }

    #[tokio::test]
    async fn a_large_file_of_utf8_is_edited_and_one_in_another_encoding_is_not() {
        let fixture = Fixture::new();
        let mut before = "a line of a large file\n".repeat(3_000_000).into_bytes();
        before.extend_from_slice(b"needle\n");
        assert!(before.len() as u64 > whole_file::MAX_FILE);
        fixture.write("large", &before);
        let edit = json!({"path": "large", "old": "needle\n", "new": "thread\n"});
        let diff = fixture.text("fs.edit", edit.clone()).await;
        assert!(diff.contains("@@ -2999998,4 +2999998,4 @@\n"), "{diff}");
        assert!(diff.ends_with("-needle\n+thread\n"), "{diff}");
        let after = fixture.bytes("large");
        let (same, end) = after.split_at(before.len() - 7);
        assert!(same == &before[..same.len()] && end == b"thread\n");
        before[0] = 0xE9;
        fixture.write("large", &before);
        let limit = "`large` has more than 67108864 bytes";
        fixture.fails("fs.edit", edit, limit).await;
    }

    #[tokio::test]
    async fn through_a_link_the_grant_for_its_destination_counts() {
        let fixture = Fixture::with_files(&[("secret", "canary")]);
        fixture.link("secret", "link");
        let edit = json!({"path": "link", "old": "can", "new": "CAN"});
        let fixture = fixture.granted_all(&["fs:*:link", "fs:write:secret"]);
        fixture.denies("fs.edit", edit.clone()).await;
        let fixture = fixture.granted_all(&["fs:*:link", "fs:*:secret"]);
        assert!(
            fixture
                .text("fs.edit", edit)
                .await
                .starts_with("--- secret\n")
        );
        assert!(fixture.root().join("link").is_symlink());
    }

    #[test]
    fn an_edit_that_runs_out_of_time_while_the_diff_is_made_changes_nothing() {
        let fixture = Fixture::new();
        // Reordered lines make the diff slow.
        let lines = |factor: u64| {
            (0..150_000)
                .map(|at| format!("{}\n", at * factor % 149_993))
                .collect::<String>()
        };
        let before = lines(7_919);
        fixture.write("a", &before);
        let cx = fixture
            .cx()
            .clone()
            .with_timeout(Duration::from_millis(200));
        let fixture = fixture.with_context(cx);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let arguments = json!({"path": "a", "old": "1\n", "new": "2\n3\n", "all": true});
        let outcome = runtime.block_on(fixture.call("fs.edit", arguments));
        // Waits for the blocking thread.
        drop(runtime);
        let is_changed = fixture.read("a") != before;
        assert_eq!(is_changed, outcome.is_ok(), "{outcome:?}");
    }
}
