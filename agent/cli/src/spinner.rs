//! [`Spinner`]: an animated status line on a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::notice::width;

/// The delay before the first frame, so that short waits show no spinner.
const START_DELAY: Duration = Duration::from_millis(300);
const FRAME_INTERVAL: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];

/// Animates the current line of standard error. Dropping it clears the line.
#[derive(Debug)]
pub(crate) struct Spinner {
    state: Arc<Mutex<SpinnerState>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct SpinnerState {
    is_drawn: bool,
    is_over: bool,
}

impl Spinner {
    /// Shows the text, which must be visible, and the seconds since the start of the wait. Returns `None` if standard error is
    /// not a terminal, or takes plain text only.
    pub(crate) fn start(text: &str, since: Instant) -> Option<Self> {
        if !io::stderr().is_terminal() || AutoStream::choice(&io::stderr()) == ColorChoice::Never {
            return None;
        }
        let (text, state) = (text.to_owned(), Arc::<Mutex<SpinnerState>>::default());
        let drawn = state.clone();
        let task = Handle::try_current().ok()?.spawn(async move {
            sleep(START_DELAY).await;
            for frame in FRAMES.iter().cycle() {
                if !draw(&drawn, &line(*frame, &text, since.elapsed(), width().unwrap_or(80))) {
                    break;
                }
                sleep(FRAME_INTERVAL).await;
            }
        });
        Some(Self { state, task })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.task.abort();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_over = true;
        if state.is_drawn {
            write("\r\u{1b}[K");
        }
    }
}

/// Draws a frame. Returns false if the spinner was dropped, since an aborted task may still be drawing.
fn draw(state: &Mutex<SpinnerState>, line: &str) -> bool {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if !state.is_over {
        state.is_drawn = true;
        write(&format!("\r{line}\u{1b}[K"));
    }
    !state.is_over
}

/// Returns a line narrower than the terminal, because a wrapped line could not be cleared.
fn line(frame: char, text: &str, elapsed: Duration, width: usize) -> String {
    format!("{frame} {}s {text}", elapsed.as_secs()).chars().take(width.saturating_sub(1)).collect()
}

fn write(text: &str) {
    let mut err = io::stderr().lock();
    // A failed write to standard error cannot be reported.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_leaves_the_last_column_free() {
        assert_eq!(line('|', "fs.read", Duration::from_millis(2900), 80), "| 2s fs.read");
        assert_eq!(line('|', "fs.read", Duration::ZERO, 8), "| 0s fs");
        assert_eq!(line('|', "fs.read", Duration::ZERO, 0), "");
    }

    #[test]
    fn nothing_is_drawn_when_it_is_over() {
        let state = Mutex::new(SpinnerState { is_drawn: false, is_over: true });
        assert!(!draw(&state, "late"));
        assert!(!state.lock().unwrap().is_drawn);
    }
}
