//! The preview of `fs.write`: the change of the text.

use tools::{Access, Preview, ToolContext, ToolError};
use tools_text::MARK;
use tools_workspace::Workspace;

use crate::counted::counted;
use crate::diff;
use crate::encoding::Decoded;
use crate::error::FsError;
use crate::files::Files;
use crate::path::RelativePath;
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::text_style::TextStyle;
use crate::whole_file::{self, MAX_COMPARED};

/// Makes the diff of the file as it is now and as it would be.
pub(crate) fn preview(
    cx: &ToolContext,
    path: RelativePath,
    content: String,
    parents: bool,
) -> Result<Preview, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    cx.require(Access::Read, "fs", path.as_str())?;
    let files = Files::new(cx, &workspace);
    Ok(planned_write(files, &path, &content, parents)?)
}

fn planned_write(
    files: Files<'_>,
    path: &RelativePath,
    content: &str,
    parents: bool,
) -> Result<Preview, FsError> {
    let options = FindOptions::following(&[Access::Read], IfMissing::AllowLast);
    let slot = match Slot::find(files, path, options) {
        // The call would create the directory.
        Err(FsError::NoDirectory { .. }) if parents => return Ok(creation(path, content)),
        found => found?,
    };
    if !slot.is_file()? {
        return Ok(creation(&slot.path, content));
    }
    whole_file::check_readable(files.cx, &slot)?;
    let replaces = |what: String| {
        let size = counted(content.len(), "byte", "bytes");
        Preview::summary(format!("replaces `{}`, {what}, with {size}", slot.path))
    };
    let before = match whole_file::read_at_most(&slot, MAX_COMPARED) {
        Err(FsError::TooLarge { limit, .. }) => {
            return Ok(replaces(format!("a file of more than {limit} bytes")));
        }
        before => before?,
    };
    let size = before.len();
    let (text, content) = match Decoded::for_replacement(&before) {
        Some(decoded) => (
            Ok(decoded.text),
            content.strip_prefix(MARK).unwrap_or(content),
        ),
        None => (String::from_utf8(before), content),
    };
    Ok(match text {
        Ok(before) if before == TextStyle::of(before.as_bytes()).apply(content) => {
            Preview::summary(format!("leaves the text of `{}` as it is", slot.path))
        }
        Ok(before) if !before.contains('\0') => {
            let after = TextStyle::of(before.as_bytes()).apply(content);
            Preview::diff(diff::unified_whole(&slot.path, &before, &after))
        }
        _ => replaces(format!(
            "a binary file of {}",
            counted(size, "byte", "bytes")
        )),
    })
}

fn creation(path: &RelativePath, content: &str) -> Preview {
    match content {
        "" => Preview::summary(format!("creates `{path}`, 0 bytes")),
        _ => Preview::diff(diff::unified_creation(path, content)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tools::ErrorCode;

    use super::*;
    use crate::fixture::Fixture;

    fn writing(path: &str, content: &str) -> Value {
        json!({"path": path, "content": content, "parents": true})
    }

    async fn previewed(fixture: &Fixture, path: &str, content: &str) -> Result<Preview, ToolError> {
        fixture.preview("fs.write", writing(path, content)).await
    }

    #[tokio::test]
    async fn the_change_of_a_file_is_shown_and_not_made() {
        let fixture = Fixture::with_files(&[("a", "one\ntwo\n"), ("binary", "a\0b")]);
        for (path, content, expected) in [
            (
                "a",
                "one\n2\n",
                Preview::diff("--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
            ),
            (
                "a",
                "one\ntwo\n",
                Preview::summary("leaves the text of `a` as it is"),
            ),
            (
                "new/b",
                "x\n",
                Preview::diff("--- /dev/null\n+++ new/b\n@@ -0,0 +1 @@\n+x\n"),
            ),
            ("b", "", Preview::summary("creates `b`, 0 bytes")),
            (
                "binary",
                "x",
                Preview::summary("replaces `binary`, a binary file of 3 bytes, with 1 byte"),
            ),
        ] {
            assert_eq!(previewed(&fixture, path, content).await, Ok(expected));
        }
        assert_eq!(fixture.names("."), ["a", "binary"]);
        assert_eq!(fixture.read("a"), "one\ntwo\n");
    }

    #[tokio::test]
    async fn no_change_of_a_line_ending_is_hidden() {
        let fixture = Fixture::with_files(&[("a", "one\n"), ("b", "one\r\n")]);
        let preview = previewed(&fixture, "a", "one\r\n").await.unwrap();
        assert!(preview.text().contains("-one\n+one\r\n"), "{preview:?}");
        let preview = previewed(&fixture, "b", "one\n").await.unwrap();
        assert!(preview.text().starts_with("leaves the text"), "{preview:?}");
    }

    #[tokio::test]
    async fn a_write_that_would_fail_has_no_preview() {
        let fixture = Fixture::with_files(&[("dir/a", "")]);
        fixture.write("latin", b"caf\xE9");
        for (path, part) in [
            ("dir", "is a directory"),
            ("latin", "not UTF-8"),
            ("dir/a/b", "not a directory"),
        ] {
            let error = previewed(&fixture, path, "x")
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = fixture
            .preview("fs.write", json!({"path": "no/a", "content": ""}))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("there is no directory"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_file_that_may_not_be_read_is_not_shown() {
        let fixture = Fixture::with_files(&[("a", "canary")]).granted("fs:write:**");
        let error = previewed(&fixture, "a", "x").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
    }

    #[tokio::test]
    async fn a_file_that_is_too_large_to_compare_is_replaced_by_its_size() {
        let fixture = Fixture::new();
        fixture.write("a", &vec![b'x'; 9 * 1024 * 1024]);
        let preview = previewed(&fixture, "a", "x").await.unwrap();
        assert_eq!(
            preview,
            Preview::summary("replaces `a`, a file of more than 8388608 bytes, with 1 byte")
        );
    }

    /// Applies a unified diff of one file to a text.
    fn patched(before: &str, diff: &str) -> String {
        let (mut old, mut new) = (before.split_inclusive('\n'), String::new());
        let mut taken = 0;
        let mut lines = diff.lines().skip(2).peekable();
        while let Some(line) = lines.next() {
            let no_end = lines.next_if(|next| next.starts_with('\\')).is_some();
            let text = |line: &str| {
                if no_end {
                    line[1..].to_owned()
                } else {
                    format!("{}\n", &line[1..])
                }
            };
            if let Some(hunk) = line.strip_prefix("@@ -") {
                let (start, rest) = hunk.split_once([',', ' ']).unwrap();
                let start: usize = start.parse().unwrap();
                // An empty range is numbered by the line before it.
                let from = if rest.starts_with("0 ") {
                    start
                } else {
                    start - 1
                };
                new.extend(old.by_ref().take(from - taken));
                taken = from;
            } else if line.starts_with('+') {
                new += &text(line);
            } else {
                assert_eq!(old.next(), Some(&*text(line)));
                taken += 1;
                new += if line.starts_with(' ') {
                    text(line)
                } else {
                    String::new()
                }
                .as_str();
            }
        }
        new.extend(old);
        new
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_diff_leads_from_the_old_text_to_the_new_one(
            before in prop::option::of("([ab]\n?){0,20}"),
            after in "([ab]\n?){0,20}",
        ) {
            let fixture = Fixture::new();
            before.iter().for_each(|before| fixture.write("file", before));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let preview = previewed(&fixture, "file", &after).await.unwrap();
                fixture.text("fs.write", writing("file", &after)).await;
                let before = before.unwrap_or_default();
                if preview.is_diff { assert_eq!(patched(&before, preview.text()), fixture.read("file")) } else { assert!(before == after, "{preview:?}") }
            });
        }
    }
}
