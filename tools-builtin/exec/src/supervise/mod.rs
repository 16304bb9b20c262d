//! Runs a program under a supervisor, which ends it with all its descendants.
//!
//! [`start`] starts this program again as the supervisor of one program. Both are connected by a socket, whose end tells the
//! supervisor that nobody needs the program any more: after [`Running::stop`], after a drop, and when this process dies, by
//! whatever signal. The supervisor is the *subreaper* of the program: a descendant whose parents ended becomes a child of the
//! supervisor, in whatever session or process group. It kills them until the kernel says that it has no child left, and then
//! reports the program's end. It does the same when the program ends by itself.
//!
//! A supervisor can be killed by a program that may send it signals, and by other users of the machine. Descendants may remain
//! then, unless the walls around the program end with the supervisor, see [`Launch::ends_with_parent`]. The report is
//! [`SupervisorLost`].

mod capture;
mod ended;
mod error;
mod launch;
mod running;
mod start;
mod stdin;

#[cfg(target_os = "linux")]
mod frame;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod watch;

pub use self::capture::{Capture, Captured, Collect, Recent, Ring};
pub use self::ended::{Ended, Exit};
pub use self::running::{Running, Status};
pub use error::{StartError, StdinError, SupervisorLost};
pub use launch::Launch;
pub use start::start;

#[cfg(target_os = "linux")]
pub(crate) use serve::serve;

/// The name under which a program is started as a supervisor.
#[cfg(target_os = "linux")]
pub(crate) const SUPERVISOR: &str = "toolcrib-supervisor";
