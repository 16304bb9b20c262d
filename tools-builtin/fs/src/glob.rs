//! `fs.glob`: finds paths that match a pattern.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use serde::Serialize;
use tools::{ToolContext, ToolError, tool};
use tools_workspace::Workspace;

use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::listing::is_zero;
use crate::path::RelativePath;
use crate::slot::Slot;
use crate::tree_walk::TreeWalk;

/// The maximum number of paths in a result.
const MAX_MATCHES: usize = 500;

/// Finds files, directories and links in the workspace by a glob pattern. `*` and `?` match within one name, `**` matches across
/// directories, `{a,b}` matches either. Skips .git and paths that ignore files such as .gitignore exclude.
#[tool(
    name = "fs.glob",
    title = "Find files by name",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // Fits 500 long paths.
    max_output = "1MiB",
    example({"pattern": "**/*.rs"}),
    example({"pattern": "{src,tests}/**/mod.rs", "path": "protocol", "ignored": true}),
)]
pub(crate) fn glob(
    cx: &ToolContext,
    /// The glob pattern, relative to `path`.
    #[schemars(length(min = 1, max = 1024))]
    pattern: String,
    /// The directory to search, relative to the workspace root. The root if omitted.
    #[serde(default)]
    path: RelativePath,
    /// Include .git and paths that ignore files exclude.
    #[serde(default)]
    ignored: bool,
) -> Result<Matches, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let files = Files::new(cx, &workspace);
    Ok(matches(files, &pattern, &path, ignored)?)
}

/// The result of `fs.glob`.
#[derive(Debug, Serialize)]
pub(crate) struct Matches {
    /// Paths relative to the workspace root, sorted by name within each directory. Directories end with a slash.
    paths: Vec<String>,
    /// The number of matches omitted from `paths`.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn matches(
    files: Files<'_>,
    glob: &str,
    path: &RelativePath,
    ignored: bool,
) -> Result<Matches, FsError> {
    let matcher = pattern(glob)?;
    let start = Slot::find_existing(files, path)?;
    let dir = start.open_dir()?;
    let mut paths = Vec::new();
    let mut more = 0;
    let hidden = files.workspace.hidden_snapshot();
    let walk = TreeWalk::new(files, &hidden, &start.path, ignored);
    let skipped = walk.run(dir, &start.path, &mut |found| {
        if matcher.is_match(found.path.below(&start.path)) {
            if paths.len() == MAX_MATCHES {
                more += 1;
            } else if found.kind == Kind::Directory {
                paths.push(format!("{}/", found.path));
            } else {
                paths.push(found.path.to_string());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    files.show_names(&paths);
    let mut notes = skipped.notes();
    if more > 0 {
        let bound = if skipped.stopped { "at least " } else { "" };
        let note =
            format!("{bound}{more} more; use a narrower pattern, or start in a subdirectory");
        notes.insert(0, note);
    }
    Ok(Matches {
        paths,
        more,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    })
}

/// Compiles a glob pattern. `*` and `?` match within one name, `**` matches across directories.
pub(crate) fn pattern(text: &str) -> Result<GlobMatcher, FsError> {
    if text.starts_with('/') || text.split('/').any(|part| matches!(part, "." | "..")) {
        let reason =
            format!("`{text}` is not relative to the searched directory, or it has `.` or `..`");
        return Err(FsError::Pattern { reason });
    }
    let glob = GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| FsError::Pattern {
            reason: error.to_string(),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fixture::Fixture;

    async fn paths(fixture: &Fixture, arguments: Value) -> Value {
        fixture.value("fs.glob", arguments).await["paths"].clone()
    }

    #[tokio::test]
    async fn patterns_match_paths_and_the_result_is_sorted() {
        let fixture = Fixture::with_files(
            &["b.rs", "a/x.rs", "a/deep/y.rs", "a/z.txt", ".hidden.rs"].map(|path| (path, "")),
        );
        for (pattern, expected) in [
            ("*.rs", json!([".hidden.rs", "b.rs"])),
            (
                "**/*.rs",
                json!([".hidden.rs", "a/deep/y.rs", "a/x.rs", "b.rs"]),
            ),
            ("a/*", json!(["a/deep/", "a/x.rs", "a/z.txt"])),
            ("**/{x,y}.*", json!(["a/deep/y.rs", "a/x.rs"])),
            ("none", json!([])),
        ] {
            assert_eq!(
                paths(&fixture, json!({"pattern": pattern})).await,
                expected,
                "{pattern}"
            );
        }
        assert_eq!(
            paths(&fixture, json!({"pattern": "*.rs", "path": "a"})).await,
            json!(["a/x.rs"])
        );
    }

    #[tokio::test]
    async fn ignore_files_are_honoured_where_they_stand() {
        let fixture = Fixture::with_files(
            &[
                "target/o.rs",
                "a/keep.rs",
                "a/drop.rs",
                "a/b/drop.rs",
                "drop.rs",
                ".git/x.rs",
            ]
            .map(|path| (path, "")),
        );
        fixture.write(".gitignore", "/target/\n");
        fixture.write("a/.gitignore", "drop.rs\n!b/drop.rs\n");
        fixture.write("a/b/.ignore", "!drop.rs\n");
        let kept = json!(["a/b/drop.rs", "a/keep.rs", "drop.rs"]);
        assert_eq!(paths(&fixture, json!({"pattern": "**/*.rs"})).await, kept);
        let below = paths(&fixture, json!({"pattern": "**/*.rs", "path": "a/b"})).await;
        assert_eq!(below, json!(["a/b/drop.rs"]));
        let all = paths(&fixture, json!({"pattern": "**/*.rs", "ignored": true})).await;
        assert_eq!(all.as_array().unwrap().len(), 6);
        assert_eq!(
            paths(&fixture, json!({"pattern": "*", "path": "target"})).await,
            json!(["target/o.rs"])
        );
    }

    #[tokio::test]
    async fn invalid_ignore_files_are_noted() {
        let fixture = Fixture::with_files(&[(".gitignore", "[a\nb\n"), ("b", "")]);
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!(found["paths"], json!([".gitignore"]));
        let note = "invalid patterns in ignore files: 1 (first in `.gitignore`)";
        assert_eq!(found["note"], note);
        let text = fixture.text("fs.search", json!({"pattern": "none"})).await;
        assert_eq!(
            text,
            format!("[no line matches; files searched: 1; {note}]")
        );
        let found = fixture
            .value("fs.glob", json!({"pattern": "*", "ignored": true}))
            .await;
        assert!(found.get("note").is_none(), "{found}");
    }

    #[tokio::test]
    async fn drafts_are_shown_by_nothing() {
        let fixture = Fixture::new();
        let (draft, other) = (
            "dir/.toolcrib-0123456789abcdef.tmp",
            "dir/.toolcrib-0123456789abcdef.tmpl",
        );
        fixture.write(draft, "text");
        fixture.write(other, "text");
        assert_eq!(
            paths(&fixture, json!({"pattern": "dir/*", "ignored": true})).await,
            json!([other])
        );
        let text = fixture
            .text("fs.search", json!({"pattern": "text", "ignored": true}))
            .await;
        assert!(
            text.starts_with(other) && text.ends_with("in 1 of 1 file searched]"),
            "{text}"
        );
        let listing = fixture.value("fs.list", json!({"path": "dir"})).await;
        assert_eq!(listing["entries"].as_array().unwrap().len(), 1, "{listing}");
        let near = json!({"path": "dir/.toolcrib-0123456789abcdee.tmp"});
        fixture
            .fails("fs.read", near, &format!("did you mean `{other}`?"))
            .await;
        // `fs.remove` still removes them.
        fixture
            .text("fs.remove", json!({"path": "dir", "recursive": true}))
            .await;
    }

    #[tokio::test]
    async fn many_matches_are_cut_and_counted() {
        let fixture = Fixture::new();
        for number in 0..510 {
            fixture.write(&format!("{number:03}"), "");
        }
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!(
            (found["paths"].as_array().unwrap().len(), &found["more"]),
            (500, &json!(10))
        );
        assert!(
            found["note"]
                .as_str()
                .unwrap()
                .starts_with("10 more; use a narrower pattern")
        );
    }

    #[tokio::test]
    async fn entries_without_a_grant_are_not_found() {
        let fixture = Fixture::with_files(&[("open/a.txt", ""), ("secret/b.txt", "")]);
        let fixture = fixture.granted_all(&["fs:read:.", "fs:read:open/**"]);
        let found = fixture.value("fs.glob", json!({"pattern": "**"})).await;
        assert_eq!(found["paths"], json!(["open/", "open/a.txt"]));
        assert_eq!(found["note"], "entries skipped for lack of a grant: 1");
    }

    #[tokio::test]
    async fn invalid_patterns_are_refused() {
        let fixture = Fixture::with_files(&[("file", "")]);
        for (pattern, message) in [
            ("/etc/*", "not relative"),
            ("../*", "not relative"),
            ("a[", "unclosed"),
        ] {
            fixture
                .fails("fs.glob", json!({"pattern": pattern}), message)
                .await;
        }
        fixture
            .fails(
                "fs.glob",
                json!({"pattern": "*", "path": "file"}),
                "name a directory",
            )
            .await;
    }

    #[tokio::test]
    async fn links_are_found_and_not_followed() {
        let fixture = Fixture::with_files(&[("dir/a", "")]);
        fixture.link(".", "dir/loop");
        fixture.link("/etc", "out");
        fixture.link("gone", "dangling");
        let found = paths(&fixture, json!({"pattern": "**"})).await;
        assert_eq!(
            found,
            json!(["dangling", "dir/", "dir/a", "dir/loop", "out"])
        );
        let through = paths(&fixture, json!({"pattern": "**", "path": "dir/loop"})).await;
        assert_eq!(through, json!(["dir/a", "dir/loop"]));
    }

    #[tokio::test]
    async fn odd_names_are_counted() {
        use std::os::unix::ffi::OsStrExt;

        let fixture = Fixture::new();
        for name in [&b"\xff"[..], b"a\nb", b"a\\b", b"good"] {
            std::fs::write(fixture.root().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
        }
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!(found["paths"], json!(["good"]));
        assert_eq!(
            found["note"],
            "entries skipped because their names are not valid in path arguments: 3"
        );
    }
}
