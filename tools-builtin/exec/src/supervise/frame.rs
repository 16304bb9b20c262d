//! Messages between this process and a supervisor: JSON after its length, and open files.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::SendFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::ended::Ended;
use crate::open_files;

/// The largest message. The kernel allows arguments and environment of 6 MiB at most.
const MAX_BYTES: u32 = 64 * 1024 * 1024;

/// The bytes of the length.
const PREFIX: usize = 4;

/// Standard input, standard output and standard error of a program.
pub(super) type Streams = [OwnedFd; 3];

/// A message from the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Started { pid: u32 },
    NotStarted { error: Option<i32>, stage: Stage },
    Ended(Ended),
}

/// The step at which a start failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// The supervisor could not prepare itself.
    Supervisor,
    /// The working directory could not be entered.
    Directory,
    /// The program could not be executed.
    Program,
}

/// Returns the bytes of a message.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; PREFIX];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - PREFIX)
        .ok()
        .filter(|length| *length <= MAX_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the command line is too long"))?;
    frame[..PREFIX].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// Reads the next message.
pub(super) async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<T> {
    let length = from.read_u32().await?;
    let mut body = body(length)?;
    from.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

/// Sends the beginning of a message together with open files, and returns the rest of the message. Does not block on a socket
/// that has not been written to.
pub(super) fn send_with_streams<'f>(
    to: &UnixStream,
    frame: &'f [u8],
    streams: &Streams,
) -> io::Result<&'f [u8]> {
    let (prefix, rest) = frame.split_at(PREFIX);
    open_files::send(to, prefix, &streams.each_ref().map(|stream| stream.as_fd()))?;
    Ok(rest)
}

/// Receives a message that was sent with open files.
pub(super) fn receive_with_streams<T: DeserializeOwned>(
    mut from: &UnixStream,
) -> io::Result<(T, Streams)> {
    let (prefix, streams) = open_files::receive::<PREFIX, 3>(from)?;
    let mut body = body(u32::from_be_bytes(prefix))?;
    from.read_exact(&mut body)?;
    Ok((serde_json::from_slice(&body)?, streams))
}

/// Sends a message without `SIGPIPE`, which a host may have set to kill.
pub(super) fn send_report(to: &UnixStream, report: &Report) -> io::Result<()> {
    let frame = encode(report)?;
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        let sent = rustix::net::send(to, rest, SendFlags::NOSIGNAL)?;
        rest = &rest[sent..];
    }
    Ok(())
}

fn body(length: u32) -> io::Result<Vec<u8>> {
    if length > MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(vec![0; length as usize])
}
