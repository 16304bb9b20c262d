//! Collects the reasons to ask about a call that its targets do not show: those of the handler, and URLs that may carry data out.

use protocol::{Access, Json, Normaliser, Target};
use serde_json::Value;

use crate::context::KnownTexts;
use crate::isolate::Panic;
use crate::{Concern, Entry, Input, ToolContext, ToolErrorKind};

/// Returns the concerns about a call.
///
/// # Errors
/// Returns [`ToolErrorKind::Panicked`] if the handler panicked.
pub(super) fn concerns(
    entry: &Entry,
    cx: &ToolContext,
    arguments: &Input,
    targets: &[Target],
) -> Result<Vec<Concern>, ToolErrorKind> {
    let mut concerns = Panic::catch(|| entry.handler().concerns(cx, arguments))
        .map_err(|Panic(message)| ToolErrorKind::Panicked { message })?;
    concerns.retain(|concern| !(concern.is_lifted_by_name() && cx.is_spelled(entry.tool(), &concern.target)));
    if let Some(known) = known_texts(cx, targets).filter(|_| cx.is_exposed()) {
        let about_url = |(target, _): (&Target, &str)| {
            let reason = "the path or query of the URL has text that is neither in a prompt nor in a link of a document of this \
                          host, so the call may carry out what the session has read";
            let remedy = "use a URL that a prompt or a link of a page of this host contains";
            Concern::new(target.clone(), reason, remedy)
        };
        let unknown = urls(arguments.json(), targets).into_iter().filter(|(_, url)| !known.contains(url));
        concerns.extend(unknown.map(about_url));
    }
    Ok(concerns)
}

/// Adds the targets of the concerns to those that need an approval.
pub(super) fn join(unapproved: Option<Vec<Target>>, concerns: &[Concern]) -> Option<Vec<Target>> {
    if concerns.is_empty() {
        return unapproved;
    }
    let mut targets = unapproved.unwrap_or_default();
    for concern in concerns {
        if !targets.contains(&concern.target) {
            targets.push(concern.target.clone());
        }
    }
    targets.sort();
    Some(targets)
}

/// Records the URLs of a call that may run, so that nobody is asked about them again.
pub(super) fn record_urls(cx: &ToolContext, arguments: &Input, targets: &[Target]) {
    if let Some(known) = known_texts(cx, targets) {
        urls(arguments.json(), targets).into_iter().for_each(|(_, url)| known.add_url(url));
    }
}

/// Returns the service, if a target is the read of a host.
fn known_texts(cx: &ToolContext, targets: &[Target]) -> Option<std::sync::Arc<KnownTexts>> {
    if targets.iter().any(is_read) { cx.service() } else { None }
}

fn is_read(target: &Target) -> bool {
    target.scheme() == "net" && target.access() == Access::Read
}

/// Returns the arguments that are URLs of hosts which the call reads, each with its target.
fn urls<'a>(arguments: &'a Json, targets: &'a [Target]) -> Vec<(&'a Target, &'a str)> {
    let mut urls = Vec::new();
    push_urls(arguments.value(), targets, &mut urls);
    urls
}

fn push_urls<'a>(value: &'a Value, targets: &'a [Target], urls: &mut Vec<(&'a Target, &'a str)>) {
    match value {
        Value::String(text) => {
            let host = Normaliser::Host.apply(text).ok();
            let target = host.and_then(|host| targets.iter().find(|target| is_read(target) && target.value() == host));
            urls.extend(target.map(|target| (target, &**text)));
        }
        Value::Array(items) => items.iter().for_each(|item| push_urls(item, targets, urls)),
        Value::Object(fields) => fields.values().for_each(|field| push_urls(field, targets, urls)),
        _ => {}
    }
}
