//! Sends open files over a socket to another process.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sends at most three open files with some bytes. Does not block on a socket that has not been written to.
pub(crate) fn send(to: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    message.push(SendAncillaryMessage::ScmRights(files));
    sendmsg(
        to,
        &[IoSlice::new(bytes)],
        &mut message,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives bytes with open files, which no program inherits.
///
/// # Errors
/// Returns an error if there are other numbers of bytes or files.
pub(crate) fn receive<const BYTES: usize, const FILES: usize>(
    from: impl AsFd,
) -> io::Result<([u8; BYTES], [OwnedFd; FILES])> {
    let mut bytes = [0; BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let parts = &mut [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(from, parts, &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let files = message.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    match files.flatten().collect::<Vec<_>>().try_into() {
        Ok(files) if received.bytes == BYTES => Ok((bytes, files)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
