//! Access to a workspace for tools of other crates, with the confinement of the tools of this one.

use std::fs::File;

use tools::protocol::InvalidTarget;
use tools::{Access, ToolContext, ToolError};

use crate::list::{DirEntry, entries};
use crate::path::RelativePath;
use crate::place::Place;
use crate::relocate::{FROM, TO, moved};
use crate::remove::removed;
use crate::write::written;
use crate::{Workspace, directory};

/// Access for tools of other crates, by the functions that the tools of this crate use. `std::fs` has none of these guarantees:
///
/// - A path is resolved by its text below the workspace. A link on the way that leads out is refused.
/// - The context's grant has to cover the path, and every path that a link on the way leads to. A session may so have a tool
///   of yours and not `fs.write`.
/// - Every directory on the way is held open, so that changes to the tree meanwhile lead nowhere else.
///
/// These functions block. Call them from a tool that is not `async`.
impl Workspace {
    /// Opens a regular file for reading. The grant has to cover reading it.
    ///
    /// ```
    /// use std::io::Read;
    /// use tools::{ToolContext, ToolError, tool};
    /// use tools_fs::Workspace;
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
    ///     // A bound, because a file may be of any size.
    ///     file.take(1 << 20)
    ///         .read_to_string(&mut text)
    ///         .map_err(|error| ToolError::execution_failed(format!("{path}: {error}")))?;
    ///     Ok(text.lines().count())
    /// }
    /// # assert_eq!(LINES_TOOL.name, "file.lines");
    /// ```
    ///
    /// # Errors
    /// [`PermissionDenied`](tools::ErrorCode) for what the grant does not cover; [`ExecutionFailed`](tools::ErrorCode) when there
    /// is no regular file, or the path leads out of the workspace.
    pub fn open_file(&self, cx: &ToolContext, path: &str) -> Result<File, ToolError> {
        let path = covered(cx, path, &[Access::Read])?;
        let file = Place::find(cx, self, &path).and_then(|place| place.open_file());
        Ok(file?.into_std())
    }

    /// Writes a whole file in one step: readers see the old content or the new one. Makes the directories on the way that are
    /// missing. The grant has to cover writing the file.
    ///
    /// ```
    /// use serde_json::json;
    /// use tools::{Catalog, ErrorCode, Grant, ToolContext, ToolError, tool};
    /// use tools_fs::Workspace;
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
    ///     // The path is the target that the effects declare. Any other one needs a grant of its own.
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
    /// let cx = ToolContext::new()
    ///     .with_grant(Grant::parse(["fs:write:notes/**"])?)
    ///     .with_service(Workspace::open(root.path())?);
    ///
    /// catalog.execute(&cx, "note.save", json!({"name": "milk", "text": "Buy some."})).await?;
    /// assert_eq!(std::fs::read_to_string(root.path().join("notes/milk.md"))?, "Buy some.");
    /// // This would be `todo.md`, beside the notes.
    /// let refused = catalog.execute(&cx, "note.save", json!({"name": "../todo", "text": ""})).await.unwrap_err();
    /// assert_eq!(refused.code(), ErrorCode::PermissionDenied);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PermissionDenied`](tools::ErrorCode) for what the grant does not cover; [`ExecutionFailed`](tools::ErrorCode) when there
    /// is something else than a file, or a file that is marked as read-only, when it cannot be written, or the path leads out of
    /// the workspace. The message says which directories were made all the same.
    pub fn write_file(&self, cx: &ToolContext, path: &str, content: impl AsRef<[u8]>) -> Result<(), ToolError> {
        let path = covered(cx, path, &[Access::Write])?;
        written(cx, self, &path, content.as_ref(), true, |_| Ok(()))?;
        Ok(())
    }

    /// Makes a directory and those above it, as far as they are missing. The grant has to cover writing it.
    ///
    /// # Errors
    /// As [`write_file`](Self::write_file); a directory that is there is none.
    pub fn create_dir(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let path = covered(cx, path, &[Access::Write])?;
        directory::made(cx, self, &path)?;
        Ok(())
    }

    /// Returns the entries of a directory, sorted by the bytes of their names. The grant has to cover reading the directory.
    ///
    /// # Errors
    /// [`PermissionDenied`](tools::ErrorCode) for what the grant does not cover; [`ExecutionFailed`](tools::ErrorCode) when there
    /// is no directory, one with more than 100,000 entries, or the path leads out of the workspace.
    pub fn entries(&self, cx: &ToolContext, path: &str) -> Result<Vec<DirEntry>, ToolError> {
        let path = covered(cx, path, &[Access::Read])?;
        Ok(entries(cx, self, &path)?)
    }

    /// Moves a file, a directory with everything in it, or a link. Replaces nothing. The grant has to cover reading and writing
    /// `from` and writing and destroying `to`, and the same of everything below a directory, as with `fs.move`.
    ///
    /// # Errors
    /// [`PermissionDenied`](tools::ErrorCode) for what the grant does not cover; [`ExecutionFailed`](tools::ErrorCode) when there
    /// is nothing at `from` or something at `to`, or one of them leads out of the workspace.
    pub fn rename(&self, cx: &ToolContext, from: &str, to: &str) -> Result<(), ToolError> {
        let (from, to) = (covered(cx, from, FROM)?, covered(cx, to, TO)?);
        moved(cx, self, &from, &to, false)?;
        Ok(())
    }

    /// Removes a file, an empty directory or a link. Of a link, the target stays. The grant has to cover destroying it.
    ///
    /// # Errors
    /// [`PermissionDenied`](tools::ErrorCode) for what the grant does not cover; [`ExecutionFailed`](tools::ErrorCode) when there
    /// is nothing, a directory with entries, or the path leads out of the workspace.
    pub fn remove(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let path = covered(cx, path, &[Access::Destroy])?;
        removed(cx, self, &path, false)?;
        Ok(())
    }

    /// Removes an entry as [`remove`](Self::remove) does, and a directory with everything in it. The grant has to cover
    /// destroying all of that; nothing is removed otherwise.
    ///
    /// # Errors
    /// As [`remove`](Self::remove). The message says how many entries were removed all the same.
    pub fn remove_all(&self, cx: &ToolContext, path: &str) -> Result<(), ToolError> {
        let path = covered(cx, path, &[Access::Destroy])?;
        removed(cx, self, &path, true)?;
        Ok(())
    }
}

/// Returns a path in its one spelling, if the grant covers it.
fn covered(cx: &ToolContext, path: &str, accesses: &[Access]) -> Result<RelativePath, ToolError> {
    let path: RelativePath =
        path.to_owned().try_into().map_err(|error: InvalidTarget| ToolError::execution_failed(error.to_string()))?;
    for access in accesses {
        cx.require(*access, "fs", path.as_str())?;
    }
    Ok(path)
}
