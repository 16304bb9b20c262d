//! `fs.search`: finds lines that match a regular expression.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Dir;
use globset::GlobMatcher;
use memchr::memchr;
use tools::{Content, ToolContext, ToolError, tool};
use tools_text::TextEncoding;
use tools_workspace::{HiddenSnapshot, Workspace};

use crate::counted::counted;
use crate::encoding::{Decoded, parse_label};
use crate::error::FsError;
use crate::files::Files;
use crate::glob::pattern as glob_pattern;
use crate::in_order::InOrder;
use crate::kind::Kind;
use crate::line_pattern::LinePattern;
use crate::path::RelativePath;
use crate::resolved_entry::open_entry;
use crate::scan::{Found, MAX_AHEAD, Scan, is_full};
use crate::shown::Shown;
use crate::slot::Slot;
use crate::tree_walk::{Skipped, TreeWalk};

/// The size up to which the files of a directory are searched, in bytes. A file that the call names has no limit if it is UTF-8, and
/// [`MAX_DECODED`] in another encoding.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The size up to which a named file in another encoding is decoded, in bytes.
const MAX_DECODED: u64 = 64 * 1024 * 1024;

/// The number of bytes of a large named file that make it binary if they have a NUL byte.
const BEGINNING: usize = 64 * 1024;

/// The least size of the memory into which files are read, in bytes.
const MIN_BUFFER: usize = 256 * 1024;

/// The number of files that a thread searches before it hands out results. The directories of all files at work are open.
const BATCH: usize = 16;

/// The bytes that a file counts in addition to its content, in the search for further matches after the result is full.
const ENTRY: u64 = 1024;

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
    let hidden = workspace.hidden_snapshot();
    let search = Search {
        files: Files::new(cx, &workspace),
        hidden: &hidden,
        pattern: LinePattern::new(&pattern, ignore_case)?,
        context: context.min(10).into(),
        named: parse_label(encoding.as_deref())?,
        buffer: Vec::new(),
    };
    Ok(run(search, &path, glob, ignored)?)
}

fn run(
    mut search: Search<'_>,
    path: &RelativePath,
    glob: Option<GlobMatcher>,
    ignored: bool,
) -> Result<Vec<Content>, FsError> {
    let files = search.files;
    let start = Slot::find_existing(files, path)?;
    let mut answer = Answer::default();
    let mut skipped = Skipped::default();
    if start.kind == Some(Kind::Directory) {
        skipped = answer.fill(search, &start, glob.as_ref(), ignored)?;
    } else if glob.is_some() {
        return Err(FsError::GlobOfFile { path: start.path });
    } else {
        let file = start.open_file()?.into_std();
        answer.add(files, search.named_file(start.path, file)?);
    }
    let mut notes = answer.notes();
    notes.extend(skipped.notes());
    let text = Some(answer.text).filter(|text| !text.is_empty());
    let texts = text.into_iter().chain([format!("[{}]", notes.join("; "))]);
    Ok(texts.map(Content::text).collect())
}

fn is_wanted(glob: Option<&GlobMatcher>, path: &RelativePath, start: &RelativePath) -> bool {
    let Some(glob) = glob else { return true };
    let by_path = glob.glob().glob().contains('/');
    glob.is_match(if by_path {
        path.below(start)
    } else {
        path.name()
    })
}

/// Searches one file after another. Each thread has a clone.
#[derive(Clone)]
struct Search<'a> {
    files: Files<'a>,
    hidden: &'a HiddenSnapshot<'a>,
    pattern: LinePattern,
    /// The number of lines shown before and after a match.
    context: usize,
    /// The encoding of files that are not UTF-8.
    named: Option<TextEncoding>,
    /// The memory into which files are read.
    buffer: Vec<u8>,
}

/// A file and its directory.
type Candidate = (Arc<Dir>, RelativePath);

/// A file after its search.
struct Searched {
    path: RelativePath,
    state: State,
    found: Found,
    /// The metadata from before the file was read.
    opened: Option<Metadata>,
}

/// The way in which a file was searched or not.
#[derive(Clone, Copy)]
enum State {
    Text,
    Decoded,
    Binary,
    Large,
    Unreadable,
    /// Not mentioned.
    Hidden,
}

impl Search<'_> {
    /// Searches files until there are more matching lines than a result has.
    fn batch(&mut self, candidates: Vec<Candidate>) -> Result<Vec<Searched>, FsError> {
        let mut all = Vec::with_capacity(candidates.len());
        let (mut hits, mut text) = (0, 0);
        for candidate in candidates {
            self.files.cx.check_cancelled()?;
            let searched = self.file(candidate, Found::after(hits, text))?;
            hits += searched.found.parts.len();
            text += searched.found.text.len();
            let is_over = searched.found.more;
            all.push(searched);
            if is_over {
                break;
            }
        }
        Ok(all)
    }

    /// Searches a file of a directory.
    fn file(&mut self, (dir, path): Candidate, mut found: Found) -> Result<Searched, FsError> {
        let opened = open_entry(&dir, path.name()).and_then(|file| {
            let file = file.into_std();
            Ok((file.metadata()?, file))
        });
        let mut metadata = None;
        // An error if it was removed or replaced since it was listed, or is not readable.
        let state = match opened {
            Err(_) if self.hidden.hides(&dir, path.name(), path.as_str()) => State::Hidden,
            Ok((opened, _)) if self.hidden.has_identity((opened.dev(), opened.ino())) => {
                State::Hidden
            }
            Ok((opened, file)) if opened.is_file() => match self.read(file, opened.len()) {
                Ok(Some(length)) => {
                    metadata = Some(opened);
                    let state;
                    (state, found) = self.whole(&self.buffer[..length], found)?;
                    state
                }
                Ok(None) => State::Large,
                Err(_) => State::Unreadable,
            },
            _ => State::Unreadable,
        };
        Ok(Searched {
            path,
            state,
            found,
            opened: metadata,
        })
    }

    /// Reads a file into the buffer. Returns its length, or `None` if it is larger than [`MAX_FILE`]. `size` is the size in its metadata.
    fn read(&mut self, mut file: File, size: u64) -> io::Result<Option<usize>> {
        let mut length = 0;
        while size.max(length as u64) <= MAX_FILE {
            let least = length.max(size as usize) + 1;
            if self.buffer.len() < least {
                // A file may grow, or have no size in its metadata.
                self.buffer.resize(least.max(2 * length).max(MIN_BUFFER), 0);
            }
            match file.read(&mut self.buffer[length..]) {
                Ok(0) => return Ok(Some(length)),
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            // There was room for more, so this is the end.
            if length as u64 == size {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    /// Searches the whole content of a file.
    fn whole(&self, content: &[u8], found: Found) -> Result<(State, Found), FsError> {
        let decoded = Decoded::from_bytes(content, self.named);
        if decoded.is_none() && memchr(0, content).is_some() {
            return Ok((State::Binary, found));
        }
        let state = if decoded.is_some() {
            State::Decoded
        } else {
            State::Text
        };
        let text = decoded.as_ref().map(|decoded| decoded.text.as_bytes());
        let found = self.scan(found).whole(text.unwrap_or(content))?;
        Ok((state, found))
    }

    fn scan(&self, found: Found) -> Scan<'_> {
        Scan::new(self.files.cx, &self.pattern, self.context, found)
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
    fn named_file(&mut self, path: RelativePath, mut file: File) -> Result<Searched, FsError> {
        let opened = file.metadata().ok();
        let mut content = Vec::new();
        let read = file.by_ref().take(MAX_FILE + 1).read_to_end(&mut content);
        read.map_err(FsError::io(&path))?;
        let is_encoded = content.len() as u64 > MAX_FILE && self.is_encoded(&content);
        if is_encoded {
            file.by_ref()
                .take(MAX_DECODED - MAX_FILE)
                .read_to_end(&mut content)
                .map_err(FsError::io(&path))?;
        }
        let limit = if is_encoded { MAX_DECODED } else { MAX_FILE };
        let found = Found::default();
        let (state, found) = if content.len() as u64 <= limit {
            self.whole(&content, found)?
        } else if memchr(0, &content[..BEGINNING]).is_some() {
            (State::Binary, found)
        } else {
            let found = self.scan(found).stream(content, file, FsError::io(&path))?;
            (State::Text, found)
        };
        Ok(Searched {
            path,
            state,
            found,
            opened,
        })
    }
}

/// The matching lines of all files.
#[derive(Default)]
struct Answer {
    /// The matching lines with their context, as shown.
    text: String,
    /// The number of matching lines.
    hits: usize,
    /// The number of files with matching lines.
    files: u64,
    /// True if a further matching line was omitted because the result is full.
    more: bool,
    /// The bytes searched since the result became full; see [`MAX_AHEAD`].
    ahead: u64,
    /// The number of files in each [`State`].
    states: [u64; 6],
    /// The number of lines that were searched only in part.
    long: u64,
}

impl Answer {
    /// Adds the files of a directory until the search is over.
    fn fill(
        &mut self,
        search: Search<'_>,
        start: &Slot,
        glob: Option<&GlobMatcher>,
        ignored: bool,
    ) -> Result<Skipped, FsError> {
        let (files, hidden) = (search.files, search.hidden);
        let dir = start.open_dir()?;
        let walk = TreeWalk::new(files, hidden, &start.path, ignored).opening_files();
        thread::scope(|scope| {
            let mut search = search;
            let mut batches = InOrder::new(scope, move |batch| search.batch(batch));
            let mut batch = Vec::with_capacity(BATCH);
            let skipped = walk.run(dir, &start.path, &mut |found| {
                if found.kind == Kind::File && is_wanted(glob, found.path, &start.path) {
                    batch.push((found.dir.clone(), found.path.clone()));
                }
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    if let Some(searched) = batches.push(full) {
                        self.extend(files, searched?);
                    }
                }
                Ok(if self.is_over() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            let mut next = batches.push(batch).or_else(|| batches.pop());
            while let Some(searched) = next.filter(|_| !self.is_over()) {
                self.extend(files, searched?);
                next = batches.pop();
            }
            Ok(skipped)
        })
    }

    fn extend(&mut self, files: Files<'_>, searched: Vec<Searched>) {
        for searched in searched {
            if !self.is_over() {
                self.add(files, searched);
            }
        }
    }

    fn add(&mut self, files: Files<'_>, searched: Searched) {
        let found = searched.found;
        self.states[searched.state as usize] += 1;
        self.long += found.long;
        if self.is_full() {
            self.more = found.more || !found.parts.is_empty();
            self.ahead += ENTRY + found.searched;
            return;
        }
        self.ahead += found.ahead;
        if found.parts.is_empty() {
            return;
        }
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.text += &format!("{gap}{}\n", searched.path);
        self.files += 1;
        // The first matching line for which there is no room.
        let mut parts = found.parts.iter().copied().enumerate().skip(1);
        let full = parts.find(|(hits, part)| is_full(self.hits + hits, self.text.len() + part));
        let (hits, end) = full.unwrap_or((found.parts.len(), found.text.len()));
        self.text.push_str(&found.text[..end]);
        self.hits += hits;
        self.more = found.more || full.is_some();
        let _shown = Shown::new(files, &searched.path, searched.opened);
        files.show_content(&searched.path);
    }

    /// Returns true if the result has no room for another matching line.
    fn is_full(&self) -> bool {
        is_full(self.hits, self.text.len())
    }

    /// Returns true if the search can stop.
    fn is_over(&self) -> bool {
        self.more || self.ahead >= MAX_AHEAD
    }

    fn notes(&self) -> Vec<String> {
        let Self {
            hits, files, more, ..
        } = *self;
        let count = |state: State| self.states[state as usize];
        let searched = count(State::Text) + count(State::Decoded);
        let bound = match (more, self.is_over()) {
            (true, _) => "more than ",
            (false, true) => "at least ",
            (false, false) => "",
        };
        let mut notes = vec![match hits {
            0 => format!("no line matches; files searched: {searched}"),
            _ => format!(
                "matching lines: {bound}{hits}, in {files} of {} searched",
                counted(searched, "file", "files")
            ),
        }];
        if self.is_over() {
            notes.push(format!(
                "the search stopped there and shows the first {hits}; use a narrower pattern, glob or path to find others"
            ));
        }
        let skipped = [
            (count(State::Binary), "binary files skipped"),
            (
                count(State::Large),
                "files over 16 MiB skipped, which can be searched by name",
            ),
            (count(State::Unreadable), "files that could not be read"),
            (
                count(State::Decoded),
                "files that are not UTF-8, read in their encoding or a guess",
            ),
            (self.long, "lines searched only in their first 64 MiB"),
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
    async fn many_files_are_searched_in_the_order_of_their_paths() {
        let fixture = Fixture::new();
        let path = |number: usize| format!("{:02}/{number:03}", number / 7);
        for number in 0..600 {
            let text = if number % 4 == 0 { "x\n" } else { "y\n" };
            fixture.write(&path(number), text);
        }
        let text = fixture.text("fs.search", json!({"pattern": "x"})).await;
        let found = (0..600)
            .step_by(4)
            .map(|number| format!("{}\n1: x\n", path(number)));
        let found: Vec<_> = found.collect();
        let note = "[matching lines: 150, in 150 of 600 files searched]";
        assert_eq!(text, format!("{}\n{note}", found.join("\n")));
    }

    #[tokio::test]
    async fn a_full_result_does_not_depend_on_the_files_that_other_threads_search() {
        let fixture = Fixture::new();
        for number in 0..300 {
            fixture.write(&format!("{number:03}"), "x\nx\ny\nx\n");
        }
        let text = fixture
            .text("fs.search", json!({"pattern": "x", "context": 1}))
            .await;
        assert!(text.contains("\n065\n1: x\n2: x\n3- y\n4: x\n\n066\n1: x\n2: x\n3- y\n\n[matching lines: more than 200, in 67 of 67 files searched;"), "{text}");
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
