//! Creates the missing files of secrets and channels inside the root.
//!
//! The walls of programs hide files that exist. A program could create a missing one, and choose thereby what a later session takes for a
//! secret, for the address of a channel or for messages from outside.

use std::io;
use std::path::PathBuf;

use tools_store::private;
use tools_workspace::Workspace;

/// The error for a file that is missing and cannot be created.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is missing, and a program that runs in the root could create it: {reason}; create the file, or name one outside of \
     the root in the settings",
    path.display()
)]
pub(super) struct ReservedFileError {
    path: PathBuf,
    reason: io::Error,
}

/// Creates each of these files that is missing and lies inside the root: empty, and for the user alone.
///
/// # Errors
/// Returns an error that names the file if it cannot be created.
pub(super) fn create(workspace: &Workspace, files: &[PathBuf]) -> Result<(), ReservedFileError> {
    for file in files
        .iter()
        .filter(|file| !file.exists() && !workspace.paths_to(file).is_empty())
    {
        let parent = file.parent().filter(|parent| !parent.exists());
        let created = parent
            .map_or(Ok(()), private::prepare_folder)
            .and_then(|()| private::create_file(file));
        // Another session that starts may be faster. A link that leads nowhere is still an error.
        if let Err(reason) = created
            && !(reason.kind() == io::ErrorKind::AlreadyExists && file.exists())
        {
            let path = file.to_owned();
            return Err(ReservedFileError { path, reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn sessions_that_start_at_once_create_a_file_together() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        for number in 0..200 {
            let file = root.path().join(format!("{number}.jsonl"));
            let barrier = Barrier::new(4);
            let start = || {
                barrier.wait();
                create(&workspace, std::slice::from_ref(&file)).unwrap();
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(start))));
            assert!(file.exists());
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let link = root.path().join("key");
        std::os::unix::fs::symlink("missing", &link).unwrap();
        assert!(create(&workspace, &[link]).is_err());
    }
}
