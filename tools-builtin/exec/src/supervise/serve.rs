//! The supervisor.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::process::{Pid, getpid, set_child_subreaper, setsid};
use tokio::io::AsyncReadExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ended::{Ended, Exit};
use super::frame::{Report, Stage, Streams, receive_with_streams, send_report};
use super::launch::Launch;
use super::tree::Tree;

/// The pause between two attempts to end processes that were reported as remaining.
const RETRY: Duration = Duration::from_secs(5);

/// Serves the host at the other end of standard input, and ends the process.
pub(crate) fn serve() -> ! {
    std::process::exit(if run().is_ok() { 0 } else { 1 })
}

fn run() -> io::Result<()> {
    let prepared = prepare();
    // The copy is closed in the program.
    let channel = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (launch, streams) = receive_with_streams(&channel)?;
    let prepared = prepared
        .and_then(|runtime| Ok((runtime.block_on(async { Wakers::new(&channel) })?, runtime)));
    let (mut wakers, runtime) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return not_started(&channel, &error, Stage::Supervisor),
    };
    let mut tree = match spawn(&launch, streams) {
        Ok(tree) => tree,
        Err((error, stage)) => return not_started(&channel, &error, stage),
    };
    // Nothing but the supervisor ends the program, so it survives its own defects until then.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let pid = tree.program.as_raw_nonzero().get().unsigned_abs();
        // An error means that the host is gone, which the wait notices.
        let _ = send_report(&channel, &Report::Started { pid });
        runtime.block_on(wait(&mut tree, &mut wakers));
    }));
    end(&channel, &mut tree)
}

/// Leaves the session of the host, so that its terminal is out of reach, and adopts orphans.
fn prepare() -> io::Result<Runtime> {
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    Builder::new_current_thread().enable_io().build()
}

fn spawn(launch: &Launch, [stdin, stdout, stderr]: Streams) -> Result<Tree, (io::Error, Stage)> {
    let mut command = launch.to_command();
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let child = command.spawn().map_err(|error| {
        // Entering the directory fails with the same codes as executing the program.
        // Only a folder has a `.`, so that a file counts as none.
        let outside = launch
            .cwd
            .as_ref()
            .is_some_and(|cwd| access(cwd.join("."), Access::EXEC_OK).is_err());
        let stage = if outside {
            Stage::Directory
        } else {
            Stage::Program
        };
        (error, stage)
    })?;
    Ok(Tree::new(Pid::from_child(&child)))
}

/// The reasons to look after the program.
struct Wakers {
    host: tokio::net::UnixStream,
    child: Signal,
    requests: [Signal; 3],
}

impl Wakers {
    fn new(channel: &UnixStream) -> io::Result<Self> {
        let host = channel.try_clone()?;
        host.set_nonblocking(true)?;
        let requests = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let [Ok(terminate), Ok(interrupt), Ok(hangup)] = requests.map(signal) else {
            return Err(io::Error::other("no signal handlers"));
        };
        Ok(Self {
            host: tokio::net::UnixStream::from_std(host)?,
            child: signal(SignalKind::child())?,
            requests: [terminate, interrupt, hangup],
        })
    }
}

/// Waits until the program has ended or is to be ended.
async fn wait(tree: &mut Tree, wakers: &mut Wakers) {
    let [terminate, interrupt, hangup] = &mut wakers.requests;
    loop {
        tree.reap();
        if tree.exit.is_some() {
            return;
        }
        tokio::select! {
            _ = wakers.child.recv() => {}
            // The host sends nothing: this is the end of the connection.
            _ = wakers.host.read_u8() => return,
            _ = terminate.recv() => return,
            _ = interrupt.recv() => return,
            _ = hangup.recv() => return,
        }
    }
}

/// Ends the program with all its descendants and reports it, then keeps trying if some remain.
fn end(channel: &UnixStream, tree: &mut Tree) -> io::Result<()> {
    let mut remaining = tree.end();
    let ended = Ended {
        exit: tree.exit.unwrap_or(Exit::Unknown),
        remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
    };
    let reported = send_report(channel, &Report::Ended(ended));
    while remaining > 0 {
        std::thread::sleep(RETRY);
        remaining = tree.end();
    }
    reported
}

fn not_started(channel: &UnixStream, error: &io::Error, stage: Stage) -> io::Result<()> {
    send_report(
        channel,
        &Report::NotStarted {
            error: error.raw_os_error(),
            stage,
        },
    )
}
