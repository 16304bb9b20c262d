//! `fs.edit`: some text of a file in place of other text.

use std::io::Read;

use tools::{Access, ToolContext, ToolError, tool};

use crate::Workspace;
use crate::diff;
use crate::draft::Draft;
use crate::error::FsError;
use crate::kind::Kind;
use crate::nearest::nearest;
use crate::path::RelativePath;
use crate::place::open_file;
use crate::slot::{Missing, Slot, Way};

/// How large a file may be, in bytes, before and after.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// How many lines are named in which a text occurs that should occur once.
const MAX_LINES_NAMED: usize = 8;

/// Replaces text in a file of the workspace. `old` has to be in the file exactly as it is given, with its spaces and line
/// ends, and only once unless `all` is set. The result is a unified diff.
#[tool(
    name = "fs.edit",
    title = "Edit a file",
    reads = "fs:{path}",
    writes = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    example({"path": "src/main.rs", "old": "let port = 80;", "new": "let port = 8080;"}),
    example({"path": "README.md", "old": "colour", "new": "color", "all": true}),
)]
pub(crate) fn edit(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: RelativePath,
    /// The text to replace, without line numbers.
    #[schemars(length(min = 1))]
    old: String,
    /// The text to put in its place. Nothing, to take the old text out.
    new: String,
    /// Whether every occurrence is replaced, however many there are.
    #[serde(default)]
    all: bool,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    edited(cx, &workspace, &path, &old, &new, all).map_err(|error| error.told(cx))
}

fn edited(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    old: &str,
    new: &str,
    all: bool,
) -> Result<String, FsError> {
    if old == new {
        return Err(FsError::SameText);
    }
    let way = Way { accesses: &[Access::Read, Access::Write], follow: true, missing: Missing::Refused };
    let slot = Slot::find(cx, workspace, path, way)?;
    if let Some(kind) = slot.kind.filter(|kind| *kind != Kind::File) {
        return Err(FsError::NotWritable { path: slot.path, kind });
    }
    let _changing = workspace.changing();
    let before = content(&slot)?;
    let after = replaced(cx, &slot.path, &before, old, new, all)?;
    if after.len() as u64 > MAX_FILE {
        return Err(FsError::TooLarge { path: slot.path, limit: MAX_FILE });
    }
    put(cx, &slot, &before, &after)?;
    Ok(diff::unified(&slot.path, &before, &after))
}

fn put(cx: &ToolContext, slot: &Slot, before: &str, after: &str) -> Result<(), FsError> {
    let draft = Draft::new(slot, after.as_bytes())?;
    // Programs beside this one do not ask the workspace before they write.
    if content(slot).ok().as_deref() != Some(before) {
        return Err(FsError::Changed { path: slot.path.clone() });
    }
    cx.check_cancelled()?;
    draft.put()
}

fn content(slot: &Slot) -> Result<String, FsError> {
    let path = &slot.path;
    let file = open_file(&slot.parent, &slot.name, path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(FsError::io(path))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(FsError::TooLarge { path: path.clone(), limit: MAX_FILE });
    }
    if bytes.contains(&0) {
        return Err(FsError::Binary { path: path.clone() });
    }
    String::from_utf8(bytes).map_err(|_| FsError::NotUtf8 { path: path.clone() })
}

fn replaced(
    cx: &ToolContext,
    path: &RelativePath,
    text: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<String, FsError> {
    let Some(first) = text.find(old) else {
        return Err(FsError::NoMatch { path: path.clone(), near: nearest(cx, text, old)? });
    };
    if all {
        // Measured before it is made: a long text in many places can be more than fits into memory.
        let count = text.matches(old).count();
        let grown = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
        return if grown as u64 > MAX_FILE {
            Err(FsError::TooLarge { path: path.clone(), limit: MAX_FILE })
        } else {
            Ok(text.replace(old, new))
        };
    }
    let starts = starts(text, old, first);
    if starts.len() > 1 {
        return Err(FsError::Ambiguous { path: path.clone(), count: starts.len(), lines: lines(text, &starts) });
    }
    Ok([&text[..first], new, &text[first + old.len()..]].concat())
}

/// Where a text begins, also where occurrences overlap: `aa` is twice in `aaa`, and which one is meant is open.
fn starts(text: &str, old: &str, first: usize) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let next = |start: &usize| text[start + step..].find(old).map(|at| start + step + at);
    std::iter::successors(Some(first), next).take(1000).collect()
}

fn lines(text: &str, starts: &[usize]) -> String {
    let number = |start: &usize| (text[..*start].matches('\n').count() + 1).to_string();
    let mut lines: Vec<_> = starts.iter().take(MAX_LINES_NAMED).map(number).collect();
    lines.dedup();
    if starts.len() > MAX_LINES_NAMED {
        lines.push("…".to_owned());
    }
    lines.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use serde_json::json;
    use tools::ToolError;

    use super::*;
    use crate::fixture::Fixture;

    #[tokio::test]
    async fn one_occurrence_is_replaced_and_the_result_is_a_diff() {
        let fixture = Fixture::new();
        fixture.write("a.txt", "one\ntwo\nthree\n");
        let diff = fixture.text("fs.edit", json!({"path": "a.txt", "old": "two", "new": "2"})).await;
        assert_eq!(diff, "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
        assert_eq!(fixture.read("a.txt"), "one\n2\nthree\n");
        assert_eq!(fixture.names("."), ["a.txt"]);
        fixture.text("fs.edit", json!({"path": "a.txt", "old": "\n2\nthree", "new": ""})).await;
        assert_eq!(fixture.read("a.txt"), "one\n");
    }

    #[tokio::test]
    async fn every_occurrence_is_replaced_when_asked_for() {
        let fixture = Fixture::new();
        fixture.write("a", "x x\nx");
        fixture.text("fs.edit", json!({"path": "a", "old": "x", "new": "xx", "all": true})).await;
        assert_eq!(fixture.read("a"), "xx xx\nxx");
    }

    #[tokio::test]
    async fn an_ambiguous_text_is_told_with_its_lines() {
        let fixture = Fixture::new();
        fixture.write("a", "x\ny\nx\naaa\n");
        let told = "`old` occurs 2 times in `a`, in lines 1, 3;";
        fixture.fails("fs.edit", json!({"path": "a", "old": "x", "new": "z"}), told).await;
        fixture.fails("fs.edit", json!({"path": "a", "old": "aa", "new": "z"}), "2 times in `a`, in lines 4;").await;
        assert_eq!(fixture.read("a"), "x\ny\nx\naaa\n");
    }

    #[tokio::test]
    async fn a_missing_text_is_told_with_the_nearest_place() {
        let fixture = Fixture::new();
        fixture.write("a.rs", "fn main() {\n    let x = 1;\n    print(x);\n}\n");
        let edit = |old: &str| json!({"path": "a.rs", "old": old, "new": ""});
        let told = "does not occur in `a.rs`; the nearest place is lines 2 to 3:\n2:     let x = 1;\n3:     print(x);";
        fixture.fails("fs.edit", edit("let x = 1;\nprint(x);"), told).await;
        fixture.fails("fs.edit", edit("let xy = 1;"), "the nearest place is line 2:\n2:     let x = 1;").await;
        fixture.fails("fs.edit", edit("qqqqqqqq"), "nothing in it is like it").await;
    }

    #[tokio::test]
    async fn what_cannot_be_edited_is_told() {
        let fixture = Fixture::new();
        fixture.write("dir/a", "text");
        fixture.write("binary", "a\0b");
        std::fs::write(fixture.root().join("latin"), b"caf\xE9").unwrap();
        let edit = |path: &str| json!({"path": path, "old": "a", "new": "b"});
        fixture.fails("fs.edit", edit("dir"), "`dir` is a directory").await;
        fixture.fails("fs.edit", edit("gone"), "there is no `gone`").await;
        fixture.fails("fs.edit", edit("binary"), "it has NUL bytes").await;
        fixture.fails("fs.edit", edit("latin"), "is not text in UTF-8").await;
        fixture.fails("fs.edit", json!({"path": "dir/a", "old": "t", "new": "t"}), "are the same").await;
        fixture.fails("fs.edit", json!({"path": "dir/a", "old": "", "new": "t"}), "/old").await;
        let bomb = json!({"path": "dir/a", "old": "t", "new": "t".repeat(5 * 1024 * 1024), "all": true});
        assert!(fixture.call("fs.edit", bomb).await.is_err());
        assert_eq!(fixture.read("dir/a"), "text");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn through_a_link_the_grant_for_its_destination_counts() {
        let fixture = Fixture::new();
        fixture.write("secret", "canary");
        fixture.link("secret", "link");
        let edit = json!({"path": "link", "old": "can", "new": "CAN"});
        let fixture = fixture.granted_all(&["fs:*:link", "fs:write:secret"]);
        let denied = fixture.call("fs.edit", edit.clone()).await.unwrap_err();
        assert!(matches!(denied, ToolError::PermissionDenied { .. }), "{denied}");
        let fixture = fixture.granted_all(&["fs:*:link", "fs:*:secret"]);
        assert!(fixture.text("fs.edit", edit).await.starts_with("--- secret\n"));
        assert!(fixture.root().join("link").is_symlink());
    }

    #[test]
    fn writers_at_the_same_time_lose_no_update() {
        const WRITERS: usize = 4;
        const EDITS: usize = 50;
        let fixture = Fixture::new();
        fixture.write("a", &(0..WRITERS).map(|writer| format!("w{writer}=0;\n")).collect::<String>());
        let shared = Workspace::open(fixture.root()).unwrap();
        let path: RelativePath = "a".to_owned().try_into().unwrap();
        let start = Barrier::new(WRITERS);
        let write = |writer: usize| {
            start.wait();
            for edit in 0..EDITS {
                let (old, new) = (format!("w{writer}={edit};"), format!("w{writer}={};", edit + 1));
                edited(&ToolContext::new(), &shared, &path, &old, &new, false).unwrap();
            }
        };
        std::thread::scope(|scope| (0..WRITERS).for_each(|writer| drop(scope.spawn(move || write(writer)))));
        let expected: String = (0..WRITERS).map(|writer| format!("w{writer}={EDITS};\n")).collect();
        assert_eq!(fixture.read("a"), expected);
    }

    #[test]
    fn a_file_that_somebody_else_changed_is_left_to_them() {
        let fixture = Fixture::new();
        fixture.write("a", "old");
        let workspace = Workspace::open(fixture.root()).unwrap();
        let way = Way { accesses: &[], follow: true, missing: Missing::Refused };
        let slot = Slot::find(&ToolContext::new(), &workspace, &"a".to_owned().try_into().unwrap(), way).unwrap();
        let before = content(&slot).unwrap();
        fixture.write("a", "theirs");
        let outcome = put(&ToolContext::new(), &slot, &before, "ours");
        assert!(matches!(outcome, Err(FsError::Changed { .. })), "{outcome:?}");
        assert_eq!((fixture.read("a"), fixture.names(".")), ("theirs".to_owned(), vec!["a".to_owned()]));
    }
}
