//! Finds and opens existing entries.

use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use tools::Access;

use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::{FindOptions, IfMissing, Slot};

impl Slot {
    /// Resolves the path of an existing entry for reading; see [`Slot::find`].
    pub(crate) fn find_existing(files: Files<'_>, path: &RelativePath) -> Result<Self, FsError> {
        let options = FindOptions::following(&[Access::Read], IfMissing::Fail);
        Self::find(files, path, options)
    }

    /// Resolves a path for reading. Returns `None` if there is no entry, or if it is hidden.
    pub(crate) fn find_if_exists(
        files: Files<'_>,
        path: &RelativePath,
    ) -> Result<Option<Self>, FsError> {
        let options = FindOptions::following(&[Access::Read], IfMissing::FailPlainly);
        match Self::find(files, path, options) {
            Err(FsError::Missing { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Opens the entry for reading. Returns an error if it is not a regular file.
    pub(crate) fn open_file(&self) -> Result<File, FsError> {
        if let Some(kind) = self.kind {
            check_file(&self.path, kind)?;
        }
        open_file(&self.parent, &self.name, &self.path)
    }

    /// Opens the entry as a directory. Returns an error if it is not one.
    pub(crate) fn open_dir(&self) -> Result<Dir, FsError> {
        match self.kind.unwrap_or(Kind::Unknown) {
            Kind::Directory => self
                .parent
                .open_dir_nofollow(&self.name)
                .map_err(FsError::io(&self.path)),
            kind => Err(FsError::NotListable {
                path: self.path.clone(),
                kind,
            }),
        }
    }
}

/// Opens a regular file in a directory for reading.
///
/// Does not follow links and never blocks, even if the entry has become a pipe without a writer.
pub(crate) fn open_file(parent: &Dir, name: &str, path: &RelativePath) -> Result<File, FsError> {
    let file = open_entry(parent, name).map_err(FsError::io(path))?;
    let metadata = file.metadata().map_err(FsError::io(path))?;
    check_file(path, metadata.file_type().into())?;
    Ok(file)
}

/// Opens an entry of any kind in a directory for reading. Does not follow links and never blocks.
pub(crate) fn open_entry(parent: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    parent.open_with(name, &options)
}

fn check_file(path: &RelativePath, kind: Kind) -> Result<(), FsError> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(FsError::IsADirectory { path: path.clone() }),
        kind => Err(FsError::Special {
            path: path.clone(),
            kind,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixture::Fixture;
    use tools::Host;
    use tools_workspace::Workspace;

    /// Opens a file and a directory that were changed after they were resolved.
    fn opened_after(
        change: impl FnOnce(&Fixture),
    ) -> (Result<File, FsError>, Result<Dir, FsError>) {
        let fixture = Fixture::with_files(&[("file", ""), ("dir/x", "")]);
        let workspace = Workspace::open(fixture.root()).unwrap();
        let find = |path: &str| {
            let path = path.to_owned().try_into().unwrap();
            Slot::find_existing(Files::new(&Host::new(), &workspace), &path).unwrap()
        };
        let (file, dir) = (find("file"), find("dir"));
        fs::rename(fixture.root().join("file"), fixture.root().join("old_file")).unwrap();
        fs::rename(fixture.root().join("dir"), fixture.root().join("old_dir")).unwrap();
        change(&fixture);
        (file.open_file(), dir.open_dir())
    }

    #[test]
    fn similar_names_are_searched_for_only_where_they_are_shown() {
        let fixture = Fixture::with_files(&[("notes.md", "")]);
        let workspace = Workspace::open(fixture.root()).unwrap();
        let files = Files::new(fixture.cx(), &workspace);
        let path = "note.md".to_owned().try_into().unwrap();
        let near = |missing| match Slot::find(
            files,
            &path,
            FindOptions::following(&[Access::Read], missing),
        ) {
            Err(FsError::Missing { near, .. }) => near,
            found => panic!("{found:?}"),
        };
        assert_eq!(
            (near(IfMissing::Fail), near(IfMissing::FailPlainly)),
            (vec!["notes.md".to_owned()], vec![])
        );
        assert!(Slot::find_if_exists(files, &path).unwrap().is_none());
    }

    #[test]
    fn an_entry_that_became_a_link_is_not_followed() {
        let (file, dir) = opened_after(|fixture| {
            fixture.link("old_file", "file");
            fixture.link("old_dir", "dir");
        });
        assert!(matches!(
            (file, dir),
            (Err(FsError::Io { .. }), Err(FsError::Io { .. }))
        ));
    }

    #[test]
    fn an_entry_that_became_a_pipe_does_not_block() {
        let (file, dir) = opened_after(|fixture| {
            fixture.pipe("file");
            fixture.pipe("dir");
        });
        assert!(matches!(
            (file, dir),
            (
                Err(FsError::Special {
                    kind: Kind::Pipe,
                    ..
                }),
                Err(FsError::Io { .. })
            )
        ));
    }

    #[test]
    fn an_entry_that_became_a_directory_is_no_file() {
        let (file, _) = opened_after(|fixture| fixture.write("file/x", ""));
        assert!(matches!(file, Err(FsError::IsADirectory { .. })));
    }
}
