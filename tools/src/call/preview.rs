//! Preview: lets a tool describe the effect of a call that a person is asked about.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::CallSpan;
use super::bound::bound_error;
use super::overflow::Overflow;
use super::run::Run;
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::input::Input;
use crate::isolate::Panic;
use crate::preview::{Preview, PreviewOutcome, PreviewSource};
use crate::resolve::{Resolve, Scope};
use crate::tool_error::{ToolError, ToolErrorKind};

/// The time limit of a preview. A person waits for the question meanwhile.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// A call that waits for its approval, with the preview that the approver was shown.
pub(super) struct PreviewRequest<'a> {
    pub(super) entry: &'a Arc<Entry>,
    /// The context of the caller.
    pub(super) cx: ToolContext,
    /// The arguments, with secrets. Those of a kept call are masked.
    pub(super) arguments: Input,
    /// The span of the call.
    pub(super) span: &'a CallSpan,
    /// The preview, once the approver has wanted it.
    pub(super) shown: OnceCell<PreviewOutcome>,
}

impl PreviewSource for PreviewRequest<'_> {
    fn run_preview(&self) -> Pin<Box<dyn Future<Output = PreviewOutcome> + Send + '_>> {
        Box::pin(async { self.shown.get_or_init(|| self.make()).await.clone() })
    }
}

impl PreviewRequest<'_> {
    /// Returns true if the effect of the call is still the one that the approver was shown, or if it was shown none.
    pub(super) async fn holds(&self) -> bool {
        // An approver that asked for no preview has decided by the arguments, which cannot change.
        let Some(Some(Ok(shown))) = self.shown.get() else {
            return true;
        };
        self.make()
            .await
            .is_some_and(|now| now.is_ok_and(|now| now.digest() == shown.digest()))
    }

    /// Makes the preview of the call as it is now.
    async fn make(&self) -> PreviewOutcome {
        let outcome = self.run().await.transpose()?;
        Some(outcome.map(Preview::truncate).map_err(|mut error| {
            // The whole text is not stored, because the model could read it there.
            bound_error(
                Overflow {
                    entry: self.entry,
                    from: None,
                },
                error.kind_mut(),
            );
            error.with_tool(self.entry.name())
        }))
    }

    async fn run(&self) -> Result<Option<Preview>, ToolError> {
        let caller = self.cx.for_preview();
        let limit = caller.deadline_within(TIME_LIMIT);
        let scope = Scope::Static(&NoTools);
        let cx = caller.enter(self.entry, scope, Vec::new(), limit, self.span.scope())?;
        let call = cx.running()?.clone();
        let made = Panic::catch(|| self.entry.handler().preview(cx, self.arguments.clone()));
        match made.map_err(|Panic(message)| ToolErrorKind::Panicked { message })? {
            // The same run as that of a tool: a preview may panic, hang and block as one.
            Some(preview) => Run::new(&call, None, || preview).await.map(Some),
            None => Ok(None),
        }
    }
}

// Shows no arguments, because these contain secrets.
crate::debug_fields!(self: PreviewRequest<'_> { tool = self.entry.name() });

/// The scope of a preview. A nested call could change something, and would be in no journal.
struct NoTools;

impl Resolve for NoTools {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let reason =
            "a preview cannot call tools; read what it needs through a service of the context"
                .to_owned();
        Err(ToolError::new(name, ToolErrorKind::Unavailable { reason }))
    }
}
