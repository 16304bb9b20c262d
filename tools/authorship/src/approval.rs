//! The approval of a repository, in which a session may have forged commits.

use std::path::Path;

use host::{CommandContext, CommandError};
use tools::visible::visible;
use tools::{Digest, counted};

use crate::trust::{ChangedRef, Pending, clear, pending};

/// Shows the branches and tags of a repository that sessions may have written, and counts its commits as the user's if the user says so.
/// Returns true if nothing is left to approve.
pub(crate) async fn approve(
    cx: &dyn CommandContext,
    digests: &[Digest],
) -> Result<bool, CommandError> {
    let workspace = cx.workspace()?;
    let root = Path::new(&workspace);
    let Some(pending) = pending(root)? else {
        return Ok(true);
    };
    let shown = page(&pending);
    let digest = Digest::hash_bytes(shown.as_bytes());
    cx.write_page(&format!("{shown}  digest: {digest}\n"))?;
    if !pending.is_whole {
        cx.warn(
            "git cannot list all of its new commits, so they cannot be approved; compare it with another clone",
        );
        return Ok(false);
    }
    let is_approved = if digests.is_empty() {
        cx.is_approved(&[], &digest, "this repository").await?
    } else {
        digests.contains(&digest)
    };
    // A program of another session may have written it meanwhile.
    if !is_approved || !clear(root, |now| page(now) == shown)? {
        return Ok(false);
    }
    cx.note(&format!(
        "approved {}",
        visible(&pending.git.to_string_lossy())
    ));
    Ok(true)
}

fn page(pending: &Pending) -> String {
    let mut page = format!(
        "{}: a session could write it, so no file in it counts as yours. Your approval says that the commits below are yours.\n",
        visible(&pending.git.to_string_lossy())
    );
    for ChangedRef {
        name,
        before,
        after,
        commits,
    } in &pending.changed
    {
        let id = |id: &Option<String>| id.as_deref().map_or("none".to_owned(), str::to_owned);
        page.push_str(&format!("  {name}: {} -> {}\n", id(before), id(after)));
        commits
            .iter()
            .for_each(|commit| page.push_str(&format!("    {commit}\n")));
    }
    if !pending.again.is_empty() {
        page.push_str("  branches and tags have these, which an earlier approval left out:\n");
    }
    for commit in &pending.again {
        page.push_str(&format!("    {commit}\n"));
    }
    let commits = pending.changed.iter().map(|changed| changed.commits.len());
    let count = commits.sum::<usize>() + pending.again.len();
    page.push_str(&format!(
        "  {} in all, each of them above; {}, to which no branch and no tag leads, not approved\n",
        counted(count as u64, "commit"),
        counted(pending.unreachable as u64, "other")
    ));
    page
}
