//! [`WorkspaceFiles`]: the methods of [`Workspace`] that give tools of other crates the same confined access.
//!
//! ```text
//! right: cx.need::<Workspace>()?.open_file(cx, &path)?
//! wrong: std::fs::File::open(cx.need::<Workspace>()?.root().join(&path))?
//! ```
//!
//! The wrong one follows a link out of the workspace, and does not ask the grant about the file to which a link leads.

use std::fs::File;

use tools::policy::Verdict;
use tools::protocol::{Target, ToolName};
use tools::{Access, ToolContext, ToolError};
use tools_workspace::Workspace;

use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::list::entries;
use crate::listing::DirEntry;
use crate::path::RelativePath;
use crate::read::READ_TOOL;
use crate::relocate::{FROM, TO, move_entry};
use crate::removal_question;
use crate::remove::remove_entry;
use crate::shown::Shown;
use crate::slot::{FindOptions, IfMissing, Slot, create_dir};
use crate::whole_file::{self, Restyled};
use crate::write::write_atomically;

/// Confined file access for tools of other crates, by a [`Workspace`].
///
/// Unlike `std::fs`, these methods guarantee:
///
/// - Paths are normalised lexically below the workspace. A link that leads out of it is refused.
/// - The context's grant must cover the path and the target of every link on it.
/// - Every directory on the path is held open, so concurrent changes to the tree cannot redirect the access.
///
/// A session can therefore allow your tool to write without having `fs.write`.
///
/// These methods block. Call them from a tool that is not `async`.
pub trait WorkspaceFiles {
    /// Opens a regular file for reading. The grant must cover reading it.
    ///
    /// ```
    /// use std::io::Read;
    /// use tools::{ToolContext, ToolError, tool};
    /// use tools_fs::{Workspace, WorkspaceFiles as _};
    ///
    /// /// Counts the lines of a file.
    /// #[tool(name = "file.lines", reads = "fs:{path}", needs = Workspace)]
    /// fn lines(
    ///     cx: &ToolContext,
    ///     /// The file, relative to the workspace root.
    ///     path: String,
    /// ) -> Result<usize, ToolError> {
    ///     let mut text = String::new();
    ///     let file = cx.need::<Workspace>()?.open_file(cx, &path)?;
    ///     // Limit the size: the file may be arbitrarily large.
    ///     file.take(1 << 20)
    ///         .read_to_string(&mut text)
    ///         .map_err(|error| ToolError::execution_failed(format!("{path}: {error}")))?;
    ///     Ok(text.lines().count())
    /// }
    /// # assert_eq!(LINES_TOOL.name, "file.lines");
    /// ```
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `path` is not a regular file or leads out of the workspace.
    fn open_file(&self, cx: &ToolContext, path: &str) -> Result<File, ToolError>;

    /// Reads a file of at most 8 MiB, or the file to which a link leads. Returns `None` if there is none, or if it is hidden.
    ///
    /// The grant must cover reading it.
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `path` is not a regular file, is larger, cannot be read, lies below a file, or
    ///   leads out of the workspace.
    fn read_file(&self, cx: &ToolContext, path: &str) -> Result<Option<Vec<u8>>, ToolError>;

    /// Writes a whole file atomically: readers see the old content or the new content. Creates missing parent directories.
    ///
    /// The grant must cover writing the file.
    ///
    /// ```
    /// use serde_json::json;
    /// use tools::{Catalog, ErrorCode, Grant, Host, ToolContext, ToolError, tool};
    /// use tools_fs::{Workspace, WorkspaceFiles as _};
    ///
    /// /// Saves a note.
    /// #[tool(name = "note.save", writes = "fs:notes/{name}.md", idempotent, needs = Workspace)]
    /// fn save(
    ///     cx: &ToolContext,
    ///     /// The name of the note.
    ///     name: String,
    ///     /// Its text.
    ///     text: String,
    /// ) -> Result<String, ToolError> {
    ///     // This path matches the declared target. Any other path needs a grant of its own.
    ///     let path = format!("notes/{name}.md");
    ///     cx.need::<Workspace>()?.write_file(cx, &path, text)?;
    ///     Ok(format!("saved `{path}`"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let root = tempfile::tempdir()?;
    /// let mut catalog = Catalog::new();
    /// catalog.submit(&[&SAVE_TOOL])?;
    /// let cx = Host::new()
    ///     .with_grant(Grant::parse(["fs:write:notes/**"])?)
    ///     .with_service(Workspace::open(root.path())?);
    ///
    /// catalog.execute(&cx, "note.save", json!({"name": "milk", "text": "Buy some."})).await?;
    /// assert_eq!(std::fs::read_to_string(root.path().join("notes/milk.md"))?, "Buy some.");
    /// // `notes/../todo.md` lies outside the granted directory.
    /// let refused = catalog.execute(&cx, "note.save", json!({"name": "../todo", "text": ""})).await.unwrap_err();
    /// assert_eq!(refused.code(), ErrorCode::PermissionDenied);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `path` is not a regular file, is read-only, cannot be written, or leads out of
    ///   the workspace. The message names the directories that were created before the failure.
    fn write_file(
        &self,
        cx: &ToolContext,
        path: &str,
        content: impl AsRef<[u8]>,
    ) -> Result<(), ToolError>;

    /// Creates a directory and its missing parents. Succeeds if it exists. The grant must cover writing it.
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if the path exists and is not a directory, cannot be created, or leads out of the workspace.
    fn create_dir(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError>;

    /// Returns the entries of a directory, sorted by the bytes of their names. The grant must cover reading the directory.
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `path` is not a directory, has more than 100,000 entries, or leads out of the workspace.
    fn entries(&self, cx: &ToolContext, path: &str) -> Result<Vec<DirEntry>, ToolError>;

    /// Moves a file, a link, or a directory with its contents. Never overwrites.
    ///
    /// The grant must cover reading and writing `from`, and writing and destroying `to`. For everything below a directory it must
    /// cover reading and writing the old path and writing the new one.
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `from` does not exist, `to` exists, or either leads out of the workspace.
    fn rename(&self, cx: &ToolContext, from: &str, to: &str) -> Result<(), ToolError>;

    /// Removes a file, an empty directory or a link, but not the target of a link. The grant must cover destroying it.
    ///
    /// # Errors
    /// - Returns [`PermissionDenied`](tools::ErrorCode) if the grant does not cover the access.
    /// - Returns [`ExecutionFailed`](tools::ErrorCode) if `path` does not exist, is a directory with entries, or leads out of the workspace.
    fn remove(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError>;

    /// Removes a file, a link, or a directory with its contents. The grant must cover destroying every entry, otherwise nothing is
    /// removed.
    ///
    /// # Errors
    /// Returns the errors of [`remove`](Self::remove). The message gives the number of entries removed before the failure.
    fn remove_all(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError>;
}

impl WorkspaceFiles for Workspace {
    fn open_file(&self, cx: &ToolContext, path: &str) -> Result<File, ToolError> {
        open_resolved(self, cx, path).map(|(file, _)| file)
    }

    fn read_file(&self, cx: &ToolContext, path: &str) -> Result<Option<Vec<u8>>, ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Read])?;
        let Some(found) = Slot::find_if_exists(files, &path)? else {
            return Ok(None);
        };
        let file = found.open_file()?.into_std();
        let _shown = Shown::new(files, &found.path, file.metadata().ok());
        let content = whole_file::contents(file, &found.path, whole_file::MAX_COMPARED)?;
        files.show_content(&found.path);
        Ok(Some(content))
    }

    fn write_file(
        &self,
        cx: &ToolContext,
        path: &str,
        content: impl AsRef<[u8]>,
    ) -> Result<(), ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Write])?;
        write_atomically(files, &path, content.as_ref(), true, |_| {
            Ok(Restyled {
                bytes: content.as_ref().to_vec(),
                note: String::new(),
            })
        })?;
        Ok(())
    }

    fn create_dir(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Write])?;
        create(files, &path)?;
        Ok(())
    }

    fn entries(&self, cx: &ToolContext, path: &str) -> Result<Vec<DirEntry>, ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Read])?;
        Ok(entries(files, &path)?)
    }

    fn rename(&self, cx: &ToolContext, from: &str, to: &str) -> Result<(), ToolError> {
        let (files, from) = check_granted(self, cx, from, FROM)?;
        let (_, to) = check_granted(self, cx, to, TO)?;
        move_entry(files, &from, &to, false)?;
        Ok(())
    }

    fn remove(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Destroy])?;
        remove_entry(files, &path, false)?;
        Ok(())
    }

    fn remove_all(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let (files, path) = check_granted(self, cx, path, &[Access::Destroy])?;
        remove_entry(files, &path, true)?;
        Ok(())
    }
}

/// Opens a file for a person who names it. Returns `None` if tools cannot read it, or if a rule denies it. A link may not lead to a file
/// about which a rule asks: the person named another one.
pub(crate) fn open_named(workspace: &Workspace, cx: &ToolContext, path: &str) -> Option<File> {
    let (file, found) = open_resolved(workspace, cx, path).ok()?;
    let tool = ToolName::new(READ_TOOL.name).ok()?;
    let verdict = |path: &str| {
        let targets = [Target::new(Access::Read, "fs", path).ok()?];
        cx.rulings(&tool, &targets)
            .map(|ruling| ruling.verdict)
            .max()
    };
    let is_named = RelativePath::try_from(path.to_owned()).is_ok_and(|path| path == found);
    let is_permitted =
        verdict(path)? != Verdict::Deny && (is_named || verdict(found.as_str())? == Verdict::Allow);
    is_permitted.then_some(file)
}

fn open_resolved(
    workspace: &Workspace,
    cx: &ToolContext,
    path: &str,
) -> Result<(File, RelativePath), ToolError> {
    let (files, path) = check_granted(workspace, cx, path, &[Access::Read])?;
    let found = Slot::find_existing(files, &path)?;
    let file = found.open_file()?.into_std();
    let _shown = Shown::new(files, &found.path, file.metadata().ok());
    files.show_content(&found.path);
    Ok((file, found.path))
}

/// Normalises a path and checks that the grant covers it.
fn check_granted<'a>(
    workspace: &'a Workspace,
    cx: &'a ToolContext,
    path: &str,
    accesses: &[Access],
) -> Result<(Files<'a>, RelativePath), ToolError> {
    let files = Files::new(cx, workspace);
    let path = RelativePath::try_from(path.to_owned());
    let path = path.map_err(|error| ToolError::execution_failed(error.to_string()))?;
    for access in accesses {
        files.require(*access, &path)?;
    }
    if *accesses != [Access::Read] {
        removal_question::check_unasked(files, accesses, &path)?;
    }
    Ok((files, path))
}

/// Creates a directory and its missing parents.
fn create(files: Files<'_>, path: &RelativePath) -> Result<(), FsError> {
    let mut created = Vec::new();
    try_create(files, path, &mut created).map_err(|error| error.with_created_dirs(&created))
}

fn try_create(
    files: Files<'_>,
    path: &RelativePath,
    created: &mut Vec<RelativePath>,
) -> Result<(), FsError> {
    let options = FindOptions::following(&[Access::Write], IfMissing::CreateDirs);
    let slot = Slot::find_or_create(files, path, options, created)?;
    match slot.kind {
        Some(Kind::Directory) => Ok(()),
        Some(kind) => Err(FsError::Taken {
            path: slot.path,
            kind,
            advice: "choose another path for the directory",
        }),
        None => {
            files.cx.check_cancelled()?;
            create_dir(files.cx, &slot.parent, &slot.name, &slot.path, created).map(drop)
        }
    }
}
