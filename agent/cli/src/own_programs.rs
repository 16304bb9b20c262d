//! The files of a workspace that git runs or obeys because its settings name them.

use tools::ToolContext;
use tools::policy::{SensitivePath, Sensitivity};
use tools_builtin::fs::Workspace;

use crate::authorship::{NamedPath, named_paths};

/// The note of a file.
const NOTE: &str = "named by a setting of git, which runs or obeys it";

/// Adds the files to the sensitive paths of a context.
pub(crate) fn protect(cx: ToolContext, workspace: &Workspace) -> ToolContext {
    let entries =
        named_paths(workspace.root())
            .into_iter()
            .flat_map(|NamedPath { path, is_folder }| {
                let end = if is_folder { "/**" } else { "" };
                let below = workspace
                    .paths_to(path)
                    .into_iter()
                    .filter(|below| below != ".");
                let entry = move |below: String| {
                    SensitivePath::new(format!("/{below}{end}"), Sensitivity::RunsByItself, NOTE)
                };
                below.filter_map(move |below| entry(below).ok())
            });
    let paths = cx
        .sensitive_paths()
        .clone()
        .with_paths(entries.collect::<Vec<_>>());
    cx.with_sensitive_paths(paths)
}
