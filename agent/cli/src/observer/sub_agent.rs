//! The events of sub-agents, among those of the session.

use std::borrow::Cow;

use agent::Event;

/// Returns the path of the sub-agent and its event. The ids of its calls then begin with the call that started it, because each run has
/// ids of its own.
pub(super) fn unwrapped(event: &Event) -> (Option<&str>, Cow<'_, Event>) {
    let Event::SubAgent { agent, call, event } = event else {
        return (None, Cow::Borrowed(event));
    };
    let mut event = (**event).clone();
    if let Event::CallStarted { id, .. }
    | Event::Progress { id, .. }
    | Event::ProtectedFiles { id, .. }
    | Event::Abandoned { id, .. }
    | Event::Result { id, .. } = &mut event
    {
        *id = format!("{call}/{agent}/{id}");
    }
    (Some(agent), Cow::Owned(event))
}
