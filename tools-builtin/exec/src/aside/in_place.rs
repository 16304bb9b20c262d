//! The folder of a workspace for what lies aside without room elsewhere: nothing reads its names, and a rename into it needs no room.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use host::open_folder::OpenFolder;
use rustix::fs::{AtFlags, Mode, RenameFlags, mkdirat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::SetAside;
use super::carry::Spot;
use crate::disk::entries;
use crate::protected::{Bytes, Former};

/// The folder below the root.
const FOLDER: &str = "set-aside-by-toolcrib";

/// The end of each name.
const SUFFIX: &str = ".set-aside";

/// The most bytes of a name that tell the former path. A longer path is told by its end.
const MAX_PATH: usize = 200;

/// The note of a file of which only the name is known.
const NOTE: &str = "left there because there was no room elsewhere";

/// Renames a path of a workspace, so that nothing takes it for what it was. Returns the place.
///
/// # Errors
/// Returns the error of the system if the path cannot be renamed at all.
pub(super) fn neutralise(root: &Path, path: &Path, from: &Spot) -> io::Result<(Spot, PathBuf)> {
    let name = name_for(path.strip_prefix(root).unwrap_or(path));
    let common = open(root).map(|folder| (folder, root.join(FOLDER)));
    // A folder that is mounted there has its own file system.
    let beside = from
        .folder
        .try_clone()
        .map(|folder| (folder, path.parent().unwrap_or(root).to_owned()));
    let mut renamed = Err(io::ErrorKind::NotFound.into());
    for (folder, above) in [common, beside].into_iter().flatten() {
        let to = Spot {
            folder,
            name: name.clone(),
        };
        renamed = from
            .rename(&to, false)
            .map(|()| (to, above.join(&name)))
            .map_err(io::Error::from);
        if renamed.is_ok() {
            break;
        }
    }
    renamed
}

/// Returns what lies in the folder. The former paths are those that the names tell.
pub(super) fn list(root: &Path) -> impl Iterator<Item = SetAside> {
    let folder = root.join(FOLDER);
    let is_folder = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
    let places = is_folder.then(|| entries(&folder)).into_iter();
    let mut places: Vec<_> = places.flatten().collect();
    places.sort();
    places.into_iter().filter_map(move |place| {
        let origin = root.join(path_of(place.file_name()?)?);
        Some(SetAside::new(
            root,
            &origin,
            NOTE.to_owned(),
            Some(place),
            false,
            None,
        ))
    })
}

/// Returns true for a place that only its name tells. A program of a later session can make one, or change the content.
pub(super) fn is_in_place(place: &Path) -> bool {
    place.as_os_str().as_bytes().ends_with(SUFFIX.as_bytes())
}

/// Removes the folder if nothing lies aside there, and keeps its content out of commits otherwise.
pub(super) fn tidy(root: &Path) {
    let ignore = root.join(FOLDER).join(".gitignore");
    let Ok(ignored) = Spot::open(root, &ignore, false) else {
        return;
    };
    // Only an empty folder can be removed, so its own file goes first.
    let _ = ignored.remove();
    let Ok(above) = OpenFolder::open(root) else {
        return;
    };
    if unlinkat(above, FOLDER, AtFlags::REMOVEDIR) == Err(Errno::NOTEMPTY) {
        // Without room, a person sees it in the next commit.
        let content = Bytes::new(b"*\n".to_vec());
        let _ = ignored.restore(&Former::File {
            mode: 0o600,
            content,
        });
    }
}

/// Opens the folder. What else has its name is renamed.
fn open(root: &Path) -> io::Result<OwnedFd> {
    let above = OpenFolder::open(root)?;
    if let Ok(opened) = above.open_inner(FOLDER.as_ref()) {
        return Ok(opened.into());
    }
    let name = name_for(Path::new(FOLDER));
    // Fails if there is nothing.
    let _ = renameat_with(&above, FOLDER, &above, name, RenameFlags::NOREPLACE);
    mkdirat(&above, FOLDER, Mode::from_raw_mode(0o700))?;
    Ok(above.open_inner(FOLDER.as_ref())?.into())
}

/// Returns a name that no program can foresee, and that tells the path.
pub(super) fn name_for(path: &Path) -> OsString {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    let mut told = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' => told.extend(b"%2F"),
            b'%' => told.extend(b"%25"),
            byte => told.push(*byte),
        }
    }
    let told = &told[told.len().saturating_sub(MAX_PATH)..];
    OsString::from_vec([format!("{time}-").as_bytes(), told, SUFFIX.as_bytes()].concat())
}

/// Returns the path that a name tells. Returns `None` for other names.
fn path_of(name: &OsStr) -> Option<PathBuf> {
    let told = name.as_bytes().strip_suffix(SUFFIX.as_bytes())?;
    let mut told = told.splitn(2, |byte| *byte == b'-').nth(1)?;
    let mut path = Vec::new();
    while let Some((first, rest)) = told.split_first() {
        let escape = [(&b"%2F"[..], b'/'), (b"%25", b'%')]
            .into_iter()
            .find(|(escape, _)| told.starts_with(escape));
        let (rest, byte) = escape.map_or((rest, *first), |(escape, byte)| {
            (&told[escape.len()..], byte)
        });
        path.push(byte);
        told = rest;
    }
    // A name that a program made leads to no other place.
    let path = PathBuf::from(OsString::from_vec(path));
    let is_below = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    (is_below && !path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use tools::policy::{SensitivePaths, Sensitivity};

    use super::*;

    #[test]
    fn a_name_tells_its_path_and_is_no_sensitive_one() {
        let table = SensitivePaths::default();
        let concrete = |pattern: &str| {
            pattern
                .trim_start_matches('/')
                .replace("**", "x")
                .replace('*', "y")
        };
        for entry in table.paths() {
            for path in [
                concrete(&entry.pattern),
                format!("a/{}", concrete(&entry.pattern)),
            ] {
                let name = name_for(Path::new(&path));
                assert_eq!(path_of(&name), Some(PathBuf::from(&path)));
                let found = table.find(&format!("{FOLDER}/{}", name.to_str().unwrap()));
                assert!(
                    found.is_none_or(|entry| entry.sensitivity <= Sensitivity::BuildFile),
                    "{path}: {name:?}"
                );
            }
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_tells_nothing() {
        for name in [
            "1-..%2Fx.set-aside",
            "1-%2Fetc%2Fx.set-aside",
            "1-.set-aside/",
            "x.set-aside",
            "1-x",
            ".gitignore",
        ] {
            assert_eq!(path_of(OsStr::new(name)), None, "{name}");
        }
        for raw in [&b"a%\xff/\n"[..], b"a%2Fb"] {
            let raw = Path::new(OsStr::from_bytes(raw));
            assert_eq!(path_of(&name_for(raw)).as_deref(), Some(raw));
        }
        assert!(name_for(Path::new(&"long/".repeat(100))).len() < 255);
    }
}
