//! The command that starts a program behind its walls.

use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Layers, Walls, WallsError};

/// The name under which the host's binary is started again to confine itself.
#[cfg(target_os = "linux")]
pub(crate) const HOST_NAME: &str = "toolcrib-walls";

/// The variables that carry the launch are named by this prefix and a number.
#[cfg(target_os = "linux")]
pub(super) const VARIABLE: &str = "TOOLCRIB_WALLS_";

/// The length of one variable. The kernel refuses variables of 128 KiB.
#[cfg(target_os = "linux")]
const PIECE: usize = 100 * 1024;

/// The text that the host's binary gets when it is started again.
#[cfg(target_os = "linux")]
#[derive(Serialize, Deserialize)]
pub(super) struct Parcel<L> {
    pub(super) confined: L,
    pub(super) identities: Vec<super::paths::Identity>,
}

/// One program, and the walls around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    /// The absolute path of the program. It has to be readable behind the walls.
    pub program: PathBuf,
    /// The arguments, without the program's name.
    pub args: Vec<String>,
    /// All environment variables of the program.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The walls.
    pub walls: Walls,
    /// The layers of this machine, from [`Layers::probe`].
    pub layers: Layers,
    /// True if the standard streams are a terminal, which the program then controls. Needs bubblewrap.
    pub terminal: bool,
}

impl Confined {
    /// Makes the command that starts the program. Set only its standard streams: its environment carries the launch, and its arguments
    /// are those of the sandbox.
    ///
    /// The environment is used because all users of the machine can read the arguments of a process.
    ///
    /// If the program cannot be started, the command prints one line that begins with `toolcrib:` or `bwrap:` to standard error, and exits
    /// with 126 or 1. With bubblewrap, a program that signal N ended is reported as exit code 128 + N. The command ends with the thread
    /// that spawned it.
    ///
    /// # Errors
    /// Returns an error if the layers do not confine, if a terminal is wanted without bubblewrap, if there are more protected paths than
    /// bubblewrap takes, or if a path is relative or leads through a symbolic link.
    #[cfg(target_os = "linux")]
    pub fn command(&self) -> Result<Command, WallsError> {
        use super::{Confinement, bubblewrap, paths};
        use std::os::unix::process::CommandExt;

        let confinement = self.layers.confinement()?;
        paths::check(&self.walls)?;
        if !self.program.is_absolute() {
            return Err(WallsError::NotAbsolute {
                path: self.program.clone(),
            });
        }
        let host = std::env::current_exe()
            .and_then(|host| host.canonicalize())
            .map_err(WallsError::NoHost)?;
        let mut command = match confinement {
            Confinement::Bubblewrap(bwrap) => {
                let arguments = bubblewrap::arguments(&self.walls, self.terminal, &host);
                if arguments.len() > bubblewrap::MAX_ARGUMENTS {
                    let protected = paths::list_protected(&self.walls).count();
                    return Err(WallsError::TooManyProtected { protected });
                }
                let mut command = Command::new(bwrap);
                command.args(arguments);
                command
            }
            Confinement::LandlockAlone if self.terminal => return Err(WallsError::NoTerminal),
            Confinement::LandlockAlone => {
                let mut command = Command::new(host);
                command.arg0(HOST_NAME);
                command
            }
        };
        // A variable such as LD_PRELOAD would run code of the program before the walls are up, so none is passed as itself.
        command.env_clear().current_dir("/");
        let identities = paths::identities(&self.walls).map_err(WallsError::Moved)?;
        let text = serde_json::to_string(&Parcel {
            confined: self,
            identities,
        })
        .map_err(WallsError::NotText)?;
        for (number, piece) in pieces(&text).enumerate() {
            command.env(format!("{VARIABLE}{number}"), piece);
        }
        Ok(command)
    }

    /// Makes the command that starts the program.
    ///
    /// # Errors
    /// Returns [`WallsError::Unavailable`] on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn command(&self) -> Result<Command, WallsError> {
        Err(self.layers.confinement().map_or_else(
            |error| error,
            |_| WallsError::Unavailable {
                system: std::env::consts::OS,
            },
        ))
    }
}

/// Splits text into pieces of at most [`PIECE`] bytes.
#[cfg(target_os = "linux")]
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (0..=PIECE.min(rest.len()))
            .rev()
            .find(|end| rest.is_char_boundary(*end))?;
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}
