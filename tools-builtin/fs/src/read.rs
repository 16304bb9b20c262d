//! `fs.read`: reads a text file or an image.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::num::NonZeroU64;

use data_encoding::BASE64;
use memchr::memchr;
use tools::image::{MAX_IMAGE_BYTES, image_type};
use tools::{Content, ToolContext, ToolError, tool};
use tools_text::{TextEncoding, seven_bit};
use tools_workspace::Workspace;

use crate::counted::counted;
use crate::encoding::{Decoded, parse_label};
use crate::error::FsError;
use crate::excerpt::{Excerpt, FirstLine, LineRange, Tail};
use crate::files::Files;
use crate::lines::LineReader;
use crate::path::RelativePath;
use crate::shown::Shown;
use crate::slot::Slot;
use crate::whole_file::{self, MAX_FILE};

/// The size of a read, in bytes. Smaller files are read at once.
const BLOCK: u64 = 64 * 1024;

/// The size of the first read of a larger file, or of one that reports no size, such as those in `/proc`. In bytes.
const HEAD: u64 = 512;

/// The size up to which all lines of a file are counted for the numbers of its last ones, in bytes.
const MAX_COUNTED: u64 = 16 * 1024 * 1024;

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
    // A range far inside of a huge file takes long to reach.
    timeout = "60s",
    example({"path": "README.md"}),
    example({"path": "src/main.rs", "start": 120, "end": 180, "line_numbers": true}),
    example({"path": "server.log", "tail": 50}),
)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub(crate) fn read(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: RelativePath,
    /// The first line to read, counted from 1. The beginning of the file if omitted.
    start: Option<NonZeroU64>,
    /// The last line to read, inclusive. As many lines as fit into one result if omitted.
    end: Option<NonZeroU64>,
    /// Read this many lines at the end of the file, instead of `start` and `end`.
    tail: Option<NonZeroU64>,
    /// The bytes of line `start` to skip.
    #[serde(default)]
    offset: u64,
    /// Begin each line with its number and a colon.
    #[serde(default)]
    line_numbers: bool,
    /// The encoding, if it is not UTF-8. Guessed if omitted.
    #[schemars(length(max = 40))]
    encoding: Option<String>,
) -> Result<Vec<Content>, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let named = parse_label(encoding.as_deref())?;
    let span = ReadSpan::new(start, end, tail, offset)?;
    let files = Files::new(cx, &workspace);
    Ok(contents(files, &path, span, line_numbers, named)?)
}

/// The requested part of a file.
#[derive(Clone, Copy)]
enum ReadSpan {
    /// The lines from `start` to `end` inclusive, counted from 1, the first without `offset` bytes.
    Lines { start: u64, offset: u64, end: u64 },
    /// This many lines at the end.
    Tail(u64),
}

impl ReadSpan {
    fn new(
        start: Option<NonZeroU64>,
        end: Option<NonZeroU64>,
        tail: Option<NonZeroU64>,
        offset: u64,
    ) -> Result<Self, FsError> {
        let given = start.or(end);
        let start = start.map_or(1, NonZeroU64::get);
        let end = end.map_or(u64::MAX, NonZeroU64::get);
        match tail {
            Some(_) if given.is_some() || offset > 0 => Err(FsError::TailOfRange),
            Some(tail) => Ok(Self::Tail(tail.get())),
            None if end < start => Err(FsError::Backwards { start, end }),
            None => Ok(Self::Lines { start, offset, end }),
        }
    }
}

/// Returns the requested text and, if needed, a note about it; or an image.
fn contents(
    files: Files<'_>,
    path: &RelativePath,
    span: ReadSpan,
    line_numbers: bool,
    named: Option<TextEncoding>,
) -> Result<Vec<Content>, FsError> {
    let found = Slot::find_existing(files, path)?;
    // `std` reads into uninitialised memory; cap-std clears it first.
    let mut file = found.open_file()?.into_std();
    let _shown = Shown::new(files, &found.path, file.metadata().ok());
    files.show_content(&found.path);
    let size = file.metadata().map_err(FsError::io(&found.path))?.len();
    // One byte more than the size, to detect the end of the file.
    let length = if size < BLOCK {
        HEAD.max(size + 1)
    } else {
        HEAD
    };
    let mut head = Vec::with_capacity(length as usize);
    let read = (&file).take(length).read_to_end(&mut head);
    read.map_err(FsError::io(&found.path))?;
    let request = ReadRequest {
        cx: files.cx,
        path: &found.path,
        span,
        line_numbers,
    };
    let mut encodings = [TextEncoding::from_mark(&head), named]
        .into_iter()
        .flatten();
    if encodings.any(|encoding| encoding != TextEncoding::UTF_8) {
        return request.read_decoded(file, named)?.ok_or(FsError::Binary {
            path: found.path.clone(),
        });
    }
    if let Some(mime_type) = image_type(&head) {
        return picture(&found.path, mime_type, head.as_slice().chain(file));
    }
    let (excerpt, first) = if (head.len() as u64) < length {
        request.excerpt(Cursor::new(head))?
    } else if let (ReadSpan::Tail(count), MAX_COUNTED..) = (span, size) {
        request.distant_tail(&file, size, count)?
    } else if memchr(0, &head).is_some() {
        return Err(FsError::Binary { path: found.path });
    } else {
        file.rewind().map_err(FsError::io(&found.path))?;
        request.excerpt(BufReader::with_capacity(BLOCK as usize, &file))?
    };
    let escapes = seven_bit(excerpt.text.as_bytes()).filter(|_| named.is_none());
    if (excerpt.lossy || escapes.is_some())
        && named.is_none()
        && size <= MAX_FILE
        && let Some(decoded) = request.read_decoded(file, named)?
    {
        return Ok(decoded);
    }
    let note = escapes.map(|name| format!("[this looks like {name}, and is shown as its bytes]"));
    Ok(render_excerpt(excerpt, first, note))
}

/// Returns an excerpt and the notes about it.
/// Returns the image, preceded by a line of text with its type and size.
fn picture(
    path: &RelativePath,
    mime_type: &'static str,
    file: impl Read,
) -> Result<Vec<Content>, FsError> {
    let bytes = whole_file::contents(file, path, MAX_IMAGE_BYTES as u64)?;
    let size = counted(bytes.len() as u64, "byte", "bytes");
    let description = Content::text(format!("[`{path}`: {mime_type}, {size}]"));
    Ok(vec![
        description,
        Content::Image {
            data: BASE64.encode(&bytes),
            mime_type: mime_type.to_owned(),
        },
    ])
}

fn render_excerpt(excerpt: Excerpt, first: FirstLine, encoding: Option<String>) -> Vec<Content> {
    let note = excerpt.note(first);
    let text = Some(excerpt.text).filter(|text| !text.is_empty());
    let texts = text.into_iter().chain(note).chain(encoding);
    texts.map(Content::text).collect()
}

/// A part of a file to read.
struct ReadRequest<'a> {
    cx: &'a ToolContext,
    path: &'a RelativePath,
    span: ReadSpan,
    line_numbers: bool,
}

impl ReadRequest<'_> {
    /// Reads the part of a file from its beginning.
    fn excerpt(&self, mut file: impl BufRead + Seek) -> Result<(Excerpt, FirstLine), FsError> {
        let (start, offset, most) = match self.span {
            ReadSpan::Lines { start, offset, end } => {
                (start, offset, (end - start).saturating_add(1))
            }
            ReadSpan::Tail(count) => {
                let lines = LineReader::new(self.cx, self.path, &mut file).skip(u64::MAX)?;
                file.rewind().map_err(FsError::io(self.path))?;
                (lines.saturating_sub(count) + 1, 0, u64::MAX)
            }
        };
        let first = i64::try_from(start).unwrap_or(i64::MAX);
        let range = LineRange {
            skipped: start - 1,
            offset,
            most,
            first_number: self.line_numbers.then_some(first),
        };
        let excerpt = Excerpt::from_reader(self.cx, self.path, file, range)?;
        Ok((excerpt, FirstLine::Number(start)))
    }

    /// Reads the part of a file in another encoding than UTF-8. Returns `None` if it is UTF-8, perhaps damaged.
    fn read_decoded(
        &self,
        mut file: File,
        named: Option<TextEncoding>,
    ) -> Result<Option<Vec<Content>>, FsError> {
        file.rewind().map_err(FsError::io(self.path))?;
        let bytes = whole_file::contents(file, self.path, MAX_FILE)?;
        let Some(decoded) = Decoded::from_bytes(&bytes, named) else {
            return Ok(None);
        };
        let (excerpt, first) = self.excerpt(Cursor::new(&*decoded.text))?;
        Ok(Some(render_excerpt(excerpt, first, Some(decoded.note()))))
    }

    /// Reads the last lines of a file that is too large to count the lines before them.
    fn distant_tail(
        &self,
        mut file: &File,
        size: u64,
        count: u64,
    ) -> Result<(Excerpt, FirstLine), FsError> {
        let Tail { start, lines } = Tail::find(self.cx, self.path, file, size, count)?;
        file.seek(SeekFrom::Start(start))
            .map_err(FsError::io(self.path))?;
        let reader = BufReader::with_capacity(BLOCK as usize, file.take(size - start));
        let first = i64::try_from(lines).map_or(i64::MIN, |lines| -lines);
        let range = LineRange {
            skipped: 0,
            offset: 0,
            most: lines,
            first_number: self.line_numbers.then_some(first),
        };
        let excerpt = Excerpt::from_reader(self.cx, self.path, reader, range)?;
        Ok((excerpt, FirstLine::FromEnd(lines)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use serde_json::json;
    use tools::{Content, ErrorCode, Grant};

    use super::{BLOCK, HEAD};
    use crate::fixture::Fixture;

    #[tokio::test]
    async fn a_short_file_is_given_as_it_is() {
        let fixture = Fixture::with_files(&[("a/b.txt", "one\ntwo")]);
        for path in ["a/b.txt", "./a//b.txt", "missing/../a/b.txt", "a/b.txt/"] {
            assert_eq!(
                fixture.text("fs.read", json!({"path": path})).await,
                "one\ntwo",
                "{path}"
            );
        }
    }

    #[tokio::test]
    async fn a_part_says_which_lines_it_is() {
        let fixture = Fixture::with_files(&[("lines", "1\n2\n3\n4\n5\n")]);
        let read = async |start, end| {
            let result = fixture
                .call(
                    "fs.read",
                    json!({"path": "lines", "start": start, "end": end}),
                )
                .await
                .unwrap();
            let texts: Vec<_> = result
                .content
                .iter()
                .filter_map(|content| content.as_text())
                .map(str::to_owned)
                .collect();
            texts
        };
        assert_eq!(
            read(2, 3).await,
            [
                "2\n3\n",
                "[lines 2 to 3; more lines follow, continue with start = 4]"
            ]
        );
        assert_eq!(
            read(4, 9).await,
            ["4\n5\n", "[lines 4 to 5, the end of the file]"]
        );
        assert_eq!(read(1, 5).await, ["1\n2\n3\n4\n5\n"]);
    }

    #[tokio::test]
    async fn a_file_of_any_size_is_read_to_its_end() {
        let fixture = Fixture::new();
        for size in [HEAD - 1, HEAD, HEAD + 1, BLOCK - 1, BLOCK, BLOCK + 1] {
            fixture.write("file", &format!("{}end", "\n".repeat(size as usize - 3)));
            let text = fixture
                .text("fs.read", json!({"path": "file", "start": size - 2}))
                .await;
            assert!(
                text.starts_with("end") && text.contains("the end of the file"),
                "{size}: {text}"
            );
        }
    }

    #[tokio::test]
    async fn lines_are_numbered_on_request() {
        let fixture = Fixture::with_files(&[("lines", "a\nb\n\nd\n")]);
        let read = async |arguments| fixture.text("fs.read", arguments).await;
        let all = json!({"path": "lines", "line_numbers": true});
        assert_eq!(read(all).await, "1: a\n2: b\n3: \n4: d\n");
        let one = json!({"path": "lines", "start": 2, "end": 2, "line_numbers": true});
        assert_eq!(
            read(one).await,
            "2: b\n\n[line 2; more lines follow, continue with start = 3]"
        );
        let tail = json!({"path": "lines", "tail": 2, "line_numbers": true});
        assert_eq!(
            read(tail).await,
            "3: \n4: d\n\n[lines 3 to 4, the end of the file]"
        );
    }

    #[tokio::test]
    async fn the_end_of_a_file_is_read() {
        let fixture = Fixture::with_files(&[("lines", "1\n2\n3"), ("empty", "")]);
        for (path, tail, expected) in [
            ("lines", 1, "3\n[line 3, the end of the file]"),
            ("lines", 2, "2\n3\n[lines 2 to 3, the end of the file]"),
            ("lines", 9, "1\n2\n3"),
            ("empty", 9, "[the file is empty]"),
        ] {
            assert_eq!(
                fixture
                    .text("fs.read", json!({"path": path, "tail": tail}))
                    .await,
                expected,
                "{path} {tail}"
            );
        }
        for other in ["start", "end"] {
            fixture
                .fails(
                    "fs.read",
                    json!({"path": "lines", "tail": 1, other: 1}),
                    "either `tail` or",
                )
                .await;
        }
    }

    #[tokio::test]
    async fn lines_of_a_huge_file_are_read_from_both_ends() {
        let fixture = Fixture::new();
        let path = fixture.root().join("huge");
        let line = format!("{}\n", "x".repeat(999));
        std::fs::write(&path, line.repeat(70_000) + "middle\n").unwrap();
        let middle = fixture
            .text("fs.read", json!({"path": "huge", "start": 70_001}))
            .await;
        assert_eq!(middle, "middle\n\n[line 70001, the end of the file]");

        // A gap that no call can read in time.
        let mut file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(format!("\n{}last\n", line.repeat(100)).as_bytes())
            .unwrap();
        let end = fixture
            .text(
                "fs.read",
                json!({"path": "huge", "tail": 1, "line_numbers": true}),
            )
            .await;
        assert!(
            end.starts_with("-1: last\n") && end.ends_with("[line -1, counted from the end]"),
            "{end}"
        );
        let (mut left, mut seen) = (101, 0);
        while left > 0 {
            let part = fixture
                .text("fs.read", json!({"path": "huge", "tail": left}))
                .await;
            seen += part
                .lines()
                .filter(|line| line.len() == 999 || *line == "last")
                .count();
            let rest = part
                .split_once("continue with tail = ")
                .map(|(_, rest)| rest.trim_end_matches(']'));
            left = rest.map_or(0, |rest| rest.parse().unwrap());
        }
        assert_eq!(seen, 101);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_file_that_tells_no_size_is_read_to_its_end() {
        let fixture = Fixture::for_dir("/proc/self");
        let text = fixture.text("fs.read", json!({"path": "status"})).await;
        assert!(
            text.len() as u64 > HEAD && text.contains("nonvoluntary_ctxt_switches"),
            "{text}"
        );
        let tail = fixture
            .text("fs.read", json!({"path": "status", "tail": 1}))
            .await;
        assert!(tail.starts_with("nonvoluntary_ctxt_switches"), "{tail}");
    }

    #[tokio::test]
    async fn a_long_line_is_read_to_its_end_by_offset() {
        let fixture = Fixture::new();
        let line: String = (0..20_000).map(|number| format!("é{number} ")).collect();
        fixture.write("one.json", &line);
        let (mut seen, mut offset) = (String::new(), 0);
        loop {
            let arguments = json!({"path": "one.json", "start": 1, "offset": offset});
            let result = fixture.call("fs.read", arguments).await.unwrap();
            let texts: Vec<_> = result
                .content
                .iter()
                .filter_map(|content| content.as_text())
                .collect();
            seen.push_str(texts[0].split(" [… ").next().unwrap());
            let Some((_, next)) = texts.get(1).and_then(|note| note.split_once("offset = ")) else {
                break;
            };
            offset = next.trim_end_matches(']').parse::<u64>().unwrap();
        }
        assert_eq!(seen.len(), line.len());
        assert_eq!(seen, line);
        // A character on the border is in the next part.
        fixture.write("odd", &format!("x{}", "é".repeat(5_000)));
        assert!(
            fixture
                .text("fs.read", json!({"path": "odd"}))
                .await
                .ends_with("offset = 4095]")
        );
        let beyond = json!({"path": "one.json", "start": 1, "offset": line.len() + 1});
        fixture.fails("fs.read", beyond, "give a smaller one").await;
        fixture
            .fails(
                "fs.read",
                json!({"path": "one.json", "tail": 1, "offset": 1}),
                "either `tail` or",
            )
            .await;
    }

    #[tokio::test]
    async fn an_empty_file_is_no_empty_result() {
        let fixture = Fixture::with_files(&[("empty", ""), ("mark", "\u{FEFF}")]);
        for path in ["empty", "mark"] {
            assert_eq!(
                fixture.text("fs.read", json!({"path": path})).await,
                "[the file is empty]"
            );
        }
    }

    #[tokio::test]
    async fn invalid_ranges_are_refused() {
        let fixture = Fixture::with_files(&[("a", "1\n2\n")]);
        fixture
            .fails(
                "fs.read",
                json!({"path": "a", "start": 3}),
                "the last line of `a` is 2",
            )
            .await;
        fixture
            .fails(
                "fs.read",
                json!({"path": "a", "start": 2, "end": 1}),
                "swap them",
            )
            .await;
        fixture
            .fails("fs.read", json!({"path": "a", "start": 0}), "/start")
            .await;
    }

    #[tokio::test]
    async fn unusable_reads_are_refused() {
        let fixture = Fixture::with_files(&[("src/main.rs", ""), ("binary", "a\0b")]);
        fixture.write("utf16", b"\xFF\xFEa\0");
        fixture.write("latin", b"caf\xE9");
        fixture
            .fails("fs.read", json!({"path": "src"}), "is a directory; list it")
            .await;
        fixture
            .fails(
                "fs.read",
                json!({"path": "src/Main"}),
                "did you mean `src/main.rs`?",
            )
            .await;
        fixture
            .fails("fs.read", json!({"path": "other"}), "list its directory")
            .await;
        fixture
            .fails("fs.read", json!({"path": "binary"}), "it has NUL bytes")
            .await;
        fixture
            .fails(
                "fs.read",
                json!({"path": "latin", "encoding": "nonesuch"}),
                "names no encoding",
            )
            .await;
        let lossy = fixture
            .text("fs.read", json!({"path": "latin", "encoding": "utf-8"}))
            .await;
        assert!(
            lossy.starts_with("caf\u{FFFD}")
                && lossy.contains("not UTF-8")
                && lossy.contains("an edit keeps them"),
            "{lossy}"
        );
    }

    #[tokio::test]
    async fn damaged_utf8_is_shown_with_its_damage() {
        let fixture = Fixture::new();
        for mark in ["", "\u{FEFF}"] {
            let text = format!("{mark}größe ééé\nbad ");
            fixture.write("log", &[text.as_bytes(), b"\xE9 x\n"].concat());
            let read = fixture.text("fs.read", json!({"path": "log"})).await;
            assert!(
                read.starts_with("größe ééé\nbad \u{FFFD} x\n") && read.contains("not UTF-8"),
                "{read}"
            );
        }
        fixture.write("log", "größe");
        let inside = fixture
            .text("fs.read", json!({"path": "log", "start": 1, "offset": 3}))
            .await;
        assert!(inside.starts_with("\u{FFFD}ße"), "{inside}");
    }

    #[tokio::test]
    async fn text_in_another_encoding_is_read_as_text() {
        let fixture = Fixture::new();
        fixture.write("utf16", b"\xFF\xFEc\0a\0f\0\xE9\0\n\0");
        fixture.write("latin", b"caf\xE9 au lait\nfor\xEAt\n");
        let read = async |arguments| fixture.text("fs.read", arguments).await;
        assert_eq!(
            read(json!({"path": "utf16"})).await,
            "café\n\n[read as UTF-16LE]"
        );
        let latin = read(json!({"path": "latin", "start": 2})).await;
        assert!(
            latin.starts_with("forêt\n") && latin.contains("windows-1252, which is a guess"),
            "{latin}"
        );
        let cyrillic =
            read(json!({"path": "latin", "start": 1, "end": 1, "encoding": "windows-1251"})).await;
        assert!(
            cyrillic.starts_with("cafй au lait\n") && cyrillic.contains("[read as windows-1251]"),
            "{cyrillic}"
        );
    }

    #[tokio::test]
    async fn a_picture_is_given_as_one() {
        let fixture = Fixture::new();
        let bytes = b"\x89PNG\r\n\x1a\n\0\0rest";
        std::fs::write(fixture.root().join("dot"), bytes).unwrap();
        let result = fixture
            .call("fs.read", json!({"path": "dot"}))
            .await
            .unwrap();
        let picture = Content::Image {
            data: "iVBORw0KGgoAAHJlc3Q=".into(),
            mime_type: "image/png".into(),
        };
        assert_eq!(
            result.content,
            [Content::text("[`dot`: image/png, 14 bytes]"), picture]
        );
        std::fs::File::options()
            .write(true)
            .open(fixture.root().join("dot"))
            .unwrap()
            .set_len(6 << 20)
            .unwrap();
        fixture
            .fails(
                "fs.read",
                json!({"path": "dot"}),
                "has more than 5242880 bytes",
            )
            .await;
    }

    #[tokio::test]
    async fn near_names_are_those_that_may_be_read() {
        let fixture = Fixture::new().granted("fs:read:report1");
        fixture.write("report2", "");
        fixture.write("report3", "");
        fixture
            .fails(
                "fs.read",
                json!({"path": "report1"}),
                "there is no `report1`; list",
            )
            .await;
    }

    #[tokio::test]
    async fn links_inside_the_workspace_are_followed_as_far_as_the_grant_goes() {
        let fixture = Fixture::with_files(&[("docs/a.txt", "text"), ("secret/b.txt", "canary")]);
        fixture.link("a.txt", "docs/to_a");
        fixture.link("../secret/b.txt", "docs/to_b");
        fixture.link("../secret", "docs/to_secret");
        assert_eq!(
            fixture.text("fs.read", json!({"path": "docs/to_a"})).await,
            "text"
        );
        assert_eq!(
            fixture
                .text("fs.read", json!({"path": "docs/to_secret/b.txt"}))
                .await,
            "canary"
        );

        let fixture = fixture.granted("fs:read:docs/**");
        assert_eq!(
            fixture.text("fs.read", json!({"path": "docs/to_a"})).await,
            "text"
        );
        for path in [
            "docs/to_b",
            "docs/to_secret/b.txt",
            "docs/to_secret/missing",
        ] {
            let error = fixture
                .call("fs.read", json!({"path": path}))
                .await
                .unwrap_err();
            assert_eq!(error.code(), ErrorCode::PermissionDenied, "{path}: {error}");
        }
    }

    #[tokio::test]
    async fn without_a_grant_or_a_workspace_nothing_is_read() {
        let fixture = Fixture::with_files(&[("a", "")]);
        let bare = fixture.with_context(tools::Host::new().with_grant(Grant::all()));
        assert_eq!(
            bare.call("fs.read", json!({"path": "a"}))
                .await
                .unwrap_err()
                .code(),
            ErrorCode::Unavailable
        );
        let fixture = Fixture::new().granted("fs:read:b");
        assert_eq!(
            fixture
                .call("fs.read", json!({"path": "a"}))
                .await
                .unwrap_err()
                .code(),
            ErrorCode::PermissionDenied
        );
    }
}
