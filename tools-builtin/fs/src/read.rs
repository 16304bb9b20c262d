//! `fs.read`: reads a text file or an image.

use std::io::{BufReader, Read};
use std::num::NonZeroU64;

use tools::{Content, ToolContext, ToolError, tool};

use crate::Workspace;
use crate::encoding::Encoding;
use crate::error::FsError;
use crate::excerpt::Excerpt;
use crate::path::RelativePath;
use crate::picture;
use crate::resolved_entry::ResolvedEntry;

/// The size of a read, in bytes. Smaller files are read at once.
const BLOCK: u64 = 64 * 1024;

/// The size of the first read of a larger file, or of one that reports no size, such as those in `/proc`. In bytes.
const HEAD: u64 = 512;

/// Reads a text file of the workspace, or a range of its lines. A long file is split: a note after the text then gives the line
/// numbers and says how to continue. PNG, JPEG, GIF and WebP files are returned as images.
#[tool(
    name = "fs.read",
    title = "Read a file",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // Above the limit of an excerpt, so that the pipeline does not truncate the output.
    max_output = "256KiB",
    example({"path": "README.md"}),
    example({"path": "src/main.rs", "start": 120, "end": 180}),
)]
pub(crate) fn read(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: RelativePath,
    /// The first line to read, counted from 1. The beginning of the file if omitted.
    start: Option<NonZeroU64>,
    /// The last line to read, inclusive. As many lines as fit into one result if omitted.
    end: Option<NonZeroU64>,
) -> Result<Vec<Content>, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let start = start.map_or(1, NonZeroU64::get);
    let end = end.map_or(u64::MAX, NonZeroU64::get);
    Ok(contents(cx, &workspace, &path, start, end)?)
}

/// Returns the requested text and, if needed, a note about it; or an image.
fn contents(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    start: u64,
    end: u64,
) -> Result<Vec<Content>, FsError> {
    if end < start {
        return Err(FsError::Backwards { start, end });
    }
    let found = ResolvedEntry::find(cx, workspace, path)?;
    // `std` reads into uninitialised memory; cap-std clears it first.
    let file = found.open_file()?.into_std();
    let size = file.metadata().map_err(FsError::io(&found.path))?.len();
    // One byte more than the size, to detect the end of the file.
    let length = if size < BLOCK { HEAD.max(size + 1) } else { HEAD };
    let mut head = Vec::with_capacity(length as usize);
    (&file).take(length).read_to_end(&mut head).map_err(FsError::io(&found.path))?;
    if Encoding::from_mark(&head) == Some(Encoding::Utf16) {
        return Err(FsError::Utf16 { path: found.path });
    }
    if let Some(mime_type) = picture::mime_type(&head) {
        return picture::contents(&found.path, mime_type, head.as_slice().chain(file));
    }
    let excerpt = if (head.len() as u64) < length {
        Excerpt::from_reader(cx, &found.path, &*head, start, end)?
    } else {
        let rest = BufReader::with_capacity(BLOCK as usize, file);
        Excerpt::from_reader(cx, &found.path, head.as_slice().chain(rest), start, end)?
    };
    let note = note(&excerpt, start);
    let text = Some(excerpt.text).filter(|text| !text.is_empty());
    Ok(text.into_iter().chain(note).map(Content::text).collect())
}

fn note(excerpt: &Excerpt, start: u64) -> Option<String> {
    let mut notes = Vec::new();
    let last = start + excerpt.lines.saturating_sub(1);
    if excerpt.lines == 0 {
        notes.push("the file is empty".to_owned());
    } else if excerpt.more {
        notes.push(format!("lines {start} to {last}; more lines follow, continue with start = {}", last + 1));
    } else if start > 1 {
        notes.push(format!("lines {start} to {last}, the end of the file"));
    }
    if excerpt.cut > 0 {
        notes.push(format!("truncated lines: {}", excerpt.cut));
    }
    if excerpt.lossy {
        notes.push("bytes that are not UTF-8 are shown as \u{FFFD}; fs.edit keeps them".to_owned());
    }
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::{Content, ErrorCode, Grant};

    use super::{BLOCK, HEAD};
    use crate::fixture::Fixture;

    #[tokio::test]
    async fn a_short_file_is_given_as_it_is() {
        let fixture = Fixture::with_files(&[("a/b.txt", "one\ntwo")]);
        for path in ["a/b.txt", "./a//b.txt", "missing/../a/b.txt", "a/b.txt/"] {
            assert_eq!(fixture.text("fs.read", json!({"path": path})).await, "one\ntwo", "{path}");
        }
    }

    #[tokio::test]
    async fn a_part_says_which_lines_it_is() {
        let fixture = Fixture::with_files(&[("lines", "1\n2\n3\n4\n5\n")]);
        let read = async |start, end| {
            let result = fixture.call("fs.read", json!({"path": "lines", "start": start, "end": end})).await.unwrap();
            let texts: Vec<_> =
                result.content.iter().filter_map(|content| content.as_text()).map(str::to_owned).collect();
            texts
        };
        assert_eq!(read(2, 3).await, ["2\n3\n", "[lines 2 to 3; more lines follow, continue with start = 4]"]);
        assert_eq!(read(4, 9).await, ["4\n5\n", "[lines 4 to 5, the end of the file]"]);
        assert_eq!(read(1, 5).await, ["1\n2\n3\n4\n5\n"]);
    }

    #[tokio::test]
    async fn a_file_of_any_size_is_read_to_its_end() {
        let fixture = Fixture::new();
        for size in [HEAD - 1, HEAD, HEAD + 1, BLOCK - 1, BLOCK, BLOCK + 1] {
            fixture.write("file", &format!("{}end", "\n".repeat(size as usize - 3)));
            let text = fixture.text("fs.read", json!({"path": "file", "start": size - 2})).await;
            assert!(text.starts_with("end") && text.contains("the end of the file"), "{size}: {text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_file_that_tells_no_size_is_read_to_its_end() {
        let text = Fixture::for_dir("/proc/self").text("fs.read", json!({"path": "status"})).await;
        assert!(text.len() as u64 > HEAD && text.contains("nonvoluntary_ctxt_switches"), "{text}");
    }

    #[tokio::test]
    async fn an_empty_file_is_no_empty_result() {
        let fixture = Fixture::with_files(&[("empty", "")]);
        assert_eq!(fixture.text("fs.read", json!({"path": "empty"})).await, "[the file is empty]");
    }

    #[tokio::test]
    async fn invalid_ranges_are_refused() {
        let fixture = Fixture::with_files(&[("a", "1\n2\n")]);
        fixture.fails("fs.read", json!({"path": "a", "start": 3}), "the last line of `a` is 2").await;
        fixture.fails("fs.read", json!({"path": "a", "start": 2, "end": 1}), "swap them").await;
        fixture.fails("fs.read", json!({"path": "a", "start": 0}), "/start").await;
    }

    #[tokio::test]
    async fn unusable_reads_are_refused() {
        let fixture = Fixture::with_files(&[("src/main.rs", ""), ("binary", "a\0b")]);
        fixture.write("utf16", b"\xFF\xFEa\0");
        fixture.write("latin", b"caf\xE9");
        fixture.fails("fs.read", json!({"path": "src"}), "list it with fs.list").await;
        fixture.fails("fs.read", json!({"path": "src/Main"}), "did you mean `src/main.rs`?").await;
        fixture.fails("fs.read", json!({"path": "other"}), "list its directory with fs.list").await;
        fixture.fails("fs.read", json!({"path": "binary"}), "it has NUL bytes").await;
        fixture.fails("fs.read", json!({"path": "utf16"}), "UTF-16").await;
        let lossy = fixture.text("fs.read", json!({"path": "latin"})).await;
        assert!(
            lossy.starts_with("caf\u{FFFD}") && lossy.contains("not UTF-8") && lossy.contains("fs.edit"),
            "{lossy}"
        );
    }

    #[tokio::test]
    async fn a_picture_is_given_as_one() {
        let fixture = Fixture::new();
        let bytes = b"\x89PNG\r\n\x1a\n\0\0rest";
        std::fs::write(fixture.root().join("dot"), bytes).unwrap();
        let result = fixture.call("fs.read", json!({"path": "dot"})).await.unwrap();
        let picture = Content::Image { data: "iVBORw0KGgoAAHJlc3Q=".into(), mime_type: "image/png".into() };
        assert_eq!(result.content, [Content::text("[`dot`: image/png, 14 bytes]"), picture]);
        std::fs::File::options().write(true).open(fixture.root().join("dot")).unwrap().set_len(6 << 20).unwrap();
        fixture.fails("fs.read", json!({"path": "dot"}), "has more than 5242880 bytes").await;
    }

    #[tokio::test]
    async fn near_names_are_those_that_may_be_read() {
        let fixture = Fixture::new().granted("fs:read:report1");
        fixture.write("report2", "");
        fixture.write("report3", "");
        fixture.fails("fs.read", json!({"path": "report1"}), "there is no `report1`; list").await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_inside_the_workspace_are_followed_as_far_as_the_grant_goes() {
        let fixture = Fixture::with_files(&[("docs/a.txt", "text"), ("secret/b.txt", "canary")]);
        fixture.link("a.txt", "docs/to_a");
        fixture.link("../secret/b.txt", "docs/to_b");
        fixture.link("../secret", "docs/to_secret");
        assert_eq!(fixture.text("fs.read", json!({"path": "docs/to_a"})).await, "text");
        assert_eq!(fixture.text("fs.read", json!({"path": "docs/to_secret/b.txt"})).await, "canary");

        let fixture = fixture.granted("fs:read:docs/**");
        assert_eq!(fixture.text("fs.read", json!({"path": "docs/to_a"})).await, "text");
        for path in ["docs/to_b", "docs/to_secret/b.txt", "docs/to_secret/missing"] {
            let error = fixture.call("fs.read", json!({"path": path})).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::PermissionDenied, "{path}: {error}");
        }
    }

    #[tokio::test]
    async fn without_a_grant_or_a_workspace_nothing_is_read() {
        let fixture = Fixture::with_files(&[("a", "")]);
        let bare = fixture.with_context(tools::ToolContext::new().with_grant(Grant::all()));
        assert_eq!(bare.call("fs.read", json!({"path": "a"})).await.unwrap_err().code(), ErrorCode::Unavailable);
        let fixture = Fixture::new().granted("fs:read:b");
        assert_eq!(
            fixture.call("fs.read", json!({"path": "a"})).await.unwrap_err().code(),
            ErrorCode::PermissionDenied
        );
    }
}
