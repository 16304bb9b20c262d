//! Lines from a terminal, which the program can stop waiting for.

use std::io::{self, BufRead as _, PipeReader, PipeWriter, Read as _};

use tokio::sync::oneshot;

/// No answer is longer.
const MAX_LINE_BYTES: u64 = 4096;

/// Drops what was typed before a question was there to be answered.
pub(super) fn forget() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Returns the next line, or `None` at the end of the input. A thread reads it, because reading a terminal blocks. A line for
/// which no caller waits any more is left to the next reader.
pub(super) async fn line() -> Option<String> {
    // Dropped with this future, which ends the thread.
    let (line, _stop) = read_line().ok()?;
    line.await.ok().flatten()
}

/// Reads until the pipe is closed.
fn read_line() -> io::Result<(oneshot::Receiver<Option<String>>, PipeWriter)> {
    let (stopped, stop) = io::pipe()?;
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let is_read = is_line_there(&stopped)
            && matches!(io::stdin().lock().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes), Ok(1..));
        let _ = sender.send(is_read.then(|| String::from_utf8_lossy(&bytes).into_owned()));
    })?;
    Ok((receiver, stop))
}

/// Waits for a line or for the end of the input; false when nobody wants it any more.
#[cfg(unix)]
fn is_line_there(stopped: &PipeReader) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};

    let stdin = io::stdin();
    let mut sources = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
    loop {
        match poll(&mut sources, None) {
            Ok(_) => return sources[1].revents().is_empty(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Elsewhere the thread goes on reading, and takes the next line.
#[cfg(not(unix))]
fn is_line_there(_stopped: &PipeReader) -> bool {
    true
}
