//! `fs.list`: lists a directory.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;

use cap_std::fs::Dir;
use data_encoding::HEXLOWER;
use tools::protocol::is_invisible;
use tools::{ToolContext, ToolError, ToolResult, tool};
use tools_workspace::Workspace;

use crate::counted::counted;
use crate::draft_name::is_draft;
use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::listing::{DirEntry, Listing};
use crate::path::RelativePath;
use crate::slot::Slot;

/// The maximum number of entries in a listing.
const MAX_ENTRIES: usize = 500;

/// The maximum number of entries that [`Workspace::entries`] returns.
const MAX_AT_ONCE: usize = 100_000;

/// Lists a directory of the workspace, hidden files included, one entry a line: `name/` is a directory, `1024 name` a file of 1024
/// bytes, and `link name` a link. Does not enter subdirectories. A long listing is split, and its note says how to continue.
#[tool(
    name = "fs.list",
    title = "List a directory",
    reads = "fs:{path}",
    needs = Workspace,
    tags = ["files"],
    // Fits 500 of the longest names.
    max_output = "1MiB",
    example({}),
    example({"path": "src"}),
    example({"path": "photos", "after": "IMG_0499.jpg"}),
)]
pub(crate) fn list(
    cx: &ToolContext,
    /// The directory, relative to the workspace root. The root `.` if omitted.
    #[serde(default)]
    path: RelativePath,
    /// List only the entries after this one. Copy the value from the note of the previous listing.
    #[schemars(length(max = 2048))]
    after: Option<String>,
) -> Result<ToolResult, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    listing(Files::new(cx, &workspace), &path, after.as_deref())?.to_result()
}

fn listing(files: Files<'_>, path: &RelativePath, after: Option<&str>) -> Result<Listing, FsError> {
    let after = after.map(parse_position).transpose()?;
    let page = read_page(files, path, after.as_deref(), MAX_ENTRIES)?;
    let last = page.last.filter(|_| page.more > 0);
    let note = last.map(|last| {
        let more = counted(page.more, "more entry", "more entries");
        let position = position_after(&last);
        format!("{more}; continue with after = \"{position}\"")
    });
    Ok(Listing {
        path: page.path.to_string(),
        entries: page.entries,
        more: page.more,
        note,
    })
}

/// A part of a directory listing.
struct Page {
    path: RelativePath,
    entries: Vec<DirEntry>,
    more: u64,
    /// The last name on this page.
    last: Option<OsString>,
}

/// Returns all entries of a directory, sorted by the bytes of their names.
pub(crate) fn entries(files: Files<'_>, path: &RelativePath) -> Result<Vec<DirEntry>, FsError> {
    let page = read_page(files, path, None, MAX_AT_ONCE)?;
    if page.more > 0 {
        let path = page.path;
        let limit = MAX_AT_ONCE as u64;
        return Err(FsError::TooMany { path, limit });
    }
    Ok(page.entries)
}

fn read_page(
    files: Files<'_>,
    path: &RelativePath,
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Page, FsError> {
    let found = Slot::find_existing(files, path)?;
    let dir = found.open_dir()?;
    // Keeps only the first `limit` names, so that memory does not grow with the directory.
    let mut first = BTreeSet::new();
    let mut more = 0;
    let hidden = files.workspace.hidden_snapshot();
    for entry in dir.entries().map_err(FsError::io(&found.path))? {
        files.cx.check_cancelled()?;
        let name = entry.map_err(FsError::io(&found.path))?.file_name();
        let is_skipped = name.to_str().is_some_and(|name| {
            let path = found.path.child(name);
            is_draft(name) || path.is_ok_and(|path| hidden.hides(&dir, name, path.as_str()))
        });
        if is_skipped || after.is_some_and(|after| name.as_encoded_bytes() <= after) {
            continue;
        }
        first.insert(name);
        if first.len() > limit {
            first.pop_last();
            more += 1;
        }
    }
    let last = first.last().cloned();
    let names = first.into_iter();
    let entries: Vec<_> = names.filter_map(|name| dir_entry(&dir, name)).collect();
    let names = entries.iter().map(|entry| &entry.name);
    files.show_names(names.map(|name| format!("{}/{name}", found.path)));
    Ok(Page {
        path: found.path,
        entries,
        more,
        last,
    })
}

/// Returns the `after` argument for a name: the name itself, or `/` and its bytes in hexadecimal if it cannot be copied as text.
fn position_after(name: &OsStr) -> String {
    match name.to_str() {
        Some(name) if name.escape_debug().eq(name.chars()) && !name.contains(is_invisible) => {
            name.to_owned()
        }
        _ => format!("/{}", HEXLOWER.encode(name.as_encoded_bytes())),
    }
}

/// Parses an `after` argument into the bytes of a name.
fn parse_position(after: &str) -> Result<Vec<u8>, FsError> {
    match after.strip_prefix('/') {
        None => Ok(after.as_bytes().to_vec()),
        Some(digits) => {
            let decoded = HEXLOWER.decode(digits.as_bytes());
            let after = after.to_owned();
            decoded.map_err(|_| FsError::After { after })
        }
    }
}

/// Returns `None` if the entry no longer exists.
fn dir_entry(dir: &Dir, name: OsString) -> Option<DirEntry> {
    let (kind, size) = match dir.symlink_metadata(&name) {
        Ok(metadata) => (
            Kind::from(metadata.file_type()),
            metadata.is_file().then(|| metadata.len()),
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => (Kind::Unknown, None),
    };
    Some(DirEntry {
        name: name.to_string_lossy().into_owned(),
        kind,
        size,
        name_is_not_utf8: name.to_str().is_none(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::Fixture;

    #[tokio::test]
    async fn entries_are_sorted_and_hidden_ones_are_shown() {
        let fixture =
            Fixture::with_files(&[("b.txt", "four"), ("sub/deep.txt", ""), (".hidden", "")]);
        let expected = json!({"path": ".", "entries": [
            {"name": ".hidden", "kind": "file", "size": 0},
            {"name": "b.txt", "kind": "file", "size": 4},
            {"name": "sub", "kind": "directory"},
        ]});
        assert_eq!(fixture.value("fs.list", json!({})).await, expected);
        let sub = fixture
            .value("fs.list", json!({"path": "./b.txt/../sub/"}))
            .await;
        assert_eq!(
            sub,
            json!({"path": "sub", "entries": [{"name": "deep.txt", "kind": "file", "size": 0}]})
        );
    }

    #[tokio::test]
    async fn a_model_reads_one_entry_a_line() {
        let fixture = Fixture::with_files(&[("b.txt", "four"), ("sub/deep.txt", "")]);
        assert_eq!(fixture.text("fs.list", json!({})).await, "4 b.txt\nsub/\n");
        std::fs::remove_file(fixture.root().join("sub/deep.txt")).unwrap();
        assert_eq!(
            fixture.text("fs.list", json!({"path": "sub"})).await,
            "[no entries]"
        );
        for number in 0..501 {
            fixture.write(&format!("sub/{number:03}"), "");
        }
        let text = fixture.text("fs.list", json!({"path": "sub"})).await;
        assert!(
            text.ends_with("0 499\n\n[1 more entry; continue with after = \"499\"]"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_long_listing_comes_in_parts() {
        let fixture = Fixture::new();
        for number in 0..1100 {
            fixture.write(&format!("{number:04}"), "");
        }
        let mut seen = Vec::new();
        let mut arguments = json!({});
        for (shown, more) in [(500, Some(600)), (500, Some(100)), (100, None)] {
            let part = fixture.value("fs.list", arguments).await;
            assert_eq!(part["entries"].as_array().unwrap().len(), shown);
            assert_eq!(part.get("more").and_then(|more| more.as_u64()), more);
            assert_eq!(part.get("note").is_some(), more.is_some());
            seen.extend(
                part["entries"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|entry| entry["name"].as_str().unwrap().to_owned()),
            );
            arguments = json!({"after": seen.last()});
        }
        assert_eq!(
            seen,
            (0..1100)
                .map(|number| format!("{number:04}"))
                .collect::<Vec<_>>()
        );
    }

    #[tokio::test]
    async fn names_that_are_shown_as_one_are_listed_once_each() {
        use std::collections::BTreeMap;
        use std::os::unix::ffi::OsStrExt;

        let fixture = Fixture::new();
        let mut expected = BTreeMap::new();
        // 550 names with the same lossy form, and names before, equal to and after that form.
        for number in (0..1_100_u32).step_by(2) {
            let name: Vec<u8> = number
                .to_be_bytes()
                .iter()
                .map(|byte| 0x80 | byte >> 1)
                .collect();
            std::fs::write(fixture.root().join(std::ffi::OsStr::from_bytes(&name)), "x").unwrap();
        }
        let odd = fixture.root().read_dir().unwrap().count();
        for name in ["a", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}", "\u{10FFFF}"] {
            fixture.write(name, "x");
        }
        *expected
            .entry("\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}".to_owned())
            .or_insert(1) += odd;
        expected.extend([("a".to_owned(), 1), ("\u{10FFFF}".to_owned(), 1)]);

        let (mut seen, mut arguments, mut left) = (BTreeMap::new(), json!({}), None);
        loop {
            let part = fixture.value("fs.list", arguments).await;
            let entries = part["entries"].as_array().unwrap();
            for entry in entries {
                *seen
                    .entry(entry["name"].as_str().unwrap().to_owned())
                    .or_insert(0) += 1;
            }
            let more = part.get("more").and_then(|more| more.as_u64()).unwrap_or(0);
            assert!(
                left.is_none_or(|left| left == more + entries.len() as u64),
                "{left:?} were left"
            );
            left = Some(more);
            let Some(note) = part.get("note") else { break };
            let after = note.as_str().unwrap().split_once("after = ").unwrap().1;
            arguments = json!({"after": serde_json::from_str::<String>(after).unwrap()});
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_name_that_nobody_could_copy_is_spelled_by_its_bytes() {
        for (name, expected) in [
            ("a b", "a b"),
            ("größe", "größe"),
            ("a\nb", "/610a62"),
            ("a\"b", "/612262"),
            ("a\\b", "/615c62"),
            ("\u{200B}", "/e2808b"),
            ("a\u{fe0f}", "/61efb88f"),
            ("\u{2800}", "/e2a080"),
        ] {
            assert_eq!(position_after(name.as_ref()), expected);
            assert_eq!(parse_position(expected).unwrap(), name.as_bytes());
        }
    }

    #[tokio::test]
    async fn after_takes_a_name_or_the_value_of_a_note() {
        let fixture = Fixture::with_files(&[("a", "")]);
        for after in ["/", "/ff"] {
            fixture.value("fs.list", json!({"after": after})).await;
        }
        for after in ["/a", "/xy", "/FF", "//"] {
            fixture
                .fails(
                    "fs.list",
                    json!({"after": after}),
                    "which is not a position in a listing",
                )
                .await;
        }
    }

    #[tokio::test]
    async fn listing_anything_else_than_a_directory_is_refused() {
        let fixture = Fixture::with_files(&[("file.txt", "")]);
        fixture
            .fails(
                "fs.list",
                json!({"path": "file.txt"}),
                "`file.txt` is a file, not a directory; name a directory",
            )
            .await;
        fixture
            .fails(
                "fs.list",
                json!({"path": "file.txt/x"}),
                "not a directory; shorten the path",
            )
            .await;
        fixture
            .fails(
                "fs.list",
                json!({"path": "fil.txt"}),
                "did you mean `file.txt`?",
            )
            .await;
    }

    #[tokio::test]
    async fn links_are_shown_and_not_followed() {
        let fixture = Fixture::with_files(&[("sub/file", "")]);
        fixture.link("sub", "link");
        fixture.link("nowhere", "dangling");
        fixture.link("/", "outside");
        let kinds = fixture.value("fs.list", json!({})).await;
        let link = |name: &str| json!({"name": name, "kind": "link"});
        let sub = json!({"name": "sub", "kind": "directory"});
        assert_eq!(
            kinds["entries"],
            json!([link("dangling"), link("link"), link("outside"), sub])
        );
        assert_eq!(
            fixture.value("fs.list", json!({"path": "link"})).await["path"],
            "sub"
        );
        fixture
            .fails(
                "fs.list",
                json!({"path": "dangling"}),
                "there is no `nowhere`",
            )
            .await;
        fixture
            .fails(
                "fs.list",
                json!({"path": "outside"}),
                "it leads out of the workspace",
            )
            .await;
    }
}
