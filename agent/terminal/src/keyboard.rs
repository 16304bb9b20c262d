//! Cancellable reads of lines from the terminal, and its echo.

use std::io::{self, BufRead as _, PipeReader, PipeWriter, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

/// The maximum length of an answer.
const MAX_LINE_BYTES: u64 = 4096;

/// The time without input after which a pasted text has ended. Its lines can arrive one by one.
const QUIET: Duration = Duration::from_millis(200);

/// Discards input typed before the question appears. Waits until no line arrives for `QUIET`.
pub async fn discard_typed_ahead() {
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
pub async fn line() -> Option<String> {
    // Dropping `_stop` together with this future ends the thread.
    let read = |stopped: &PipeReader| is_line_there(stopped).then(read_line);
    let (line, _stop) = on_thread(read).ok()?;
    line.await.ok().flatten().filter(|line| !line.is_empty())
}

/// Waits until a line or the end of the input is there, and leaves it to the next reader.
pub async fn wait() {
    match on_thread(is_line_there) {
        Ok((is_there, _stop)) => drop(is_there.await),
        Err(_) => std::future::pending().await,
    }
}

/// Reads the line that is there, or an empty text at the end of the input. Returns `None` if another reader has it.
pub fn line_there() -> Option<String> {
    let stdin = io::stdin();
    let mut source = [PollFd::new(&stdin, PollFlags::IN)];
    let count = poll(&mut source, Some(&Timespec::default()));
    count.is_ok_and(|count| count > 0).then(read_line)
}

/// Returns true if a further line arrives within `QUIET`, as those of a pasted text do.
pub async fn has_further_line() -> bool {
    tokio::time::sleep(QUIET).await;
    has_line_arrived()
}

/// Reads a line with its end. Returns an empty text at the end of the input.
fn read_line() -> String {
    let mut bytes = Vec::new();
    let input = io::stdin().lock();
    let read = input.take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
    read.map_or_else(
        |_| String::new(),
        |_| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// Starts a thread that waits for a line. Dropping the pipe writer stops it.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce(&PipeReader) -> T + Send + 'static,
) -> io::Result<(oneshot::Receiver<T>, PipeWriter)> {
    let (stopped, stop) = io::pipe()?;
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new()
        .name("keyboard".to_owned())
        // A read of a terminal cannot be cancelled, and a wait for one of two sources can.
        .spawn(move || drop(sender.send(work(&stopped))))?;
    Ok((receiver, stop))
}

/// True while this program keeps the terminal from echoing.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Stops the echo of the terminal. Returns false if there is none.
pub fn silence() -> bool {
    let has_echo =
        tcgetattr(io::stdin()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ECHO));
    has_echo && set_echo(false)
}

/// Lets the terminal echo again, if this program has stopped it.
pub fn restore_echo() {
    if IS_SILENT.load(Ordering::Relaxed) {
        set_echo(true);
    }
}

/// Returns true if the terminal has taken the mode.
fn set_echo(echoes: bool) -> bool {
    let Ok(mut modes) = tcgetattr(io::stdin()) else {
        return false;
    };
    modes.local_modes.set(LocalModes::ECHO, echoes);
    IS_SILENT.store(!echoes, Ordering::Relaxed);
    tcsetattr(io::stdin(), OptionalActions::Now, &modes).is_ok()
}

/// Waits for a line or the end of the input. Returns false if the reader was stopped.
fn is_line_there(stopped: &PipeReader) -> bool {
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
