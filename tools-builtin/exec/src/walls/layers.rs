//! The kernel features of a machine that confine programs.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::WallsError;

/// The lowest Landlock ABI that confines without bubblewrap: older ones stop neither signals nor abstract Unix sockets.
const LANDLOCK_ALONE: u32 = 6;

/// The kernel features of this machine that confine programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The Landlock ABI of the kernel. `None` means that the kernel has no Landlock.
    pub landlock: Option<u32>,
    /// True if the kernel filters system calls.
    pub seccomp: bool,
    /// Bubblewrap, which starts programs in namespaces of their own.
    pub bubblewrap: Bubblewrap,
}

/// The state of bubblewrap on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bubblewrap {
    /// No `bwrap` is installed in the system's folders.
    Missing,
    /// Installed, but unable to start a program.
    Broken {
        /// The path of `bwrap`.
        path: PathBuf,
        /// The version that it reports.
        version: String,
        /// The first line of its error.
        reason: String,
    },
    /// Starts programs.
    Works {
        /// The path of `bwrap`.
        path: PathBuf,
        /// The version that it reports.
        version: String,
    },
}

/// The oldest version of bubblewrap without known ways out of its walls.
const OLDEST: [u32; 3] = [0, 5, 0];

impl Bubblewrap {
    /// Returns the reason not to rely on this bubblewrap, with the next step: its version is old or unknown, or it is setuid. Returns `None` if
    /// there is none, or no bubblewrap.
    pub fn concern(&self) -> Option<String> {
        let (Self::Broken { path, version, .. } | Self::Works { path, version }) = self else {
            return None;
        };
        let place = path.display();
        let oldest = OLDEST.map(|part| part.to_string()).join(".");
        let old = match parse_version(version) {
            None => "bubblewrap of an unknown version",
            Some(found) if found < OLDEST => &format!("bubblewrap {version}"),
            Some(_) => {
                return is_setuid(path).then(|| format!(
                    "{place} runs as root (setuid), so that a fault in it is one of root; remove the bit with chmod u-s, and allow user \
                     namespaces"
                ));
            }
        };
        Some(format!(
            "{old} at {place} is older than {oldest}: earlier versions let programs out of their walls (CVE-2019-12439, \
             CVE-2020-5291); install a newer package of bubblewrap"
        ))
    }
}

/// Returns the numbers of a version. A missing one is zero.
fn parse_version(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    let first = numbers.next()??;
    let mut next = || numbers.next().unwrap_or(Some(0));
    Some([first, next()?, next()?])
}

fn is_setuid(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o4000 != 0)
}

/// The combination of layers that confines a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confinement {
    /// Bubblewrap with seccomp, and with Landlock as far as the kernel has it.
    Bubblewrap(PathBuf),
    /// Landlock and seccomp.
    LandlockAlone,
}

impl Confinement {
    /// Returns true if [`Walls::protected`](super::Walls::protected) holds. Ask the user about each write otherwise.
    pub fn keeps_protected_paths(&self) -> bool {
        matches!(self, Self::Bubblewrap(_))
    }

    /// Sentences about the gaps and costs of this combination, for a person who decides whether to rely on it.
    pub fn caveats(&self) -> &'static [&'static str] {
        match self {
            Self::Bubblewrap(_) => &[
                "A Unix socket inside a granted folder can be connected to, also where the grant is read-only.",
                "The kernel does not limit the number of processes of root.",
            ],
            Self::LandlockAlone => &[
                "Protected paths inside a writable folder can be written.",
                "Names, sizes and times of all files are visible, but not their content.",
                "The permissions and times of the user's own files in readable folders can be changed through an open file.",
                "Programs have no network, unless a person agrees each time to that of the whole machine; they have no TCP servers.",
                "The scheduling of the user's other processes can be changed.",
                "Programs cannot change permissions, owners, times or extended attributes by path, which some build tools need.",
                "Programs cannot use Unix sockets, pseudo-terminals, System V IPC or /dev/shm, and see only part of /proc.",
                "The kernel does not limit the number of processes of root.",
            ],
        }
    }
}

impl Layers {
    /// Returns no layers, because this system has none.
    #[cfg(not(target_os = "linux"))]
    pub fn probe() -> Self {
        Self {
            landlock: None,
            seccomp: false,
            bubblewrap: Bubblewrap::Missing,
        }
    }

    /// Leaves bubblewrap out, as if it were not installed.
    #[must_use]
    pub fn without_bubblewrap(mut self) -> Self {
        self.bubblewrap = Bubblewrap::Missing;
        self
    }

    /// Chooses the strongest combination.
    ///
    /// # Errors
    /// Returns an error if no combination of these layers confines a program.
    pub fn confinement(&self) -> Result<Confinement, WallsError> {
        if !cfg!(target_os = "linux") {
            return Err(WallsError::Unavailable {
                system: std::env::consts::OS,
            });
        }
        let missing = if !self.seccomp {
            "the kernel does not filter system calls (seccomp)".to_owned()
        } else if let Bubblewrap::Works { path, .. } = &self.bubblewrap {
            return Ok(Confinement::Bubblewrap(path.clone()));
        } else {
            match self.landlock {
                Some(abi) if abi >= LANDLOCK_ALONE => return Ok(Confinement::LandlockAlone),
                Some(abi) => format!(
                    "{}, and Landlock ABI {abi} stops neither signals nor abstract Unix sockets (ABI {LANDLOCK_ALONE} does)",
                    self.bubblewrap
                ),
                None => format!("{}, and the kernel has no Landlock", self.bubblewrap),
            }
        };
        Err(WallsError::NotConfinement { missing })
    }
}

impl fmt::Display for Bubblewrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "bubblewrap is not installed"),
            Self::Broken {
                version, reason, ..
            } => write!(f, "bubblewrap {version} cannot start programs ({reason})"),
            Self::Works { path, version } => {
                write!(f, "bubblewrap {version} at {}", path.display())
            }
        }
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.landlock {
            Some(abi) => writeln!(f, "Landlock: ABI {abi}")?,
            None => writeln!(f, "Landlock: missing")?,
        }
        writeln!(
            f,
            "seccomp: {}",
            if self.seccomp { "available" } else { "missing" }
        )?;
        writeln!(f, "bubblewrap: {}", self.bubblewrap)?;
        match self.confinement() {
            Ok(Confinement::Bubblewrap(_)) => write!(f, "Programs run in bubblewrap.")?,
            Ok(Confinement::LandlockAlone) => write!(
                f,
                "Programs run behind Landlock alone; install bubblewrap to close its gaps."
            )?,
            Err(error) => return write!(f, "No programs can be run: {error}."),
        }
        self.confinement()
            .iter()
            .flat_map(Confinement::caveats)
            .try_for_each(|caveat| write!(f, "\n- {caveat}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_or_unknown_bubblewrap_is_a_concern() {
        let works = |version: &str| Bubblewrap::Works {
            path: PathBuf::from("/no/bwrap"),
            version: version.to_owned(),
        };
        for old in [
            "0.4.1", "0.4", "0.1.8", "0.3.3", "", "unknown", "0.x", "-1.0.0",
        ] {
            let concern = works(old).concern().unwrap();
            assert!(
                concern.contains("/no/bwrap") && concern.contains("install a newer"),
                "{old}: {concern}"
            );
        }
        for new in ["0.5.0", "0.6.1", "0.8.0", "0.11.1", "1.0", "1.0.0.1"] {
            assert_eq!(works(new).concern(), None, "{new}");
        }
        let broken = Bubblewrap::Broken {
            path: "/b".into(),
            version: "0.4.0".to_owned(),
            reason: String::new(),
        };
        assert!(broken.concern().is_some() && Bubblewrap::Missing.concern().is_none());
    }

    #[test]
    fn a_setuid_bubblewrap_is_a_concern() {
        use std::os::unix::fs::PermissionsExt as _;

        let file = tempfile::NamedTempFile::new().unwrap();
        let works = Bubblewrap::Works {
            path: file.path().to_owned(),
            version: "0.8.0".to_owned(),
        };
        assert_eq!(works.concern(), None);
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(
            works
                .concern()
                .is_some_and(|concern| concern.contains("setuid"))
        );
    }
}
