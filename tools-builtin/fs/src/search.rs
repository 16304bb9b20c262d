//! `fs.search`: finds lines that match a regular expression.

use std::fs::Metadata;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;

use cap_std::fs::Dir;
use globset::GlobMatcher;
use memchr::memchr;
use tools::{Content, ToolContext, ToolError, tool};
use tools_text::TextEncoding;
use tools_workspace::Workspace;

use crate::counted::counted;
use crate::encoding::{Decoded, parse_label};
use crate::error::FsError;
use crate::files::Files;
use crate::glob::pattern as glob_pattern;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::replacement::MAX_FILE as MAX_DECODED;
use crate::resolved_entry::open_file;
use crate::scan::Scan;
use crate::shown::Shown;
use crate::slot::Slot;
use crate::tree_walk::TreeWalk;

/// The size up to which the files of a directory are searched, in bytes. A file that the call names has no limit if it is UTF-8, and
/// [`MAX_DECODED`] in another encoding.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The size of a read of a named file, in bytes. It is binary if the first read has NUL bytes.
const BLOCK: usize = 64 * 1024;

/// Searches text files of the workspace, line by line, for a regular expression (Rust syntax, without look-around and
/// backreferences). Skips binary files, links, .git, and files that ignore files such as .gitignore exclude. In a directory, also skips
/// files over 16 MiB; name such a file to search it.
#[tool(
    name = "fs.search",
    title = "Search in files",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // Above the limit of a scan, so that the pipeline does not truncate the output.
    max_output = "256KiB",
    timeout = "60s",
    example({"pattern": "fn main"}),
    example({"pattern": "todo|fixme", "path": "src", "glob": "*.rs", "ignore_case": true, "context": 2}),
)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub(crate) fn search(
    cx: &ToolContext,
    /// The regular expression.
    #[schemars(length(min = 1, max = 4096))]
    pattern: String,
    /// The directory or file to search, relative to the workspace root. The root if omitted.
    #[serde(default)]
    path: RelativePath,
    /// Search only files that match this glob: by file name, as in `*.rs`, or by path relative to `path` if it has a slash.
    #[schemars(length(min = 1, max = 1024))]
    glob: Option<String>,
    /// The number of lines to show before and after each match, at most 10.
    #[serde(default)]
    #[schemars(range(max = 10))]
    context: u8,
    /// Match upper and lower case alike.
    #[serde(default)]
    ignore_case: bool,
    /// Include .git and files that ignore files exclude.
    #[serde(default)]
    ignored: bool,
    /// The encoding of files that are not UTF-8. Guessed if omitted.
    #[schemars(length(max = 40))]
    encoding: Option<String>,
) -> Result<Vec<Content>, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let glob = glob.as_deref().map(glob_pattern).transpose()?;
    let scan = Scan::new(&pattern, ignore_case, context.min(10).into())?;
    let named = parse_label(encoding.as_deref())?;
    let search = Search {
        files: Files::new(cx, &workspace),
        glob,
        scan,
        opened: None,
        named,
        searched: 0,
        decoded: 0,
        binary: 0,
        large: 0,
        unreadable: 0,
    };
    Ok(search.run(&path, ignored)?)
}

struct Search<'a> {
    files: Files<'a>,
    glob: Option<GlobMatcher>,
    scan: Scan,
    /// The metadata of the file before it is read.
    opened: Option<Metadata>,
    /// The encoding of files that are not UTF-8.
    named: Option<TextEncoding>,
    searched: u64,
    /// The number of files that were not UTF-8.
    decoded: u64,
    binary: u64,
    large: u64,
    unreadable: u64,
}

impl Search<'_> {
    fn run(mut self, path: &RelativePath, ignored: bool) -> Result<Vec<Content>, FsError> {
        let start = Slot::find_existing(self.files, path)?;
        let mut notes = Vec::new();
        if start.kind == Some(Kind::Directory) {
            let walk = TreeWalk::new(self.files, &start.path, ignored);
            let skipped = walk.run(&start.open_dir()?, &start.path, &mut |found| {
                if found.kind == Kind::File && self.is_wanted(found.path, &start.path) {
                    self.file(found.dir, found.name, found.path)?;
                }
                self.scan.visit();
                Ok(if self.scan.is_over() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            notes = skipped.notes();
        } else if self.glob.is_some() {
            return Err(FsError::GlobOfFile { path: start.path });
        } else {
            let file = start.open_file()?.into_std();
            self.opened = file.metadata().ok();
            self.named_file(&start.path, file)?;
        }
        notes.splice(0..0, self.notes());
        let text = Some(std::mem::take(&mut self.scan.text)).filter(|text| !text.is_empty());
        let texts = text.into_iter().chain([format!("[{}]", notes.join("; "))]);
        Ok(texts.map(Content::text).collect())
    }

    fn is_wanted(&self, path: &RelativePath, start: &RelativePath) -> bool {
        let Some(glob) = &self.glob else { return true };
        let by_path = glob.glob().glob().contains('/');
        glob.is_match(if by_path {
            path.below(start)
        } else {
            path.names().last().unwrap_or_default()
        })
    }

    fn file(&mut self, dir: &Dir, name: &str, path: &RelativePath) -> Result<(), FsError> {
        match open_file(dir, name, path) {
            Ok(file) => {
                let file = file.into_std();
                self.opened = file.metadata().ok();
                self.content(path, file)
            }
            Err(_) => {
                // Removed or replaced since it was listed, or not readable.
                self.unreadable += 1;
                Ok(())
            }
        }
    }

    /// Searches a file of a directory.
    fn content(&mut self, path: &RelativePath, file: impl Read) -> Result<(), FsError> {
        let mut content = Vec::new();
        if file.take(MAX_FILE + 1).read_to_end(&mut content).is_err() {
            self.unreadable += 1;
        } else if content.len() as u64 > MAX_FILE {
            self.large += 1;
        } else {
            self.whole(path, &content)?;
        }
        Ok(())
    }

    /// Searches the whole content of a file.
    fn whole(&mut self, path: &RelativePath, content: &[u8]) -> Result<(), FsError> {
        let decoded = Decoded::from_bytes(content, self.named);
        if decoded.is_none() && memchr(0, content).is_some() {
            self.binary += 1;
            return Ok(());
        }
        self.searched += 1;
        self.decoded += u64::from(decoded.is_some());
        let text = decoded.as_ref().map(|decoded| decoded.text.as_bytes());
        self.scan(path, text.unwrap_or(content))
    }

    /// Returns true for the beginning of a text in another encoding than UTF-8, or of a damaged one.
    fn is_encoded(&self, content: &[u8]) -> bool {
        match TextEncoding::from_mark(content).or(self.named) {
            Some(encoding) => encoding != TextEncoding::UTF_8,
            None => {
                let is_damaged =
                    std::str::from_utf8(content).is_err_and(|error| error.error_len().is_some());
                is_damaged && memchr(0, content).is_none()
            }
        }
    }

    /// Searches the file that the call names, a large one block by block unless it must be decoded.
    fn named_file(&mut self, path: &RelativePath, mut file: impl Read) -> Result<(), FsError> {
        let mut content = Vec::new();
        let read = file.by_ref().take(MAX_FILE + 1).read_to_end(&mut content);
        read.map_err(FsError::io(path))?;
        let is_encoded = content.len() as u64 > MAX_FILE && self.is_encoded(&content);
        if is_encoded {
            file.by_ref()
                .take(MAX_DECODED - MAX_FILE)
                .read_to_end(&mut content)
                .map_err(FsError::io(path))?;
        }
        let limit = if is_encoded { MAX_DECODED } else { MAX_FILE };
        if content.len() as u64 <= limit {
            return self.whole(path, &content);
        }
        let mut reader = BufReader::with_capacity(BLOCK, content.as_slice().chain(file));
        if memchr(0, reader.fill_buf().map_err(FsError::io(path))?).is_some() {
            self.binary += 1;
            return Ok(());
        }
        self.searched += 1;
        self.scan(path, reader)
    }

    fn scan(&mut self, path: &RelativePath, content: impl BufRead) -> Result<(), FsError> {
        let before = self.scan.files;
        self.scan.file(self.files.cx, path, content)?;
        if self.scan.files > before {
            let _shown = Shown::new(self.files, path, self.opened.take());
            self.files.show_content(path);
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let Scan {
            hits, files, more, ..
        } = self.scan;
        let bound = match (more, self.scan.is_over()) {
            (true, _) => "more than ",
            (false, true) => "at least ",
            (false, false) => "",
        };
        let mut notes = vec![match hits {
            0 => format!("no line matches; files searched: {}", self.searched),
            _ => format!(
                "matching lines: {bound}{hits}, in {files} of {} searched",
                counted(self.searched, "file", "files")
            ),
        }];
        if self.scan.is_over() {
            notes.push(format!(
                "the search stopped there and shows the first {hits}; use a narrower pattern, glob or path to find others"
            ));
        }
        let skipped = [
            (self.binary, "binary files skipped"),
            (
                self.large,
                "files over 16 MiB skipped, which can be searched by name",
            ),
            (self.unreadable, "files that could not be read"),
            (
                self.decoded,
                "files that are not UTF-8, read in their encoding or a guess",
            ),
            (self.scan.long, "lines searched only in their first 64 MiB"),
        ];
        let skipped = skipped.iter().filter(|(count, _)| *count > 0);
        notes.extend(skipped.map(|(count, what)| format!("{what}: {count}")));
        notes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ErrorCode;

    use crate::fixture::Fixture;

    fn fixture() -> Fixture {
        Fixture::with_files(&[
            ("src/main.rs", "fn main() {\n    run();\n}\n"),
            ("src/run.rs", "fn run() {}\n"),
            ("notes.txt", "call run\n"),
        ])
    }

    #[tokio::test]
    async fn matching_lines_are_shown_by_file() {
        let text = fixture()
            .text("fs.search", json!({"pattern": r"\brun\b"}))
            .await;
        let expected =
            "notes.txt\n1: call run\n\nsrc/main.rs\n2:     run();\n\nsrc/run.rs\n1: fn run() {}\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.ends_with("[matching lines: 3, in 3 of 3 files searched]"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_glob_beside_the_path_of_a_file_is_an_error() {
        let arguments = json!({"pattern": "run", "path": "notes.txt", "glob": "*.rs"});
        fixture()
            .fails(
                "fs.search",
                arguments,
                "`notes.txt` is a file, and `glob` is for directories",
            )
            .await;
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
            let expected = if files == 0 {
                "no line matches".to_owned()
            } else {
                format!("in {files} of")
            };
            assert!(text.contains(&expected), "{arguments}: {text}");
        }
    }

    #[tokio::test]
    async fn ignored_files_are_skipped() {
        let fixture = fixture();
        fixture.write(".ignore", "*.txt\nsrc/run.rs\n");
        assert!(
            fixture
                .text("fs.search", json!({"pattern": r"run\("}))
                .await
                .contains("in 1 of 2 files")
        );
        assert!(
            fixture
                .text("fs.search", json!({"pattern": r"run\(", "path": "src"}))
                .await
                .contains("in 1 of 1 file ")
        );
        let all = json!({"pattern": "call run", "ignored": true});
        assert!(
            fixture
                .text("fs.search", all)
                .await
                .contains("in 1 of 4 files")
        );
    }

    #[tokio::test]
    async fn files_that_are_not_text_are_skipped_and_counted() {
        let fixture = Fixture::with_files(&[("binary", "run\0")]);
        std::fs::write(fixture.root().join("latin"), b"run caf\xE9\n").unwrap();
        std::fs::File::create(fixture.root().join("large"))
            .unwrap()
            .set_len(17 * 1024 * 1024)
            .unwrap();
        let text = fixture.text("fs.search", json!({"pattern": "run"})).await;
        assert!(text.starts_with("latin\n1: run café\n"), "{text}");
        let skipped = "binary files skipped: 1; files over 16 MiB skipped, which can be searched by name: 1; files that are not UTF-8";
        assert!(text.contains(skipped), "{text}");
        let named = fixture
            .text(
                "fs.search",
                json!({"pattern": "й$", "encoding": "windows-1251"}),
            )
            .await;
        assert!(named.starts_with("latin\n1: run cafй\n"), "{named}");
    }

    #[tokio::test]
    async fn a_large_named_file_in_another_encoding_is_decoded() {
        let fixture = Fixture::new();
        let text = format!(
            "\u{FEFF}{}{}é needle\n",
            "x".repeat(7_000_000),
            "line\n".repeat(400_000)
        );
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let latin: Vec<u8> = format!("é\n{}", text.replace('\u{FEFF}', "x").repeat(2))
            .chars()
            .map(|c| c as u8)
            .collect();
        for (bytes, lines) in [(utf16, 1), (latin, 2)] {
            assert!(bytes.len() as u64 > super::MAX_FILE);
            fixture.write("large", &bytes);
            let found = fixture
                .text(
                    "fs.search",
                    json!({"pattern": ". needle$", "path": "large"}),
                )
                .await;
            let note = format!(
                "[matching lines: {lines}, in 1 of 1 file searched; files that are not UTF-8"
            );
            assert!(found.contains(&note), "{found}");
        }
    }

    #[tokio::test]
    async fn a_named_file_of_any_size_is_searched() {
        let fixture = Fixture::new();
        fixture.write(
            "large",
            &(format!("{}\n", "x".repeat(999)).repeat(20_000) + "needle\0\n"),
        );
        let text = fixture
            .text("fs.search", json!({"pattern": "needle", "path": "large"}))
            .await;
        let expected =
            "large\n20001: needle\u{FFFD}\n\n[matching lines: 1, in 1 of 1 file searched]";
        assert_eq!(text, expected);
        let text = fixture
            .text("fs.search", json!({"pattern": "needle"}))
            .await;
        assert!(
            text.starts_with("[no line matches; files searched: 0; files over 16 MiB skipped"),
            "{text}"
        );
        // The search for a further match is bounded.
        fixture.write(
            "large",
            &("needle\n".repeat(200) + &format!("{}\n", "x".repeat(999)).repeat(40_000)),
        );
        let text = fixture
            .text("fs.search", json!({"pattern": "needle", "path": "large"}))
            .await;
        assert!(
            text.contains(
                "[matching lines: at least 200, in 1 of 1 file searched; the search stopped"
            ),
            "{text}"
        );
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
        assert!(
            text.ends_with("[matching lines: 200, in 200 of 201 files searched]"),
            "{text}"
        );
        fixture.write("b", "y\nx");
        let text = fixture.text("fs.search", search.clone()).await;
        let message = "[matching lines: more than 200, in 200 of 202 files searched; the search stopped there and \
                    shows the first 200; use a narrower pattern, glob or path to find others]";
        assert!(text.ends_with(message), "{text}");
        // The search for further matches is bounded.
        for name in ["a", "aa", "aaa"] {
            fixture.write(name, &format!("{}\n", "y".repeat(1023)).repeat(12 * 1024));
        }
        let text = fixture.text("fs.search", search).await;
        assert!(
            text.contains(
                "[matching lines: at least 200, in 200 of 203 files searched; the search stopped"
            ),
            "{text}"
        );
    }

    #[tokio::test]
    async fn files_without_a_grant_are_not_searched() {
        let fixture = fixture().granted_all(&["fs:read:.", "fs:read:src", "fs:read:src/m*"]);
        let text = fixture.text("fs.search", json!({"pattern": "run"})).await;
        assert!(text.starts_with("src/main.rs\n2:     run();\n"), "{text}");
        assert!(
            text.ends_with("in 1 of 1 file searched; entries skipped for lack of a grant: 2]"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn unusable_searches_are_refused() {
        let fixture = fixture();
        fixture
            .fails("fs.search", json!({"pattern": "("}), "invalid pattern")
            .await;
        fixture
            .fails(
                "fs.search",
                json!({"pattern": "x", "glob": "/x"}),
                "not relative",
            )
            .await;
        fixture
            .fails(
                "fs.search",
                json!({"pattern": "x", "path": "gone"}),
                "there is no `gone`",
            )
            .await;
        fixture
            .fails(
                "fs.search",
                json!({"pattern": "x", "context": 11}),
                "/context",
            )
            .await;
    }

    #[tokio::test]
    async fn a_search_that_was_cancelled_ends() {
        let fixture = fixture();
        fixture.cancel();
        let error = fixture
            .call("fs.search", json!({"pattern": "x"}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled, "{error}");
    }

    #[tokio::test]
    async fn links_and_special_files_are_passed_by() {
        let fixture = fixture();
        fixture.pipe("pipe");
        fixture.link(".", "loop");
        fixture.link("/etc/passwd", "out");
        fixture.link("notes.txt", "to_notes");
        assert!(
            fixture
                .text("fs.search", json!({"pattern": "."}))
                .await
                .contains("in 3 of 3 files")
        );
        fixture
            .fails(
                "fs.search",
                json!({"pattern": ".", "path": "pipe"}),
                "is a named pipe",
            )
            .await;
        assert!(
            fixture
                .text("fs.search", json!({"pattern": ".", "path": "to_notes"}))
                .await
                .starts_with("notes.txt")
        );
    }
}
