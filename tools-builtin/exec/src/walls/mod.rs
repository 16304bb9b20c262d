//! Walls around one program: the files, the network and the resources that it can reach.
//!
//! [`Layers::probe`] finds the kernel features of this machine, [`Walls`] says what the program may reach, and [`Confined::command`]
//! makes the command that starts the program behind these walls. Bubblewrap gives the program namespaces of its own. Inside them, or
//! without them, the host's binary runs once more: it restricts itself by Landlock, seccomp and resource limits, and then becomes the
//! program. See [`enter`](crate::enter).

#[cfg(target_os = "linux")]
pub(crate) mod beside;
mod confined;
mod error;
mod layers;

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod gate;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod system;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use confined::Confined;
pub use error::WallsError;
#[cfg(target_os = "linux")]
pub use gate::Gate;
pub use layers::{Bubblewrap, Confinement, Layers};

#[cfg(target_os = "linux")]
pub(crate) use confined::HOST_NAME;
#[cfg(target_os = "linux")]
pub(crate) use inside::confine_and_run;

/// Returns true if every program may read the path, because it belongs to the system.
#[cfg(feature = "tools")]
pub(crate) fn shows_to_all(path: &std::path::Path) -> bool {
    paths::lies_in(path, &system::readable())
}

/// The files, the network and the resources that one program may use.
///
/// All paths are absolute and free of symbolic links: resolve them once, when the grant is decided. Paths that do not exist are
/// ignored, except in `hidden`. What programs need to start (system libraries and tools, some devices, their own `/proc`, a private
/// `/tmp`) is always added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Walls {
    /// Trees or files that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Trees or files that may be read and changed. In a tree, entries may be created, renamed and removed. A file may only be changed in
    /// place. Device files cannot be created.
    pub write: Vec<PathBuf>,
    /// Existing paths inside `write` that stay read-only. Their parents cannot be renamed.
    ///
    /// Landlock cannot take a path back out of a granted tree, so these are writable without bubblewrap; see
    /// [`Confinement::keeps_protected_paths`].
    pub protected: Vec<PathBuf>,
    /// Paths inside granted trees that cannot be read or changed, whatever is granted.
    ///
    /// With bubblewrap they appear empty, if they exist when the program starts. Without it the folders above them cannot be listed, and
    /// entries cannot be created there.
    pub hidden: Vec<PathBuf>,
    /// A private, empty folder for temporary files, which the caller makes and removes.
    ///
    /// The program sees it as `/tmp` and `/var/tmp` with bubblewrap, and as `TMPDIR` without. If `None`, bubblewrap makes both in memory,
    /// and without bubblewrap there is none.
    pub scratch: Option<PathBuf>,
    /// The network that the program reaches.
    pub network: Network,
    /// The resources that each process of the program may use.
    pub limits: Limits,
}

/// The address of the proxy in the network namespace of a program. Others cannot see it.
pub const PROXY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3128);

/// The network that a program reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Network {
    /// No network. With bubblewrap, sockets of TCP on loopback and Unix sockets work among the program's own processes.
    #[default]
    None,
    /// A proxy at [`PROXY`], which the caller serves. This needs bubblewrap, and a `Gate` as standard input.
    Proxy,
    /// Connections of TCP and UDP to every host that this machine reaches, and no servers of TCP. This needs a machine without
    /// bubblewrap, because bubblewrap always makes a network of its own.
    Machine,
}

/// Resource limits. `None` leaves a limit as it is. Core dumps are always off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The address space of each process, in bytes. A `/tmp` in memory has the same limit.
    pub memory: Option<u64>,
    /// The size of each file that is written, in bytes.
    pub file_size: Option<u64>,
    /// The bytes that all programs may take from a disk while one runs. The tools look at the free space and end the program; the kernel does
    /// not know this limit.
    pub disk: Option<u64>,
    /// The number of processes and threads. Without bubblewrap, the user's other processes come on top. The kernel does not apply this
    /// limit to root.
    pub processes: Option<u64>,
    /// The processor time of each process, in seconds.
    pub cpu_seconds: Option<u64>,
    /// The number of files that each process may have open.
    pub open_files: Option<u64>,
}
