//! [`Spinner`]: the last line of a terminal, which says what is waited for.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::notice::width;

/// What ends sooner needs no spinner.
const PATIENCE: Duration = Duration::from_millis(300);
const PERIOD: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];

/// Turns in the current line of the standard error until it is dropped, and then leaves the line as it was: empty.
#[derive(Debug)]
pub(crate) struct Spinner {
    place: Arc<Mutex<Place>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Place {
    is_drawn: bool,
    is_over: bool,
}

impl Spinner {
    /// Says what is waited for, which must be visible, and how long by now. `None` where the standard error is no terminal, or
    /// one that takes plain text only.
    pub(crate) fn start(what: &str, since: Instant) -> Option<Self> {
        if !io::stderr().is_terminal() || AutoStream::choice(&io::stderr()) == ColorChoice::Never {
            return None;
        }
        let (what, place) = (what.to_owned(), Arc::<Mutex<Place>>::default());
        let drawn = place.clone();
        let task = Handle::try_current().ok()?.spawn(async move {
            sleep(PATIENCE).await;
            for frame in FRAMES.iter().cycle() {
                if !draw(&drawn, &line(*frame, &what, since.elapsed(), width().unwrap_or(80))) {
                    break;
                }
                sleep(PERIOD).await;
            }
        });
        Some(Self { place, task })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.task.abort();
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.is_over = true;
        if place.is_drawn {
            write("\r\u{1b}[K");
        }
    }
}

/// False when the spinner is gone: the task may be in the middle of a frame when it is aborted.
fn draw(place: &Mutex<Place>, line: &str) -> bool {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if !place.is_over {
        place.is_drawn = true;
        write(&format!("\r{line}\u{1b}[K"));
    }
    !place.is_over
}

/// Never wider than the terminal: what wraps cannot be wiped away.
fn line(frame: char, what: &str, elapsed: Duration, width: usize) -> String {
    format!("{frame} {}s {what}", elapsed.as_secs()).chars().take(width.saturating_sub(1)).collect()
}

fn write(text: &str) {
    let mut err = io::stderr().lock();
    // With the standard error gone there is nobody left to see it.
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
        let place = Mutex::new(Place { is_drawn: false, is_over: true });
        assert!(!draw(&place, "late"));
        assert!(!place.lock().unwrap().is_drawn);
    }
}
