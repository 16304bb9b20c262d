//! The tasks that follow a program: one for each output stream, and one for the supervisor.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};

use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::capture::Collect;
use super::error::SupervisorLost;
use super::frame::{Report, read};
use super::running::{Status, lock};
use super::spawn::Supervised;
use super::streams::Output;

/// The size of a read: the usual capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// Drains a stream into the collector until it ends.
pub(super) fn drain<C: Collect>(
    mut output: Output,
    collector: Arc<Mutex<C>>,
    mut gone: watch::Receiver<bool>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                biased;
                // A process outside the tree may hold the pipe open, so its end is not waited for. An error means that the
                // task of the supervisor is gone.
                _ = gone.wait_for(|gone| *gone) => {
                    rest(&output, &mut buffer, &collector);
                    break;
                }
                read = read_when_ready(&mut output, &mut buffer, &collector) => match read {
                    Ok(length) if length > 0 => lock(&collector).push(&buffer[..length]),
                    _ => break,
                },
            }
        }
        lock(&collector).finish();
    })
}

/// Reads the next bytes as soon as the collector is ready for them.
async fn read_when_ready(
    output: &mut Output,
    buffer: &mut [u8],
    collector: &Mutex<impl Collect>,
) -> std::io::Result<usize> {
    poll_fn(|cx| lock(collector).poll_ready(cx)).await;
    output.pipe.read(buffer).await
}

/// Takes the bytes that are in the stream now: all that the program wrote.
fn rest(output: &Output, buffer: &mut [u8], collector: &Mutex<impl Collect>) {
    let mut left = output.unread();
    while left > 0 {
        let most = left.min(buffer.len());
        // Tokio may not have heard yet that the stream is readable. It does not block.
        match rustix::io::read(&output.pipe, &mut buffer[..most]) {
            Ok(length) if length > 0 => {
                lock(collector).push(&buffer[..length]);
                left -= length;
            }
            _ => break,
        }
    }
}

/// Waits for the supervisor's report and for the rest of the output, and publishes the status.
pub(super) async fn follow(
    mut supervised: Supervised,
    drains: Vec<JoinHandle<()>>,
    gone: watch::Sender<bool>,
    status: watch::Sender<Status>,
) {
    let report = read(&mut supervised.channel).await;
    gone.send_replace(true);
    for drain in drains {
        // An error means that a collector panicked, which is not the program's end.
        let _ = drain.await;
    }
    status.send_replace(match report {
        Ok(Report::Ended(ended)) => Status::Ended(ended),
        _ => Status::Lost(SupervisorLost {
            may_remain: !supervised.ends_with_parent,
        }),
    });
    // Otherwise it would remain as a zombie.
    let _ = supervised.supervisor.wait().await;
}
