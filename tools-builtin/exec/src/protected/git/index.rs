//! Reads the index of a repository, which names the files that it tracks.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The most bytes of an index that is read.
const MAX_BYTES: u64 = 256 << 20;

/// The bytes of an entry before its name, with those of the flag that says that there are more.
const BEFORE_NAME: usize = 62;

/// Returns true if a repository around a folder tracks files in it, or has it as a submodule, or if that is not known.
pub(super) fn is_tracked(folder: &Path) -> bool {
    let around = folder.ancestors().skip(1);
    // All of them, because the nearest can be new, too.
    let mut around = around.filter(|above| fs::symlink_metadata(above.join(".git")).is_ok());
    around.any(|top| tracks(top, folder))
}

/// Returns true if the nearest repository around a file has it in its index, and the file is as git wrote or read it.
pub(in super::super) fn is_unchanged(file: &Path) -> bool {
    let mut around = file.ancestors().skip(1);
    let top = around.find(|above| fs::symlink_metadata(above.join(".git")).is_ok());
    let below = top.and_then(|top| Some((top, file.strip_prefix(top).ok()?)));
    let (Some((top, below)), Ok(metadata)) = (below, fs::symlink_metadata(file)) else {
        return false;
    };
    // The offsets of numbers of 32 bits, of which no program can choose the time of the last change.
    let fields = [
        (0, metadata.ctime().cast_unsigned()),
        (4, metadata.ctime_nsec().cast_unsigned()),
        (20, metadata.ino()),
        (36, metadata.size()),
    ];
    let is_same = |entry: &[u8]| {
        let mut fields = fields.iter();
        fields.all(|(at, value)| entry[*at..].starts_with(&value.to_be_bytes()[4..]))
    };
    let index = fs::read(index_of(top)).unwrap_or_default();
    let mut entries = entries(&index).map(|(all, _)| all).into_iter().flatten();
    entries.any(|(entry, name)| name == below.as_os_str().as_bytes() && is_same(entry))
}

fn index_of(top: &Path) -> PathBuf {
    let git = top.join(".git");
    // That of a worktree or a submodule is a file with the place of its folder.
    let place = fs::read_to_string(&git).ok();
    let place = place
        .as_deref()
        .and_then(|text| text.strip_prefix("gitdir: "));
    place
        .map_or(git, |place| top.join(place.trim_end()))
        .join("index")
}

/// Does so for one repository, with its top.
fn tracks(top: &Path, folder: &Path) -> bool {
    let index = index_of(top);
    match fs::metadata(&index) {
        Ok(metadata) if metadata.len() <= MAX_BYTES => {}
        // Nothing was added yet.
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
        Ok(_) => return true,
    }
    let below = folder.strip_prefix(top).ok().and_then(Path::to_str);
    let found = below.zip(fs::read(&index).ok());
    found.is_none_or(|(below, index)| has_name(&index, below).unwrap_or(true))
}

/// Returns true if an index has a folder, or a file in it. Returns `None` if it cannot be read.
fn has_name(index: &[u8], folder: &str) -> Option<bool> {
    let (entries, rest) = entries(index)?;
    let has_name = entries.iter().any(|(_, name)| {
        let rest = name.strip_prefix(folder.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    });
    // The others are in another file.
    (has_name || !rest.starts_with(b"link")).then_some(has_name)
}

/// The entries of an index with their names, and what lies behind them.
type Entries<'a> = (Vec<(&'a [u8], &'a [u8])>, &'a [u8]);

/// Reads the entries of an index. Returns `None` if it cannot be read, as one with shortened names.
fn entries(index: &[u8]) -> Option<Entries<'_>> {
    let mut all = Vec::new();
    let (head, mut rest) = index.split_first_chunk::<12>()?;
    let ([signature, version, count], []) = head.as_chunks() else {
        return None;
    };
    if signature != b"DIRC" || ![2, 3].contains(&u32::from_be_bytes(*version)) {
        return None;
    }
    for _ in 0..u32::from_be_bytes(*count) {
        let has_more_flags = rest.get(BEFORE_NAME - 2)? & 0x40 != 0;
        let start = BEFORE_NAME + 2 * usize::from(has_more_flags);
        let length = rest.get(start..)?.iter().position(|byte| *byte == 0)?;
        all.push((rest, &rest[start..start + length]));
        // At least one zero ends an entry.
        rest = rest.get((start + length + 8) & !7..)?;
    }
    Some((all, rest))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_folder_is_tracked_if_the_repository_around_it_has_a_file_there() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().join("w");
        let git = |args: &str| {
            let mut git = Command::new("git");
            git.args(args.split(' ')).current_dir(&top);
            assert!(git.output().unwrap().status.success(), "{args}");
        };
        for folder in ["src/inner", "lib", "mysrc", "new", "intent"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        let is_tracked = |folder: &str| is_tracked(&top.join(folder));
        git("init -q");
        assert!(!is_tracked("src"), "nothing was added");
        for file in ["src/inner/a", "mysrc/b", "lib/c", "a-long-name", "intent/d"] {
            fs::write(top.join(file), "").unwrap();
        }
        git("add src mysrc lib");
        for (folder, expected) in [
            ("src", true),
            ("src/inner", true),
            ("lib", true),
            ("new", false),
            ("sr", false),
            ("src/in", false),
        ] {
            assert_eq!(is_tracked(folder), expected, "{folder}");
        }
        git("add -N intent");
        assert!(
            is_tracked("intent") && !is_tracked("new"),
            "there are more flags"
        );
        fs::create_dir_all(top.join("src/.git")).unwrap();
        assert!(is_tracked("src/inner"), "by the outer one");
        fs::remove_dir_all(top.join("src/.git")).unwrap();
        let object = "1".repeat(40);
        git(&format!(
            "update-index --add --cacheinfo 160000,{object},module"
        ));
        assert!(is_tracked("module"));
        git("update-index --force-remove module");
        git("update-index --split-index");
        assert!(is_tracked("new"), "it is not known");
        git("update-index --no-split-index");
        assert!(!is_tracked("new"));
        git("update-index --index-version 4");
        assert!(is_tracked("new"), "it is not known");
        git("update-index --index-version 2");
        git("-c user.name=a -c user.email=a commit -qm a");
        git("worktree add -q ../other");
        let other = root.path().join("other");
        assert!(super::is_tracked(&other.join("src")) && !super::is_tracked(&other.join("new")));
        fs::write(top.join(".git/index"), "DIRC").unwrap();
        assert!(is_tracked("new"), "it cannot be read");
        assert!(!super::is_tracked(&top), "its own one says nothing");
    }
}
