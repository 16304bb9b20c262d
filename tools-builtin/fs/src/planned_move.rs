//! The preview of `fs.move`: the contents that would run by themselves at their new path.

use std::ops::ControlFlow;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::policy::Sensitivity;
use tools::protocol::Target;
use tools::{Access, Concern, Preview, ToolContext, ToolError};
use tools_workspace::{Workspace, is_output, leads_astray};

use crate::diff;
use crate::error::FsError;
use crate::files::Files;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::repository::{self, unless_named};
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::subtree::visit_all;
use crate::whole_file;

/// The bytes of the contents that a preview shows, less than it may have.
const MAX_BYTES: usize = Preview::MAX_BYTES - 4096;

/// The lines of the contents that a preview shows.
const MAX_LINES: usize = Preview::MAX_LINES - 50;

/// Shows the whole content of each file that configures programs or runs by itself at its new path.
///
/// # Errors
/// Returns an error if a content cannot be shown whole, so that nobody agrees to a part of it.
pub(crate) fn preview(
    cx: &ToolContext,
    from: RelativePath,
    to: RelativePath,
    overwrite: bool,
) -> Result<Preview, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let replaces = if overwrite {
        ", and replaces a file or link there"
    } else {
        ""
    };
    let mut text = format!("moves `{from}` to `{to}`{replaces}\n");
    let files = Files::new(cx, &workspace);
    for (link, target) in stray_links(files, &from, &to)? {
        text += &format!("`{link}` is a link to `{}`\n", target.escape_debug());
    }
    let contents = contents(files, &from, &to)?;
    text += &contents;
    if text.len() > MAX_BYTES || text.lines().count() > MAX_LINES {
        return Err(FsError::LongMove { to }.into());
    }
    Ok(if contents.is_empty() {
        Preview::summary(text)
    } else {
        Preview::diff(text)
    })
}

/// Returns the concern about a link through which commands of the person write elsewhere at its new path.
pub(crate) fn concern(cx: &ToolContext, from: &RelativePath, to: &RelativePath) -> Option<Concern> {
    let workspace = cx.service::<Workspace>()?;
    // A move that cannot be looked at fails.
    let links = stray_links(Files::new(cx, &workspace), from, to).ok()?;
    let target = Target::new(Access::Write, "fs", links.first()?.0.as_str()).ok()?;
    let reason = "it is a link to a place that is protected or not looked at, through which your own commands would write there";
    Some(unless_named(target, reason))
}

/// Returns the links that lead astray at their new paths, which are none in build outputs, and their targets.
fn stray_links(
    files: Files<'_>,
    from: &RelativePath,
    to: &RelativePath,
) -> Result<Vec<(RelativePath, String)>, FsError> {
    let mut links = Vec::new();
    let mut add = |dir: &Dir, name: &str, there: RelativePath| {
        let root = files.workspace.root();
        let place = root.join(there.as_str());
        let paths = files.cx.sensitive_paths();
        let above = there.names().count().saturating_sub(1);
        if let Ok(target) = dir.read_link_contents(name)
            && !there.names().take(above).any(is_output)
            && leads_astray(&place, &target, root, paths)
        {
            links.push((there, target.to_string_lossy().into_owned()));
        }
    };
    let options = FindOptions::of_entry(&[Access::Read], IfMissing::Fail);
    let slot = Slot::find(files, from, options)?;
    add(&slot.parent, &slot.name, to.clone());
    if slot.kind == Some(Kind::Directory) {
        let dir = slot.open_dir()?;
        visit_all(files.cx, &dir, from, &mut |dir, name, path, _| {
            let there = format!("{to}/{}", path.below(from)).try_into();
            let there = there.map_err(|_| FsError::InvalidName { path: path.clone() })?;
            add(dir, name, there);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(links)
}

/// Returns the contents as diffs of new files.
fn contents(files: Files<'_>, from: &RelativePath, to: &RelativePath) -> Result<String, FsError> {
    let find = |path: &RelativePath| {
        let options = FindOptions::of_entry(&[Access::Read], IfMissing::Fail);
        Slot::find(files, path, options)
    };
    let slot = find(from)?;
    if slot.kind != Some(Kind::Directory) {
        return content(files, &slot, to);
    }
    let dir = slot.parent.open_dir_nofollow(&slot.name);
    let dir = dir.map_err(FsError::io(from))?;
    let mut all = String::new();
    visit_all(files.cx, &dir, from, &mut |_, _, path, kind| {
        if kind != Kind::Directory && all.len() <= MAX_BYTES {
            let there = format!("{to}/{}", path.below(from)).try_into();
            let there = there.map_err(|_| FsError::InvalidName { path: path.clone() })?;
            if is_sensitive(files, &there) {
                all += &content(files, &find(path)?, &there)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// Returns the content of a file that is sensitive at its new path.
fn content(files: Files<'_>, slot: &Slot, to: &RelativePath) -> Result<String, FsError> {
    if !is_sensitive(files, to) {
        return Ok(String::new());
    }
    // The content of a link is that of another file, which can change.
    if slot.kind != Some(Kind::File) {
        return Err(FsError::LongMove { to: to.clone() });
    }
    let bytes = whole_file::read(slot)?;
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| FsError::LongMove { to: to.clone() })?;
    Ok(diff::unified_creation(to, &text))
}

/// Returns true if a file configures programs or runs by itself at a path.
pub(crate) fn is_sensitive(files: Files<'_>, path: &RelativePath) -> bool {
    let entry = files.cx.sensitive_paths().find(path.as_str());
    entry.is_some_and(|path| path.sensitivity >= Sensitivity::RunsByItself)
        || repository::holds(files.workspace, path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::Fixture;

    async fn previewed(fixture: &Fixture, from: &str, to: &str) -> Result<String, ToolError> {
        let preview = fixture
            .preview(
                "fs.move",
                json!({"from": from, "to": to, "overwrite": true}),
            )
            .await;
        preview.map(|preview| preview.text().to_owned())
    }

    #[tokio::test]
    async fn contents_that_run_by_themselves_are_shown_whole() {
        let lines: String = (0..900).map(|line| format!("line {line}\n")).collect();
        let fixture = Fixture::with_files(&[
            ("a", &lines),
            ("dir/hooks/post-commit", "id\n"),
            ("dir/notes", "quiet\n"),
        ]);
        for (from, to, shown, hidden) in [
            ("a", ".envrc", "+line 899\n", "quiet"),
            ("a", "b", "moves `a` to `b`", "line 1"),
            ("dir", ".git", "+id\n", "line 1"),
        ] {
            let text = previewed(&fixture, from, to).await.unwrap();
            assert!(
                text.contains(shown) && !text.contains(hidden),
                "{from} {to}: {text}"
            );
        }
    }

    #[tokio::test]
    async fn links_that_lead_elsewhere_at_their_new_path_are_shown() {
        let fixture = Fixture::with_files(&[("target/file", ""), ("dir/file", "")]);
        fixture.link("/tmp/none\u{1b}/x", "target/k");
        fixture.link("dir/file", "near");
        let text = previewed(&fixture, "target", "out-of-it").await.unwrap();
        let shown = "`out-of-it/k` is a link to `/tmp/none\\u{1b}/x`\n";
        assert!(text.contains(shown), "{text}");
        for (from, to) in [("target", "build"), ("near", "nearby")] {
            let text = previewed(&fixture, from, to).await.unwrap();
            assert!(!text.contains("is a link"), "{text}");
        }
    }

    #[tokio::test]
    async fn contents_that_cannot_be_shown_whole_have_no_preview() {
        let fixture = Fixture::with_files(&[
            ("long", &"x\n".repeat(1000)),
            ("wide", &"x".repeat(70_000)),
            ("nul", "\0"),
        ]);
        for from in ["long", "wide", "nul"] {
            previewed(&fixture, from, ".envrc").await.unwrap_err();
            previewed(&fixture, from, "b").await.unwrap();
        }
        fixture.link("nul", "link");
        previewed(&fixture, "link", ".envrc").await.unwrap_err();
    }
}
