//! [`EffectLayer`]: looks at a call before it runs, so that its effect can be shown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tools::layer::{Layer, Next};
use tools::{Access, HandlerFuture, Json, ToolContext, call};

use crate::session_view::SessionView;

/// The time limit of a preview.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The family whose previews describe walls. The output of its programs shows what they do.
const PROGRAMS: &str = "exec.";

/// Keeps the previews of calls about which nobody was asked, and the contents of files before their first change.
pub(crate) struct EffectLayer {
    pub(crate) view: Arc<SessionView>,
    /// The root of the workspace, if its changes are to be shown.
    pub(crate) root: Option<PathBuf>,
}

impl Layer for EffectLayer {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        let effects = &self.view.effects;
        let tool = cx.tool().cloned();
        let is_program = tool.is_some_and(|tool| tool.starts_with(PROGRAMS));
        let is_shown = !is_program && !effects.was_asked(&cx);
        let preview = is_shown.then(|| next.preview()).flatten();
        let changed = self.root.as_ref().and_then(|_| changed_files(&cx, &next));
        if preview.is_none() && changed.is_none() {
            return next.call(cx);
        }
        HandlerFuture::new(async move {
            if let Some(preview) = preview
                && let Ok(Ok(preview)) = timeout(TIME_LIMIT, preview).await
            {
                effects.keep(&cx, preview);
            }
            if let (Some(root), Some(files)) = (self.root.clone(), changed) {
                let view = self.view.clone();
                let kept = spawn_blocking(move || {
                    view.effects
                        .with_originals(|originals| originals.keep(&root, &files));
                });
                // A file that could not be read is missing in the list of changes, and no reason against the call.
                let _ = kept.await;
            }
            next.call(cx).await
        })
    }
}

/// Returns the files that the arguments of a call name to be changed. Returns `None` if it changes nothing.
fn changed_files(cx: &ToolContext, next: &Next<'_>) -> Option<Vec<String>> {
    let entry = tools::get(cx.tool()?).ok()?;
    if entry.tool().effects.is_read_only() {
        return None;
    }
    let arguments = Json::from(next.arguments().clone());
    let targets = entry.targets(&call::read_arguments(&entry, &arguments, cx));
    let targets = targets.unwrap_or_default().into_iter();
    let files = targets.filter(|target| target.scheme() == "fs" && target.access() != Access::Read);
    Some(files.map(|file| file.value().to_owned()).collect())
}
