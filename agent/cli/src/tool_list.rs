//! The tools as a list for people.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::Selection;
use anstyle::Style;
use host::{AttachRequest, AttachedTools, FirstList, NoServers};
use tools::{CancellationToken, Entry};

use crate::config::Settings;
use crate::error::Error;
use crate::notice::{FAINT, STRONG};
use crate::root::RootOption;
use host::table::Table;
use tools::visible::visible;

/// Returns the name and the first sentence of each tool. A long list adds the effects and the source below it.
pub(crate) fn page<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    is_long: bool,
    width: usize,
) -> String {
    let mut table = Table::new([STRONG, Style::new()], 0);
    for entry in entries {
        let tool = entry.tool();
        let cell = |text: &str| visible(text).into_owned();
        table.push([tool.name.to_string(), cell(&first(&tool.description))]);
        if is_long {
            table.push_below(FAINT, cell(&tool.effects.to_string()));
            table.push_below(FAINT, cell(&entry.source().to_string()));
        }
    }
    table.wrap(width)
}

/// Returns the text up to the first full stop before a space, or up to the first empty line, on one line.
fn first(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.find(". ") {
        Some(end) => line[..=end].to_owned(),
        None => line,
    }
}

/// Offers the tools of the servers of a root that the selection may match, in the process-wide catalog. Without a root there are none. A wait
/// for first lists ends if the token is cancelled.
///
/// Approvals of other processes take effect until the servers are dropped.
pub(crate) async fn attach(
    root: Option<PathBuf>,
    settings: &Settings,
    selection: &Selection,
    first: FirstList,
    cancellation: &CancellationToken,
) -> Box<dyn AttachedTools> {
    let Some(root) = root else {
        return Box::new(NoServers);
    };
    let request = attach_request(&root, settings, selection, first, cancellation);
    host::remote_tools().attach(&root, request).await
}

/// Returns the request of [`attach`], to which a session may add its own catalog and servers.
pub(crate) fn attach_request<'a>(
    root: &Path,
    settings: &'a Settings,
    selection: &Selection,
    first: FirstList,
    cancellation: &'a CancellationToken,
) -> AttachRequest<'a> {
    let selection = selection.clone();
    let of_host = settings.clone();
    let option = RootOption::at(root);
    AttachRequest {
        settings,
        context: Arc::new(move || Ok(option.host(true, &of_host)?)),
        may_match: Arc::new(move |name: &str| selection.may_match(name)),
        catalog: None,
        given: None,
        first,
        cancellation,
    }
}

/// Attaches the servers of a tool with this name, if it is one of servers.
pub(crate) async fn attach_for(
    name: &str,
    root: Option<PathBuf>,
    settings: impl FnOnce() -> Result<Settings, Error>,
) -> Result<Box<dyn AttachedTools>, Error> {
    let Some(glob) = host::remote_tools().glob_for(name) else {
        return Ok(Box::new(NoServers));
    };
    let selection = Selection::parse([glob])?;
    let token = CancellationToken::new();
    Ok(attach(root, &settings()?, &selection, FirstList::Needed, &token).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_a_full_stop_or_paragraph() {
        assert_eq!(
            first("Reads a file.\nMore of it. And more."),
            "Reads a file."
        );
        assert_eq!(
            first("Reads v1.2 files\nof text\n\nMore."),
            "Reads v1.2 files of text"
        );
        assert_eq!(first(""), "");
    }
}
