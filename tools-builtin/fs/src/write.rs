//! `fs.write`: creates a file or replaces its content.

use std::borrow::Cow;
use std::io;

use tools::{Access, ToolContext, ToolError, tool};
use tools_workspace::Workspace;

use crate::counted::counted;
use crate::diff::note;
use crate::draft::Draft;
use crate::error::FsError;
use crate::files::Files;
use crate::new_script;
use crate::path::RelativePath;
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::whole_file::{self, Restyled};

/// The maximum number of attempts if other programs change the path meanwhile.
const ATTEMPTS: usize = 16;

/// Creates a text file in the workspace or replaces its whole content. Refuses to replace text that is not UTF-8. To change part of
/// a file, edit it instead.
#[tool(
    name = "fs.write",
    title = "Write a file",
    writes = "fs:{path}",
    idempotent,
    needs = Workspace,
    concerns = new_script::of_write,
    preview = crate::planned_write::preview,
    tags = ["files"],
    example({"path": "notes.md", "content": "# Notes\n"}),
    example({"path": "src/new/mod.rs", "content": "", "parents": true}),
)]
pub(crate) fn write(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: RelativePath,
    /// The complete content, including the last line ending.
    content: String,
    /// Create missing parent directories.
    #[serde(default)]
    parents: bool,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let files = Files::new(cx, &workspace);
    let written = write_atomically(files, &path, content.as_bytes(), parents, |slot| {
        whole_file::restyle(cx, slot, &content)
    })?;
    Ok(written)
}

/// Writes a file atomically and returns a description of the change. `replacing` gives the content if a file is replaced.
pub(crate) fn write_atomically(
    files: Files<'_>,
    path: &RelativePath,
    content: &[u8],
    parents: bool,
    replacing: impl Fn(&Slot) -> Result<Restyled, FsError>,
) -> Result<String, FsError> {
    let mut created = Vec::new();
    try_write(files, path, content, parents, replacing, &mut created)
        .map_err(|error| error.with_created_dirs(&created))
}

fn try_write(
    files: Files<'_>,
    path: &RelativePath,
    content: &[u8],
    parents: bool,
    replacing: impl Fn(&Slot) -> Result<Restyled, FsError>,
    created: &mut Vec<RelativePath>,
) -> Result<String, FsError> {
    let missing = if parents {
        IfMissing::CreateDirs
    } else {
        IfMissing::AllowLast
    };
    let options = FindOptions::following(&[Access::Write], missing);
    for _ in 0..ATTEMPTS {
        let slot = Slot::find_or_create(files, path, options, created)?;
        new_script::check_link(files.workspace, path, &slot, || {
            tools_workspace::is_script(content)
        })?;
        let (done, written, kept) = if slot.is_file()? {
            let Restyled { bytes, note } = replacing(&slot)?;
            ("replaced", Cow::Owned(bytes), note)
        } else {
            ("created", Cow::Borrowed(content), String::new())
        };
        let draft = match Draft::new(files.workspace, &slot, &written) {
            // Another process removed the directory.
            Err(FsError::Change { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                continue;
            }
            draft => draft?,
        };
        // From here on no other call of this workspace changes the path.
        let _changing = files.workspace.lock_changes();
        files.cx.check_cancelled()?;
        if draft.commit()? {
            let size = counted(written.len(), "byte", "bytes");
            let note = note(files.cx, &slot.path);
            return Ok(format!("{done} `{}`, {size}{kept}{note}", slot.path));
        }
    }
    Err(FsError::Changed { path: path.clone() })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use tools::{Progress, ProgressSink};

    use super::*;
    use crate::fixture::Fixture;
    use tools::Host;

    #[tokio::test]
    async fn text_that_fs_read_shows_in_part_is_not_replaced() {
        let fixture = Fixture::new();
        let late = [&b"x\n".repeat(100_000)[..], b"caf\xE9"].concat();
        for before in [&b"caf\xE9 = 1\n"[..], b"\xFF\xFEa\0\n\0b", &late] {
            fixture.write("a", before);
            let read = fixture
                .call("fs.read", json!({"path": "a"}))
                .await
                .map_or_else(|_| "new".into(), |it| it.to_text());
            for content in [&read, "plain"] {
                fixture
                    .fails(
                        "fs.write",
                        json!({"path": "a", "content": content}),
                        "not UTF-8",
                    )
                    .await;
                assert_eq!(fixture.bytes("a"), before);
            }
            fixture.text("fs.remove", json!({"path": "a"})).await;
            fixture
                .text("fs.write", json!({"path": "a", "content": read}))
                .await;
            assert_eq!(fixture.read("a"), read);
        }
    }

    #[tokio::test]
    async fn text_that_only_looks_binary_is_not_replaced() {
        let fixture = Fixture::new();
        for text in ["größe = 1\r\n", "\u{FEFF}a\t字\n", "\u{1F600} x"] {
            let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
            let utf32 =
                |bytes: fn(u32) -> [u8; 4]| text.chars().flat_map(|it| bytes(it.into())).collect();
            let wide: [Vec<u8>; 4] = [
                utf16(u16::to_le_bytes),
                utf16(u16::to_be_bytes),
                utf32(u32::to_le_bytes),
                utf32(u32::to_be_bytes),
            ];
            for before in wide {
                // A mark of UTF-16 names the encoding, which is kept.
                if crate::encoding::Decoded::for_replacement(&before).is_some() {
                    continue;
                }
                fixture.write("a", &before);
                let write = json!({"path": "a", "content": "new"});
                fixture.fails("fs.write", write.clone(), "not UTF-8").await;
                assert!(fixture.preview("fs.write", write).await.is_err());
                assert_eq!(fixture.bytes("a"), before);
            }
        }
    }

    #[tokio::test]
    async fn utf8_text_and_binary_files_are_replaced() {
        let fixture = Fixture::new();
        for before in [
            "größe \u{FFFD}".as_bytes(),
            b"\x89PNG\r\n\x1A\n\0",
            b"\xFF\xD8\xFF\xE0\0",
            b"a\0\xFF",
            b"head\nneedle\0",
            b"",
        ] {
            fixture.write("a", before);
            let message = fixture
                .text("fs.write", json!({"path": "a", "content": "new \u{FFFD}"}))
                .await;
            assert_eq!(fixture.read("a"), "new \u{FFFD}");
            assert_eq!(message.contains("binary"), before.contains(&0), "{message}");
        }
    }

    #[tokio::test]
    async fn a_replaced_file_keeps_its_mark_and_its_line_ends_and_the_result_says_so() {
        let fixture = Fixture::with_files(&[("win.ps1", "\u{FEFF}a\r\nb\r\n")]);
        let message = fixture
            .text("fs.write", json!({"path": "win.ps1", "content": "a\nc\n"}))
            .await;
        assert_eq!(fixture.read("win.ps1"), "\u{FEFF}a\r\nc\r\n");
        assert!(
            message.starts_with("replaced `win.ps1`, 9 bytes; its byte order mark and"),
            "{message}"
        );
    }

    #[tokio::test]
    async fn a_replaced_file_keeps_its_utf16() {
        let fixture = Fixture::new();
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
        };
        for (bytes, name) in [
            (u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"),
            (u16::to_be_bytes, "UTF-16BE"),
        ] {
            for content in ["é\nc\n", "\u{FEFF}é\nc\n"] {
                fixture.write("a", &utf16("\u{FEFF}a\r\nb\r\n", bytes));
                let write = json!({"path": "a", "content": content});
                let preview = fixture.preview("fs.write", write.clone()).await.unwrap();
                assert!(
                    preview.text().contains("-a\r\n-b\r\n+é\r\n+c\r\n"),
                    "{preview:?}"
                );
                let message = fixture.text("fs.write", write).await;
                assert!(
                    message.contains(name) && message.contains("CR LF line endings were kept"),
                    "{message}"
                );
                assert_eq!(fixture.bytes("a"), utf16("\u{FEFF}é\r\nc\r\n", bytes));
            }
        }
    }

    #[tokio::test]
    async fn a_replaced_file_keeps_its_escapes_and_is_not_replaced_if_they_cannot_be_written() {
        let fixture = Fixture::new();
        fixture.write("a", b"a\r\n\x1B$B$\"\x1B(B\r\n");
        let write = json!({"path": "a", "content": "あい\nb\n"});
        let preview = fixture.preview("fs.write", write.clone()).await.unwrap();
        assert!(preview.text().contains("-あ\r\n"), "{preview:?}");
        let message = fixture.text("fs.write", write).await;
        assert!(
            message.contains("encoding ISO-2022-JP was kept"),
            "{message}"
        );
        let kept = b"\x1B$B$\"$$\x1B(B\r\nb\r\n";
        assert_eq!(fixture.bytes("a"), kept);
        let write = json!({"path": "a", "content": "\u{1F600}"});
        fixture.fails("fs.write", write, "ISO-2022-JP has no").await;
        assert_eq!(fixture.bytes("a"), kept);
        for (name, before) in [
            ("ISO-2022-KR", "\x1B$)C\n\x0E0!\x0F\n"),
            ("HZ", "This is ~{<:Ky2;VpJ)!#~}Bye.\n"),
            ("UTF-7", "+ZeVnLIqe-\n"),
            // Not all of its characters can be read.
            ("ISO-2022-JP", "\x1B$(D0!\x1B(B\n"),
        ] {
            fixture.write("a", before);
            let write = json!({"path": "a", "content": "new\n"});
            fixture.fails("fs.write", write.clone(), name).await;
            assert!(fixture.preview("fs.write", write).await.is_err());
            assert_eq!(fixture.read("a"), before);
            let read = fixture.text("fs.read", json!({"path": "a"})).await;
            assert!(read.contains(name), "{read}");
        }
        let log = "\x1B[1mbold\x1B[0m\x1B(B\n";
        fixture.write("a", log);
        fixture
            .text("fs.write", json!({"path": "a", "content": "new \u{1F600}"}))
            .await;
        assert_eq!(fixture.read("a"), "new \u{1F600}");
    }

    #[tokio::test]
    async fn a_changed_line_end_is_named() {
        let fixture = Fixture::with_files(&[("mixed", "a\r\nb\nc\n"), ("empty", "")]);
        let message = fixture
            .text("fs.write", json!({"path": "mixed", "content": "a\nc\n"}))
            .await;
        assert!(
            message.ends_with("; its mixed line endings are LF now"),
            "{message}"
        );
        let message = fixture
            .text("fs.write", json!({"path": "empty", "content": "a\nc\n"}))
            .await;
        assert!(message.ends_with("4 bytes"), "{message}");
    }

    #[tokio::test]
    async fn set_id_bits_are_dropped() {
        let fixture = Fixture::with_files(&[("program", "old")]);
        fixture.set_mode("program", 0o6755);
        fixture
            .text("fs.write", json!({"path": "program", "content": "new"}))
            .await;
        assert_eq!(fixture.mode("program"), 0o755);
    }

    #[tokio::test]
    async fn a_file_is_created_and_then_replaced() {
        let fixture = Fixture::new();
        let message = fixture
            .text("fs.write", json!({"path": "a.txt", "content": "one\n"}))
            .await;
        assert_eq!(message, "created `a.txt`, 4 bytes");
        let message = fixture
            .text("fs.write", json!({"path": "x/../a.txt", "content": ""}))
            .await;
        assert_eq!(message, "replaced `a.txt`, 0 bytes");
        assert_eq!(fixture.read("a.txt"), "");
        assert_eq!(fixture.names("."), ["a.txt"]);
    }

    #[tokio::test]
    async fn directories_are_made_when_asked_for() {
        let fixture = Fixture::with_files(&[("file", "")]);
        let deep = |parents| json!({"path": "a/b/c", "content": "x", "parents": parents});
        fixture
            .fails(
                "fs.write",
                deep(false),
                "there is no directory `a`; set `parents`",
            )
            .await;
        assert_eq!(fixture.names("."), ["file"]);
        fixture.text("fs.write", deep(true)).await;
        assert_eq!(fixture.read("a/b/c"), "x");
        fixture.text("fs.write", deep(true)).await;
        let below = json!({"path": "file/x", "content": "", "parents": true});
        fixture
            .fails("fs.write", below, "not a directory; shorten the path")
            .await;
    }

    #[tokio::test]
    async fn an_overlong_name_is_refused_before_any_directory_is_created() {
        let fixture = Fixture::new();
        let long = "x".repeat(256);
        for path in [long.clone(), format!("a/b/{long}"), format!("a/{long}/b")] {
            let arguments = json!({"path": path, "content": "", "parents": true});
            let message = format!(
                "the name `{}…` has 256 bytes, more than the file system allows",
                "x".repeat(40)
            );
            fixture.fails("fs.write", arguments, &message).await;
            assert_eq!(fixture.names("."), Vec::<String>::new(), "{path}");
        }
        fixture
            .text(
                "fs.write",
                json!({"path": format!("a/{}", &long[1..]), "content": "", "parents": true}),
            )
            .await;
    }

    /// Writes `a/b`, and runs `meanwhile` between the preparation of the write and the final rename.
    fn written_while(fixture: &Fixture, meanwhile: impl FnOnce()) -> Result<String, FsError> {
        let (cx, workspace) = (Host::new(), Workspace::open(fixture.root()).unwrap());
        let path = "a/b".to_owned().try_into().unwrap();
        let ours = || Restyled {
            bytes: b"ours".to_vec(),
            note: String::new(),
        };
        std::thread::scope(|scope| {
            let changing = workspace.lock_changes();
            let writing = scope.spawn(|| {
                write_atomically(Files::new(&cx, &workspace), &path, b"ours", true, |_| {
                    Ok(ours())
                })
            });
            fixture.wait_for_draft("a");
            meanwhile();
            drop(changing);
            writing.join().unwrap()
        })
    }

    #[test]
    fn a_write_adapts_to_a_concurrent_change() {
        let fixture = Fixture::new();
        let message = written_while(&fixture, || fixture.write("a/b", "theirs")).unwrap();
        assert_eq!(
            (&*message, &*fixture.read("a/b")),
            ("replaced `a/b`, 4 bytes", "ours")
        );
        let message = written_while(&fixture, || {
            fs::remove_file(fixture.root().join("a/b")).unwrap()
        })
        .unwrap();
        assert_eq!(
            (&*message, &*fixture.read("a/b")),
            ("created `a/b`, 4 bytes", "ours")
        );
        assert_eq!(fixture.names("a"), ["b"]);
        let message = written_while(&fixture, || {
            fs::remove_dir_all(fixture.root().join("a")).unwrap()
        })
        .unwrap();
        assert_eq!(
            (&*message, fixture.names("a")),
            ("created `a/b`, 4 bytes", vec!["b".to_owned()])
        );
    }

    #[test]
    fn concurrent_changes_of_permissions_hold() {
        let fixture = Fixture::with_files(&[("a/b", "old")]);
        fixture.set_mode("a/b", 0o644);
        written_while(&fixture, || fixture.set_mode("a/b", 0o600)).unwrap();
        assert_eq!(
            (fixture.mode("a/b"), &*fixture.read("a/b")),
            (0o600, "ours")
        );
        let refused = written_while(&fixture, || fixture.set_mode("a/b", 0o444));
        assert!(
            matches!(refused, Err(FsError::ReadOnly { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn the_error_of_a_write_names_the_directories_that_it_created() {
        let fixture = Fixture::new();
        let failed = written_while(&fixture, || fixture.write("a/b/c", ""))
            .unwrap_err()
            .to_string();
        let message = "`a/b` is a directory, and only regular files can be written; choose another path; before that, created \
                    directories that remain: `a`";
        assert_eq!(
            (&*failed, fixture.names("a")),
            (message, vec!["b".to_owned()])
        );
    }

    #[tokio::test]
    async fn created_directories_are_reported_as_progress() {
        #[derive(Default)]
        struct Recorder(Mutex<Vec<Option<String>>>);

        impl ProgressSink for Recorder {
            fn report(&self, _: &ToolContext, progress: Progress) {
                self.0.lock().unwrap().push(progress.message);
            }
        }

        let (fixture, recorder) = (Fixture::new(), Arc::new(Recorder::default()));
        let cx = fixture.cx().clone().with_progress(recorder.clone());
        let fixture = fixture.with_context(cx);
        fixture
            .text(
                "fs.write",
                json!({"path": "a/b/c", "content": "", "parents": true}),
            )
            .await;
        let expected = ["a", "a/b"].map(|path| Some(format!("created the directory `{path}`")));
        assert_eq!(*recorder.0.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn names_of_drafts_are_not_given_to_files() {
        let fixture = Fixture::with_files(&[("a", "")]);
        let draft = ".toolcrib-0123456789abcdef.tmp";
        let message = "is reserved for temporary files";
        for path in [
            draft.to_owned(),
            format!("dir/{draft}"),
            format!("dir/{draft}/file"),
        ] {
            fixture
                .fails(
                    "fs.write",
                    json!({"path": path, "content": "", "parents": true}),
                    message,
                )
                .await;
        }
        fixture
            .fails("fs.move", json!({"from": "a", "to": draft}), message)
            .await;
        assert_eq!(fixture.names("."), ["a"]);
    }

    #[tokio::test]
    async fn only_files_are_written() {
        let fixture = Fixture::with_files(&[("dir/file", "")]);
        for path in ["dir", ".", "dir/.."] {
            fixture
                .fails(
                    "fs.write",
                    json!({"path": path, "content": ""}),
                    "is a directory, and only regular",
                )
                .await;
        }
    }

    #[tokio::test]
    async fn permissions_are_kept_and_a_read_only_file_stays() {
        let fixture = Fixture::with_files(&[("script", "old")]);
        for (mode, message) in [
            (0o755, "replaced"),
            (0o640, "replaced"),
            (0o444, "marked as read-only"),
        ] {
            fixture.set_mode("script", mode);
            let outcome = fixture
                .call("fs.write", json!({"path": "script", "content": "new"}))
                .await;
            let outcome = outcome.map_or_else(|error| error.to_string(), |result| result.to_text());
            assert!(outcome.contains(message), "{mode:o}: {outcome}");
            assert_eq!(fixture.mode("script"), mode);
        }
        assert_eq!(fixture.names("."), ["script"]);
    }

    #[tokio::test]
    async fn a_link_stays_and_what_it_leads_to_is_written() {
        let fixture = Fixture::with_files(&[("docs/a", "old")]);
        fixture.link("docs/a", "to_a");
        fixture.link("docs/new", "to_new");
        fixture.link("docs", "to_docs");
        fixture.link("../outside", "out");
        let message = fixture
            .text("fs.write", json!({"path": "to_a", "content": "new"}))
            .await;
        assert_eq!(
            (&*message, &*fixture.read("docs/a")),
            ("replaced `docs/a`, 3 bytes", "new")
        );
        let message = fixture
            .text("fs.write", json!({"path": "to_new", "content": ""}))
            .await;
        assert_eq!(message, "created `docs/new`, 0 bytes");
        fixture
            .text(
                "fs.write",
                json!({"path": "to_docs/deep/er", "content": "", "parents": true}),
            )
            .await;
        assert!(
            fixture.root().join("docs/deep/er").is_file()
                && fixture.root().join("to_a").is_symlink()
        );
        fixture
            .fails(
                "fs.write",
                json!({"path": "out", "content": ""}),
                "leads out of the workspace",
            )
            .await;

        let fixture = fixture.granted("fs:write:to_*");
        fixture
            .denies("fs.write", json!({"path": "to_a", "content": "worse"}))
            .await;
        assert_eq!(fixture.read("docs/a"), "new");
    }

    #[tokio::test]
    async fn the_other_name_of_a_file_keeps_the_old_content() {
        let fixture = Fixture::with_files(&[("a", "old")]);
        fs::hard_link(fixture.root().join("a"), fixture.root().join("b")).unwrap();
        fixture
            .text("fs.write", json!({"path": "a", "content": "new"}))
            .await;
        assert_eq!(
            (fixture.read("a"), fixture.read("b")),
            ("new".to_owned(), "old".to_owned())
        );
    }

    #[tokio::test]
    async fn a_call_that_was_cancelled_writes_nothing() {
        let fixture = Fixture::new();
        fixture.cancel();
        assert!(
            fixture
                .call("fs.write", json!({"path": "a", "content": "x"}))
                .await
                .is_err()
        );
        assert_eq!(fixture.names("."), Vec::<String>::new());
    }
}
