//! [`EffectLayer`]: looks at a call before it runs, so that its effect can be shown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tools::layer::{Layer, Next};
use tools::{Access, HandlerFuture, Json, Target, ToolContext, call};

use crate::session_view::SessionView;

/// The time limit of a preview.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Keeps the previews of calls about which nobody was asked, and the contents of files before their first change.
pub(crate) struct EffectLayer {
    pub(crate) view: Arc<SessionView>,
    /// The root of the workspace, if its changes are to be shown.
    pub(crate) root: Option<PathBuf>,
}

impl Layer for EffectLayer {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        let effects = &self.view.effects;
        let (targets, is_change) = targets(&cx, &next);
        let is_shown = !is_of_program(&targets) && !effects.was_asked(&cx);
        let preview = is_shown.then(|| next.preview()).flatten();
        let root = self.root.clone().filter(|_| is_change);
        if preview.is_none() && root.is_none() {
            return next.call(cx);
        }
        HandlerFuture::new(async move {
            if let Some(preview) = preview
                && let Ok(Ok(preview)) = timeout(TIME_LIMIT, preview).await
            {
                effects.keep(&cx, preview);
            }
            if let Some(root) = root {
                let changed = targets.into_iter();
                let changed = changed.filter(|target| target.access() != Access::Read);
                let (files, others): (Vec<_>, Vec<_>) =
                    changed.partition(|target| target.scheme() == "fs");
                let may_change_any = files.is_empty() || !others.is_empty();
                let files: Vec<_> = files.iter().map(|file| file.value().to_owned()).collect();
                let view = self.view.clone();
                let kept = spawn_blocking(move || {
                    view.effects
                        .with_originals(|originals| originals.keep(&root, &files, may_change_any));
                });
                // A file that could not be read is missing in the list of changes, and no reason against the call.
                let _ = kept.await;
            }
            next.call(cx).await
        })
    }
}

/// Returns the targets of a call, and true if it may change something.
fn targets(cx: &ToolContext, next: &Next<'_>) -> (Vec<Target>, bool) {
    let Some(entry) = cx.tool().and_then(|tool| tools::get(tool).ok()) else {
        return (Vec::new(), false);
    };
    let arguments = Json::from(next.arguments().clone());
    let targets = entry.targets(&call::read_arguments(&entry, &arguments, cx), cx);
    let is_change = !entry.tool().effects.is_read_only();
    (targets.unwrap_or_default(), is_change)
}

/// Returns true if a call with these targets starts programs or is about running ones. Their previews describe walls, and their output shows
/// what they do.
pub(crate) fn is_of_program(targets: &[Target]) -> bool {
    let mut schemes = targets.iter().map(Target::scheme);
    schemes.any(|scheme| matches!(scheme, "exec" | "program"))
}
