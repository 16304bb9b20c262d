//! [`SessionView`]: the part of a session that a person at the terminal sees.

use terminal::Console;

use crate::effect_log::EffectLog;

/// The terminal of a session, and the effects of its calls.
#[derive(Debug, Default)]
pub(crate) struct SessionView {
    pub(crate) console: Console,
    pub(crate) effects: EffectLog,
}
