//! The provider that takes over after an error.

use std::sync::atomic::Ordering;

use tools::protocol::Message;

use super::{Driver, DriverError, Progress};
use crate::event::{Event, ModelChange};
use crate::models::ModelChoice;
use crate::provider::guarded;

impl Driver {
    /// Returns the driver of the next provider that takes the prompts among these messages, if the error of this one permits that it
    /// takes over. If none takes them, the last one says so when it [begins](Self::begin).
    pub(super) fn fallback(&self, error: &DriverError, messages: &[Message]) -> Option<Self> {
        let mut fallbacks = self.fallbacks.iter();
        let suitable =
            fallbacks.position(|next| guarded::about(&**next).check_messages(messages).is_ok());
        let at = suitable.or(self.fallbacks.len().checked_sub(1))?;
        let mut next = self.clone();
        next.provider = self.fallbacks[at].clone();
        next.fallbacks.drain(..=at);
        // They are of the first model.
        next.options.context_tokens = None;
        error.kind()?.permits_fallback().then_some(next)
    }
}

impl Progress {
    /// Reports that another provider takes over after this error.
    pub(super) fn send_change(&self, from: &Driver, to: &Driver, error: &DriverError) {
        let withdraws_text = self.rejected.is_streamed.swap(false, Ordering::Relaxed);
        let Some(kind) = error.kind() else { return };
        self.sink.send(|| {
            Event::ModelChanged(ModelChange {
                from: ModelChoice::from_info(from.about()).to_string(),
                to: ModelChoice::from_info(to.about()).to_string(),
                kind,
                reason: error.to_string(),
                withdraws_text,
            })
        });
    }
}
