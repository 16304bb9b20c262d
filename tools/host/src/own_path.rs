//! Writes the files that the person names on the command line.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// A path that leads through a link.
#[derive(Debug, thiserror::Error)]
#[error("{} is a link, which a session may have left there; remove it, or name the place to which it leads", .0.display())]
struct Linked(PathBuf);

/// Writes a file of the person. A link on a relative path, or at the end of any, is refused: a session can make one that leads out of its
/// workspace. The devices of the system are links, too.
///
/// # Errors
/// Returns an error if there is such a link, or if the file cannot be written.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if let Some(link) = link_on(path) {
        return Err(io::Error::other(Linked(link)));
    }
    fs::write(path, content)
}

fn link_on(path: &Path) -> Option<PathBuf> {
    let is_link =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    // `/dev/stdout` is a link of the system, which a session cannot make.
    if path.starts_with("/dev") || path.starts_with("/proc") {
        return None;
    }
    if path.is_absolute() {
        return is_link(path).then(|| path.to_owned());
    }
    let mut place = PathBuf::new();
    path.components().find_map(|part| {
        place.push(part);
        (matches!(part, Component::Normal(_)) && is_link(&place)).then(|| place.clone())
    })
}
