//! [`Opened`]: both ends of a program's standard streams.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::{ioctl_fionbio, ioctl_fionread};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::frame::Streams;
use super::stdin::Stdin;

/// The rows and columns of a terminal.
const SIZE: (u16, u16) = (24, 80);

/// More bytes than the kernel holds for the reader of a terminal.
const TERMINAL_BUFFER: usize = 64 * 1024;

/// The standard streams of a program, before it starts.
pub(super) struct Opened {
    /// The ends of the program.
    pub(super) program: Streams,
    pub(super) stdin: Stdin,
    pub(super) stdout: Output,
    /// `None` if standard error goes to the terminal, as standard output does.
    pub(super) stderr: Option<Output>,
}

/// The host's end of an output stream.
pub(super) struct Output {
    pub(super) pipe: Receiver,
    is_terminal: bool,
}

impl Opened {
    pub(super) fn pipes() -> io::Result<Self> {
        let ((in_read, in_write), (out_read, out_write), (err_read, err_write)) =
            (io::pipe()?, io::pipe()?, io::pipe()?);
        Ok(Self {
            program: [in_read.into(), out_write.into(), err_write.into()],
            stdin: Stdin::from_pipe(Sender::from_owned_fd(in_write.into())?),
            stdout: Output::from_pipe(out_read.into())?,
            stderr: Some(Output::from_pipe(err_read.into())?),
        })
    }

    pub(super) fn terminal() -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let host = openpt(flags)?;
        unlockpt(&host)?;
        let program = ioctl_tiocgptpeer(&host, flags)?;
        let (ws_row, ws_col) = SIZE;
        tcsetwinsize(
            &program,
            Winsize {
                ws_row,
                ws_col,
                ws_xpixel: 0,
                ws_ypixel: 0,
            },
        )?;
        ioctl_fionbio(&host, true)?;
        // Tokio reads and writes a terminal as it does a pipe, and has no other safe type for one.
        let stdin = Sender::from_owned_fd_unchecked(host.try_clone()?)?;
        let pipe = Receiver::from_owned_fd_unchecked(host)?;
        Ok(Self {
            program: [program.try_clone()?, program.try_clone()?, program],
            stdin: Stdin::from_terminal(stdin),
            stdout: Output {
                pipe,
                is_terminal: true,
            },
            stderr: None,
        })
    }
}

impl Output {
    fn from_pipe(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            is_terminal: false,
        })
    }

    /// Returns the most bytes that can be read without waiting.
    pub(super) fn unread(&self) -> usize {
        if self.is_terminal {
            // The kernel counts them only while they are read.
            return TERMINAL_BUFFER;
        }
        ioctl_fionread(&self.pipe)
            .ok()
            .and_then(|unread| usize::try_from(unread).ok())
            .unwrap_or(0)
    }
}
