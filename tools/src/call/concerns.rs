//! Collects the reasons to ask about a call that its targets do not show: those of the handler, and URLs that may carry data out.

use protocol::{Access, Target};

use super::sent_texts::SentTexts;
use crate::concern::Concern;
use crate::context::{KnownTexts, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::isolate::Panic;
use crate::tool_error::ToolErrorKind;

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
    // A call that cannot be judged is refused. Without its concerns it would run unasked.
    let mut concerns = Panic::catch(|| entry.handler().concerns(cx, arguments))
        .map_err(|Panic(message)| ToolErrorKind::Panicked { message })?;
    concerns.retain(|concern| {
        !(concern.is_lifted_by_name && cx.is_spelled(entry.tool(), &concern.target))
    });
    if let Some(known) = known_texts(cx, targets).filter(|_| cx.is_exposed()) {
        let sent = SentTexts::new(entry, arguments, targets);
        concerns.extend(about_urls(entry, cx, &known, &sent));
    }
    Ok(concerns)
}

/// Returns the concerns about the URLs of a call, and counts them if there are none.
fn about_urls(
    entry: &Entry,
    cx: &ToolContext,
    known: &KnownTexts,
    sent: &SentTexts<'_>,
) -> Vec<Concern> {
    let remedy = "use a URL that a prompt or a link of a page of this host contains";
    let concerns = sent.urls.iter().filter_map(|(target, url)| {
        let reason = match () {
            () if !known.contains(url) => {
                "the path or query of the URL has text that is neither in a prompt nor in a link of a document of this host, \
                 so the call may carry out what the session has read"
            }
            () if is_any_host(entry, cx, target) && !known.contains_host(url) => {
                "the host is neither in a prompt nor in a clause, so its name may carry out what the session has read"
            }
            () if sent.texts.len() > 1
                || !sent.texts.iter().all(|text| known.contains_text(text)) =>
            {
                "the call has text beside the URL that is not in a prompt, so it may carry out what the session has read"
            }
            () => return None,
        };
        Some(Concern::new((*target).clone(), reason, remedy))
    });
    let concerns: Vec<_> = concerns.collect();
    if !concerns.is_empty() {
        return concerns;
    }
    // Counted only if nothing else asks: a call that a person answers begins a new count anyway.
    let uncounted = sent.urls.iter().find(|(_, url)| !known.count_url(url));
    uncounted.map(|(target, _)| {
        let reason = "the session has read many URLs without a question since it read text of strangers, and their choice may \
                      carry out what it has read; a yes allows as many more";
        Concern::new(
            (*target).clone(),
            reason,
            "a person can allow more, or read the URL in a new session",
        )
    }).into_iter().collect()
}

/// Adds the targets of the concerns to those that need an approval.
fn is_any_host(entry: &Entry, cx: &ToolContext, target: &Target) -> bool {
    cx.rulings(entry.tool(), std::slice::from_ref(target))
        .any(|ruling| ruling.is_any_host())
}

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

/// Records the URLs of a call that may run, and the texts beside them, so that nobody is asked about them again. A question about a
/// concern, which a person has answered, begins a new count of URLs.
pub(super) fn record_urls(
    entry: &Entry,
    cx: &ToolContext,
    arguments: &Input,
    targets: &[Target],
    concerns: &[Concern],
) {
    let Some(known) = known_texts(cx, targets) else {
        return;
    };
    let sent = SentTexts::new(entry, arguments, targets);
    if !concerns.is_empty() {
        known.reset_count();
    }
    if !sent.urls.is_empty() {
        sent.texts.iter().for_each(|text| known.add_text(text));
    }
    sent.urls.iter().for_each(|(_, url)| known.add_url(url));
}

/// Returns the service, if a target is the read of a host.
fn known_texts(cx: &ToolContext, targets: &[Target]) -> Option<std::sync::Arc<KnownTexts>> {
    if targets.iter().any(is_read) {
        cx.service()
    } else {
        None
    }
}

fn is_read(target: &Target) -> bool {
    target.scheme() == "net" && target.access() == Access::Read
}
