//! [`SuspendKey`]: Ctrl-Z in the line editor.

use std::io;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};

use crate::{stderr, suspend};

/// Handles Ctrl-Z: erases the status line, and gives the terminal back while the program is stopped. The editor itself would send a signal
/// that this program handles, and read on.
pub(crate) struct SuspendKey {
    /// The modes of the terminal outside of the editor.
    modes: Option<Termios>,
}

impl SuspendKey {
    pub(crate) fn new() -> Self {
        Self {
            modes: tcgetattr(io::stdin()).ok(),
        }
    }
}

impl ConditionalEventHandler for SuspendKey {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        let (Some(modes), Ok(raw)) = (&self.modes, tcgetattr(io::stdin())) else {
            return Some(Cmd::Noop);
        };
        if suspend::has_shell() {
            stderr::write_raw("\x1b[J\x1b[?2004l");
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
            suspend::stop();
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &raw);
            // The editor erases the row of the status line first.
            stderr::write_raw("\x1b[?2004h\r\n\x1b[A");
        }
        Some(Cmd::Repaint)
    }
}
