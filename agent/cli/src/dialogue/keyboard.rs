//! Cancellable reads of lines from the terminal.

use std::io::{self, BufRead as _, PipeReader, PipeWriter, Read as _};
use std::time::Duration;

use tokio::sync::oneshot;

/// The maximum length of an answer.
const MAX_LINE_BYTES: u64 = 4096;

/// The time without input after which a pasted text has ended. Its lines can arrive one by one.
const QUIET: Duration = Duration::from_millis(200);

/// Discards input typed before the question appears. Waits until no line arrives for [`QUIET`].
pub(super) async fn discard_typed_ahead() {
    loop {
        discard();
        tokio::time::sleep(QUIET).await;
        if !has_line_arrived() {
            // The beginning of a line.
            return discard();
        }
    }
}

fn discard() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Returns true if a line has arrived. The end of the input is none.
fn has_line_arrived() -> bool {
    rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|bytes| bytes > 0)
}

/// Returns the next line, or `None` at the end of the input. A thread reads it, because terminal reads block. If the future is
/// dropped, the line is left to the next reader.
pub(super) async fn line() -> Option<String> {
    // Dropping `_stop` together with this future ends the thread.
    let (line, _stop) = read_line().ok()?;
    line.await.ok().flatten()
}

/// Starts the thread that reads a line. Dropping the pipe writer stops it.
fn read_line() -> io::Result<(oneshot::Receiver<Option<String>>, PipeWriter)> {
    let (stopped, stop) = io::pipe()?;
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new()
        .name("keyboard".to_owned())
        .spawn(move || {
            let mut bytes = Vec::new();
            // A read of a terminal cannot be cancelled, and a wait for one of two sources can.
            let is_read = is_line_there(&stopped)
                && matches!(
                    io::stdin()
                        .lock()
                        .take(MAX_LINE_BYTES)
                        .read_until(b'\n', &mut bytes),
                    Ok(1..)
                );
            let _ = sender.send(is_read.then(|| String::from_utf8_lossy(&bytes).into_owned()));
        })?;
    Ok((receiver, stop))
}

/// Waits for a line or the end of the input. Returns false if the reader was stopped.
fn is_line_there(stopped: &PipeReader) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};

    let stdin = io::stdin();
    let mut sources = [
        PollFd::new(&stdin, PollFlags::IN),
        PollFd::new(stopped, PollFlags::IN),
    ];
    loop {
        match poll(&mut sources, None) {
            Ok(_) => return sources[1].revents().is_empty(),
            // Signals, such as that of a resized window, end the wait early.
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
