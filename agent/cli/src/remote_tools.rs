//! The tools of servers that a command has.

use std::path::PathBuf;
use std::sync::Arc;

use agent::Selection;
use host::{AttachRequest, AttachedTools, FirstList, NoServers};
use tools::CancellationToken;

use crate::config::Settings;
use crate::error::Error;
use crate::root::RootOption;

/// Offers the tools of the servers of a root that the selection may match. Without a root there are none. A wait for first lists ends if
/// the token is cancelled.
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
    let (selection, of_host) = (selection.clone(), settings.clone());
    let option = RootOption::at(&root);
    let request = AttachRequest {
        settings,
        context: Arc::new(move || Ok(option.host(true, &of_host)?)),
        may_match: Arc::new(move |name: &str| selection.may_match(name)),
        first,
        cancellation,
    };
    host::remote_tools().attach(&root, request).await
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
    let (selection, token) = (Selection::parse([glob])?, CancellationToken::new());
    Ok(attach(root, &settings()?, &selection, FirstList::Needed, &token).await)
}
