//! `fs.glob`: the paths that match a pattern.

use std::ops::ControlFlow;

use serde::Serialize;
use tools::{ToolContext, ToolError, tool};

use crate::Workspace;
use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::pattern::pattern;
use crate::place::Place;
use crate::tree::Tree;

/// How many paths one result has.
const MAX_MATCHES: usize = 500;

/// Finds files, directories and links of the workspace by a pattern for their paths: `*` and `?` stay within one name, `**`
/// goes across directories, `{a,b}` is either. What ignore files such as .gitignore name is left out, and so is .git.
#[tool(
    name = "fs.glob",
    title = "Find files by name",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // More than 500 long paths.
    max_output = "1MiB",
    example({"pattern": "**/*.rs"}),
    example({"pattern": "{src,tests}/**/mod.rs", "path": "protocol", "ignored": true}),
)]
pub(crate) fn glob(
    cx: &ToolContext,
    /// The pattern, relative to `path`.
    #[schemars(length(min = 1, max = 1024))]
    pattern: String,
    /// The directory in which to look, relative to the workspace root, which is the default.
    #[serde(default)]
    path: RelativePath,
    /// Whether to find what ignore files name too.
    #[serde(default)]
    ignored: bool,
) -> Result<Matches, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    Ok(matches(cx, &workspace, &pattern, &path, ignored)?)
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Matches {
    /// Relative to the workspace root, sorted name by name. Those of directories end with a slash.
    paths: Vec<String>,
    /// How many more there are, among the entries that were looked at.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn matches(
    cx: &ToolContext,
    workspace: &Workspace,
    glob: &str,
    path: &RelativePath,
    ignored: bool,
) -> Result<Matches, FsError> {
    let matcher = pattern(glob)?;
    let place = Place::find(cx, workspace, path)?;
    let dir = place.open_dir()?;
    let (mut paths, mut more) = (Vec::new(), 0);
    let left_out = Tree::new(cx, workspace, &place.path, ignored).walk(&dir, &place.path, &mut |found| {
        if matcher.is_match(found.path.below(&place.path)) {
            if paths.len() < MAX_MATCHES {
                let end = if found.kind == Kind::Directory { "/" } else { "" };
                paths.push(format!("{}{end}", found.path));
            } else {
                more += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut facts = left_out.facts();
    if more > 0 {
        let bound = if left_out.stopped() { "at least " } else { "" };
        facts.insert(0, format!("{bound}{more} more; use a narrower pattern, or begin in a directory further down"));
    }
    Ok(Matches { paths, more, note: (!facts.is_empty()).then(|| facts.join("; ")) })
}

fn is_zero(count: &u64) -> bool {
    *count == 0
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
        let fixture = Fixture::of(&["b.rs", "a/x.rs", "a/deep/y.rs", "a/z.txt", ".hidden.rs"].map(|path| (path, "")));
        for (pattern, expected) in [
            ("*.rs", json!([".hidden.rs", "b.rs"])),
            ("**/*.rs", json!([".hidden.rs", "a/deep/y.rs", "a/x.rs", "b.rs"])),
            ("a/*", json!(["a/deep/", "a/x.rs", "a/z.txt"])),
            ("**/{x,y}.*", json!(["a/deep/y.rs", "a/x.rs"])),
            ("none", json!([])),
        ] {
            assert_eq!(paths(&fixture, json!({"pattern": pattern})).await, expected, "{pattern}");
        }
        assert_eq!(paths(&fixture, json!({"pattern": "*.rs", "path": "a"})).await, json!(["a/x.rs"]));
    }

    #[tokio::test]
    async fn ignore_files_are_honoured_where_they_stand() {
        let fixture = Fixture::of(
            &["target/o.rs", "a/keep.rs", "a/drop.rs", "a/b/drop.rs", "drop.rs", ".git/x.rs"].map(|path| (path, "")),
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
        assert_eq!(paths(&fixture, json!({"pattern": "*", "path": "target"})).await, json!(["target/o.rs"]));
    }

    #[tokio::test]
    async fn ignore_files_that_say_nothing_are_told() {
        let fixture = Fixture::of(&[(".gitignore", "[a\nb\n"), ("b", "")]);
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!(found["paths"], json!([".gitignore"]));
        let note = "lines of ignore files that are no patterns: 1 (the first in `.gitignore`)";
        assert_eq!(found["note"], note);
        let text = fixture.text("fs.search", json!({"pattern": "none"})).await;
        assert_eq!(text, format!("[no line matches; files searched: 1; {note}]"));
        let found = fixture.value("fs.glob", json!({"pattern": "*", "ignored": true})).await;
        assert!(found.get("note").is_none(), "{found}");
    }

    #[tokio::test]
    async fn drafts_are_shown_by_nothing() {
        let fixture = Fixture::new();
        let (draft, other) = ("dir/.toolcrib-0123456789abcdef.tmp", "dir/.toolcrib-0123456789abcdef.tmpl");
        fixture.write(draft, "text");
        fixture.write(other, "text");
        assert_eq!(paths(&fixture, json!({"pattern": "dir/*", "ignored": true})).await, json!([other]));
        let text = fixture.text("fs.search", json!({"pattern": "text", "ignored": true})).await;
        assert!(text.starts_with(other) && text.ends_with("in 1 of 1 files searched]"), "{text}");
        let listing = fixture.value("fs.list", json!({"path": "dir"})).await;
        assert_eq!(listing["entries"].as_array().unwrap().len(), 1, "{listing}");
        let near = json!({"path": "dir/.toolcrib-0123456789abcdee.tmp"});
        fixture.fails("fs.read", near, &format!("did you mean `{other}`?")).await;
        // They are there all the same for what must not leave anything behind.
        fixture.text("fs.remove", json!({"path": "dir", "recursive": true})).await;
    }

    #[tokio::test]
    async fn many_matches_are_cut_and_counted() {
        let fixture = Fixture::new();
        for number in 0..510 {
            fixture.write(&format!("{number:03}"), "");
        }
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!((found["paths"].as_array().unwrap().len(), &found["more"]), (500, &json!(10)));
        assert!(found["note"].as_str().unwrap().starts_with("10 more; use a narrower pattern"));
    }

    #[tokio::test]
    async fn what_is_not_granted_is_not_found() {
        let fixture = Fixture::of(&[("open/a.txt", ""), ("secret/b.txt", "")]);
        let fixture = fixture.granted_all(&["fs:read:.", "fs:read:open/**"]);
        let found = fixture.value("fs.glob", json!({"pattern": "**"})).await;
        assert_eq!(found["paths"], json!(["open/", "open/a.txt"]));
        assert_eq!(found["note"], "entries left out for lack of a grant: 1");
    }

    #[tokio::test]
    async fn patterns_that_cannot_match_are_told() {
        let fixture = Fixture::of(&[("file", "")]);
        for (pattern, told) in [("/etc/*", "not relative"), ("../*", "not relative"), ("a[", "unclosed")] {
            fixture.fails("fs.glob", json!({"pattern": pattern}), told).await;
        }
        fixture.fails("fs.glob", json!({"pattern": "*", "path": "file"}), "name a directory").await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_are_found_and_not_followed() {
        let fixture = Fixture::of(&[("dir/a", "")]);
        fixture.link(".", "dir/loop");
        fixture.link("/etc", "out");
        fixture.link("gone", "dangling");
        let found = paths(&fixture, json!({"pattern": "**"})).await;
        assert_eq!(found, json!(["dangling", "dir/", "dir/a", "dir/loop", "out"]));
        let through = paths(&fixture, json!({"pattern": "**", "path": "dir/loop"})).await;
        assert_eq!(through, json!(["dir/a", "dir/loop"]));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn odd_names_are_counted() {
        use std::os::unix::ffi::OsStrExt;

        let fixture = Fixture::new();
        for name in [&b"\xff"[..], b"a\nb", b"a\\b", b"good"] {
            std::fs::write(fixture.root().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
        }
        let found = fixture.value("fs.glob", json!({"pattern": "*"})).await;
        assert_eq!(found["paths"], json!(["good"]));
        assert_eq!(found["note"], "entries left out because no argument could spell their names: 3");
    }
}
