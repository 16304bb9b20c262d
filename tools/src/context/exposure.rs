//! [`Exposure`]: whether an agent has read text from the open world.

use super::ToolContext;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Records whether the agent of a context has read text from the open world, in which strangers may have hidden instructions.
///
/// The pipeline records it before a tool with [open-world](protocol::Effects::is_open_world) effects runs, and when the journal replays
/// a call, because the calls that were made inside of that one are then not known. A tool that gets such text in another way, such as
/// from a service that the user has configured, calls [`ToolContext::record_exposure`]. A service of a session, which its sub-agents share: once a text is read, all of them may act on it.
/// A session of `toolcrib-agent` has it, and a resumed one begins as the last one ended.
#[derive(Debug, Default)]
pub struct Exposure(AtomicBool);

impl Exposure {
    /// Creates the record of a context that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if text from the open world was read.
    pub fn is_exposed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Records that text from the open world was read.
    pub fn record(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl ToolContext {
    /// Records that the agent reads text from the open world. Has no effect without the service [`Exposure`].
    pub fn record_exposure(&self) {
        if let Some(exposure) = self.service::<Exposure>() {
            exposure.record();
        }
    }

    /// Returns true if the agent has read text from the open world, or if the host does not record it.
    pub fn is_exposed(&self) -> bool {
        self.service::<Exposure>()
            .is_none_or(|exposure| exposure.is_exposed())
    }
}
