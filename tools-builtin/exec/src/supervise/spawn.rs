//! Starts a supervisor and, through it, a program.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rustix::io::Errno;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use super::error::StartError;
use super::frame::{Report, Stage, Streams, encode, read, send_with_streams};
use super::launch::Launch;

/// This program, also if its file has been replaced meanwhile.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// The one variable that a supervisor inherits, because this program may not start without it.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// A supervisor with a running program.
pub(super) struct Supervised {
    pub(super) supervisor: Child,
    pub(super) channel: tokio::net::UnixStream,
    /// True if the kernel ends the program when the supervisor dies.
    pub(super) ends_with_parent: bool,
}

/// Starts the program. Dropping the future ends it.
pub(super) async fn spawn(
    launch: &Launch,
    streams: Streams,
) -> Result<(u32, Leash, Supervised), StartError> {
    let frame = encode(launch).map_err(|source| StartError::Refused {
        program: launch.program.clone(),
        source,
    })?;
    let (supervisor, mut channel, leash, rest) =
        connect(&frame, streams).map_err(StartError::Supervisor)?;
    let report = async {
        channel.write_all(rest).await?;
        read(&mut channel).await
    };
    match report.await.map_err(StartError::Supervisor)? {
        Report::Started { pid } => Ok((
            pid,
            leash,
            Supervised {
                supervisor,
                channel,
                ends_with_parent: launch.ends_with_parent,
            },
        )),
        Report::NotStarted { error, stage } => Err(start_error(launch, error, stage)),
        Report::Ended(_) => Err(StartError::Supervisor(io::ErrorKind::InvalidData.into())),
    }
}

type Connection<'f> = (Child, tokio::net::UnixStream, Leash, &'f [u8]);

/// Starts the supervisor and sends it the beginning of the frame. Returns the rest of the frame.
fn connect(frame: &[u8], streams: Streams) -> io::Result<Connection<'_>> {
    let (host, supervisor) = UnixStream::pair()?;
    let rest = send_with_streams(&host, frame, &streams)?;
    let leash = Leash::new(&host)?;
    host.set_nonblocking(true)?;
    let channel = tokio::net::UnixStream::from_std(host)?;

    let mut command = Command::new(THIS_PROGRAM);
    command
        .arg0(super::SUPERVISOR)
        .env_clear()
        .stdin(OwnedFd::from(supervisor))
        .stdout(Stdio::null());
    if let Some(path) = std::env::var_os(LIBRARY_PATH) {
        command.env(LIBRARY_PATH, path);
    }
    Ok((command.stderr(Stdio::null()).spawn()?, channel, leash, rest))
}

fn start_error(launch: &Launch, error: Option<i32>, stage: Stage) -> StartError {
    let source = error.map_or_else(|| io::ErrorKind::Other.into(), io::Error::from_raw_os_error);
    let program = launch.program.clone();
    match (stage, Errno::from_io_error(&source)) {
        (Stage::Supervisor, _) => StartError::Supervisor(source),
        (Stage::Directory, _) => StartError::NoDirectory {
            cwd: launch.cwd.clone().unwrap_or_default(),
        },
        (Stage::Program, Some(Errno::NOENT | Errno::NOTDIR)) => StartError::NotFound { program },
        (Stage::Program, Some(Errno::ACCESS | Errno::PERM | Errno::NOEXEC)) => {
            StartError::NotExecutable { program }
        }
        (Stage::Program, _) => StartError::Refused { program, source },
    }
}

/// The host's end of the channel to a supervisor. A drop ends the program.
#[derive(Debug)]
pub(super) struct Leash(UnixStream);

impl Leash {
    pub(super) fn new(channel: &UnixStream) -> io::Result<Self> {
        channel.try_clone().map(Self)
    }

    /// Ends the program. The supervisor can still report.
    pub(super) fn pull(&self) {
        // An error means that the supervisor is gone.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.pull();
    }
}
