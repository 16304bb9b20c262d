//! The tasks that follow a program: one for each output stream, and one for the supervisor.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rustix::io::ioctl_fionread;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::collect::Collect;
use super::error::SupervisorLost;
use super::frame::{Report, read};
use super::running::{Status, locked};
use super::spawn::Supervised;

/// The size of a read: the usual capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// Drains a stream into the collector until it ends.
pub(super) fn drain<C: Collect>(
    pipe: OwnedFd,
    collector: Arc<Mutex<C>>,
    mut gone: watch::Receiver<bool>,
) -> io::Result<JoinHandle<()>> {
    let mut pipe = Receiver::from_owned_fd(pipe)?;
    Ok(tokio::spawn(async move {
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                biased;
                // A process outside the tree may hold the pipe open, so its end is not waited for. An error means that the
                // task of the supervisor is gone.
                _ = gone.wait_for(|gone| *gone) => {
                    rest(&pipe, &mut buffer, &collector);
                    break;
                }
                read = pipe.read(&mut buffer) => match read {
                    Ok(length) if length > 0 => locked(&collector).push(&buffer[..length]),
                    _ => break,
                },
            }
        }
        locked(&collector).finish();
    }))
}

/// Takes the bytes that are in the pipe now: all that the program wrote.
fn rest(pipe: &Receiver, buffer: &mut [u8], collector: &Mutex<impl Collect>) {
    let mut left = ioctl_fionread(pipe).ok().and_then(|left| usize::try_from(left).ok()).unwrap_or(0);
    while left > 0 {
        let most = left.min(buffer.len());
        // Tokio may not have heard yet that the pipe is readable. It does not block.
        match rustix::io::read(pipe, &mut buffer[..most]) {
            Ok(length) if length > 0 => {
                locked(collector).push(&buffer[..length]);
                left -= length;
            }
            _ => break,
        }
    }
}

/// Waits for the supervisor's report and for the rest of the output, and publishes the status.
pub(super) async fn follow(
    mut supervised: Supervised,
    drains: [JoinHandle<()>; 2],
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
        _ => Status::Lost(SupervisorLost { may_remain: !supervised.ends_with_parent }),
    });
    // Otherwise it would remain as a zombie.
    let _ = supervised.supervisor.wait().await;
}
