//! `fs.search`: the lines that match a regular expression.

use std::io::Read;
use std::ops::ControlFlow;

use cap_std::fs::Dir;
use globset::GlobMatcher;
use tools::{Content, ToolContext, ToolError, tool};

use crate::Workspace;
use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::pattern::pattern as glob_pattern;
use crate::place::{Place, open_file};
use crate::scan::Scan;
use crate::tree::Tree;

/// How large a file may be to be searched, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// How much is looked at after a result is full, in bytes, to see whether there is more. An entry counts as
/// [`ENTRY`] bytes and the content of its file.
const MAX_AHEAD: u64 = 32 * 1024 * 1024;
const ENTRY: u64 = 1024;

/// Searches the text files of the workspace for lines that match a regular expression (Rust's syntax, without look-around
/// and backreferences), each line by itself. What ignore files such as .gitignore name is left out, and so are .git, binary
/// files and links.
#[tool(
    name = "fs.search",
    title = "Search in files",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // More than a scan can have, which cuts with more care.
    max_output = "256KiB",
    timeout = "60s",
    example({"pattern": "fn main"}),
    example({"pattern": "todo|fixme", "path": "src", "glob": "*.rs", "ignore_case": true, "context": 2}),
)]
pub(crate) fn search(
    cx: &ToolContext,
    /// The regular expression.
    #[schemars(length(min = 1, max = 4096))]
    pattern: String,
    /// The directory or file to search, relative to the workspace root, which is the default.
    #[serde(default)]
    path: RelativePath,
    /// Searches only files like this: by name, as in `*.rs`, or, with a slash, by path relative to `path`.
    #[schemars(length(min = 1, max = 1024))]
    glob: Option<String>,
    /// How many lines to show before and after each match, up to 10.
    #[serde(default)]
    #[schemars(range(max = 10))]
    context: u8,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// Whether to search what ignore files name too.
    #[serde(default)]
    ignored: bool,
) -> Result<Vec<Content>, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let glob = glob.as_deref().map(glob_pattern).transpose()?;
    let scan = Scan::new(&pattern, ignore_case, context.min(10).into())?;
    let search = Search { cx, glob, scan, searched: 0, ahead: 0, binary: 0, large: 0, unreadable: 0 };
    Ok(search.run(&workspace, &path, ignored)?)
}

struct Search<'a> {
    cx: &'a ToolContext,
    glob: Option<GlobMatcher>,
    scan: Scan,
    searched: u64,
    /// How much was looked at since the result is full.
    ahead: u64,
    binary: u64,
    large: u64,
    unreadable: u64,
}

impl Search<'_> {
    fn run(mut self, workspace: &Workspace, path: &RelativePath, ignored: bool) -> Result<Vec<Content>, FsError> {
        let place = Place::find(self.cx, workspace, path)?;
        let mut facts = Vec::new();
        if place.kind == Kind::Directory {
            let tree = Tree::new(self.cx, workspace, &place.path, ignored);
            let left_out = tree.walk(&place.open_dir()?, &place.path, &mut |found| {
                if found.kind == Kind::File && self.is_wanted(found.path, &place.path) {
                    self.file(found.dir, found.name, found.path)?;
                }
                if self.scan.is_full() {
                    self.ahead += ENTRY;
                }
                Ok(if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            facts = left_out.facts();
        } else {
            self.content(&place.path, place.open_file()?)?;
        }
        facts.splice(0..0, self.facts());
        let text = Some(std::mem::take(&mut self.scan.text)).filter(|text| !text.is_empty());
        Ok(text.into_iter().chain([format!("[{}]", facts.join("; "))]).map(Content::text).collect())
    }

    /// Whether there is nothing to learn from the files that follow.
    fn is_over(&self) -> bool {
        self.scan.more || self.ahead >= MAX_AHEAD
    }

    fn is_wanted(&self, path: &RelativePath, start: &RelativePath) -> bool {
        let Some(glob) = &self.glob else { return true };
        let by_path = glob.glob().glob().contains('/');
        glob.is_match(if by_path { path.below(start) } else { path.names().last().unwrap_or_default() })
    }

    fn file(&mut self, dir: &Dir, name: &str, path: &RelativePath) -> Result<(), FsError> {
        match open_file(dir, name, path) {
            Ok(file) => self.content(path, file),
            Err(_) => {
                // Gone, or something else, since it was seen; or not for us.
                self.unreadable += 1;
                Ok(())
            }
        }
    }

    fn content(&mut self, path: &RelativePath, file: impl Read) -> Result<(), FsError> {
        let mut content = Vec::new();
        let was_full = self.scan.is_full();
        if file.take(MAX_FILE + 1).read_to_end(&mut content).is_err() {
            self.unreadable += 1;
        } else if content.len() as u64 > MAX_FILE {
            self.large += 1;
        } else if content.contains(&0) {
            self.binary += 1;
        } else {
            self.searched += 1;
            self.scan.file(self.cx, path, &content)?;
        }
        if was_full {
            self.ahead += content.len() as u64;
        }
        Ok(())
    }

    fn facts(&self) -> Vec<String> {
        let Scan { hits, files, more, .. } = self.scan;
        let bound = match (more, self.is_over()) {
            (true, _) => "more than ",
            (false, true) => "at least ",
            (false, false) => "",
        };
        let mut facts = vec![match hits {
            0 => format!("no line matches; files searched: {}", self.searched),
            _ => format!("matching lines: {bound}{hits}, in {files} of {} files searched", self.searched),
        }];
        if self.is_over() {
            facts.push(format!(
                "the search ended there, and the first {hits} are shown; use a narrower pattern, glob or path to see others"
            ));
        }
        let skipped = [
            (self.binary, "binary files skipped"),
            (self.large, "files over 16 MiB skipped"),
            (self.unreadable, "files that could not be read"),
            (self.scan.long, "lines searched only in their first 64 KiB"),
        ];
        facts.extend(skipped.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")));
        facts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ErrorCode;

    use crate::fixture::Fixture;

    fn fixture() -> Fixture {
        Fixture::of(&[
            ("src/main.rs", "fn main() {\n    run();\n}\n"),
            ("src/run.rs", "fn run() {}\n"),
            ("notes.txt", "call run\n"),
        ])
    }

    #[tokio::test]
    async fn matching_lines_are_shown_by_file() {
        let text = fixture().text("fs.search", json!({"pattern": r"\brun\b"})).await;
        let expected = "notes.txt\n1: call run\n\nsrc/main.rs\n2:     run();\n\nsrc/run.rs\n1: fn run() {}\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("[matching lines: 3, in 3 of 3 files searched]"), "{text}");
    }

    #[tokio::test]
    async fn a_search_can_be_narrowed() {
        let fixture = fixture();
        for (arguments, files) in [
            (json!({"pattern": "run", "path": "src"}), 2),
            (json!({"pattern": "run", "path": "src/run.rs"}), 1),
            (json!({"pattern": "run", "glob": "*.rs"}), 2),
            (json!({"pattern": "run", "glob": "src/m*"}), 1),
            (json!({"pattern": "run", "glob": "m*", "path": "src"}), 1),
            (json!({"pattern": "RUN"}), 0),
            (json!({"pattern": "RUN", "ignore_case": true}), 3),
        ] {
            let text = fixture.text("fs.search", arguments.clone()).await;
            let expected = if files == 0 { "no line matches".to_owned() } else { format!("in {files} of") };
            assert!(text.contains(&expected), "{arguments}: {text}");
        }
    }

    #[tokio::test]
    async fn what_ignore_files_name_is_left_out() {
        let fixture = fixture();
        fixture.write(".ignore", "*.txt\nsrc/run.rs\n");
        assert!(fixture.text("fs.search", json!({"pattern": r"run\("})).await.contains("in 1 of 2 files"));
        assert!(
            fixture.text("fs.search", json!({"pattern": r"run\(", "path": "src"})).await.contains("in 1 of 1 files")
        );
        let all = json!({"pattern": "call run", "ignored": true});
        assert!(fixture.text("fs.search", all).await.contains("in 1 of 4 files"));
    }

    #[tokio::test]
    async fn what_is_no_text_is_skipped_and_counted() {
        let fixture = Fixture::of(&[("binary", "run\0")]);
        std::fs::write(fixture.root().join("latin"), b"run caf\xE9\n").unwrap();
        std::fs::File::create(fixture.root().join("large")).unwrap().set_len(17 * 1024 * 1024).unwrap();
        let text = fixture.text("fs.search", json!({"pattern": "run"})).await;
        assert!(text.starts_with("latin\n1: run caf\u{FFFD}\n"), "{text}");
        assert!(text.ends_with("in 1 of 1 files searched; binary files skipped: 1; files over 16 MiB skipped: 1]"));
    }

    #[tokio::test]
    async fn a_full_result_says_whether_there_is_more() {
        let fixture = Fixture::new();
        for number in 0..200 {
            fixture.write(&format!("{number:03}"), "x\n");
        }
        fixture.write("a", "y");
        let search = json!({"pattern": "x"});
        let text = fixture.text("fs.search", search.clone()).await;
        assert!(text.ends_with("[matching lines: 200, in 200 of 201 files searched]"), "{text}");
        fixture.write("b", "y\nx");
        let text = fixture.text("fs.search", search.clone()).await;
        let told = "[matching lines: more than 200, in 200 of 202 files searched; the search ended there, and the \
                    first 200 are shown; use a narrower pattern, glob or path to see others]";
        assert!(text.ends_with(told), "{text}");
        // It is not looked for without end.
        for name in ["a", "aa", "aaa"] {
            fixture.write(name, &"y\n".repeat(6 * 1024 * 1024));
        }
        let text = fixture.text("fs.search", search).await;
        assert!(
            text.contains("[matching lines: at least 200, in 200 of 203 files searched; the search ended"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn what_is_not_granted_is_not_searched() {
        let fixture = fixture().granted_all(&["fs:read:.", "fs:read:src", "fs:read:src/m*"]);
        let text = fixture.text("fs.search", json!({"pattern": "run"})).await;
        assert!(text.starts_with("src/main.rs\n2:     run();\n"), "{text}");
        assert!(text.ends_with("in 1 of 1 files searched; entries left out for lack of a grant: 2]"), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_searched_is_told() {
        let fixture = fixture();
        fixture.fails("fs.search", json!({"pattern": "("}), "the pattern is not usable").await;
        fixture.fails("fs.search", json!({"pattern": "x", "glob": "/x"}), "not relative").await;
        fixture.fails("fs.search", json!({"pattern": "x", "path": "gone"}), "there is no `gone`").await;
        fixture.fails("fs.search", json!({"pattern": "x", "context": 11}), "/context").await;
    }

    #[tokio::test]
    async fn a_search_that_was_taken_back_ends() {
        let fixture = fixture();
        fixture.cancel();
        let error = fixture.call("fs.search", json!({"pattern": "x"})).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled, "{error}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_and_special_files_are_passed_by() {
        let fixture = fixture();
        fixture.pipe("pipe");
        fixture.link(".", "loop");
        fixture.link("/etc/passwd", "out");
        fixture.link("notes.txt", "to_notes");
        assert!(fixture.text("fs.search", json!({"pattern": "."})).await.contains("in 3 of 3 files"));
        fixture.fails("fs.search", json!({"pattern": ".", "path": "pipe"}), "is a named pipe").await;
        assert!(fixture.text("fs.search", json!({"pattern": ".", "path": "to_notes"})).await.starts_with("notes.txt"));
    }
}
