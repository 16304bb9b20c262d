//! The arguments of bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::paths::{self, Grants, lies_in};
use super::{Walls, system};

/// The place of the host's binary. `/dev` is always a folder of bubblewrap's own, so a file can be put there.
pub(super) const HOST: &str = "/dev/toolcrib-walls";

/// The most arguments that bubblewrap takes (`MAX_ARGS`), those of a file of `--args` included.
pub(super) const MAX_ARGUMENTS: usize = 9000;

/// One step of building the program's file system. The order of the variants decides which step wins for the same path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    System,
    Read,
    Write,
    Protect,
    Hide,
}

/// Returns the arguments of `bwrap` up to the program. `host` is the binary that runs inside.
pub(super) fn arguments(walls: &Walls, terminal: bool, host: &Path) -> Vec<OsString> {
    let mut arguments = Arguments(Vec::new());
    // No option shares the network: bubblewrap's own has nothing but loopback, also with a proxy.
    arguments.add(["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]);
    // In the session of the host, the program could type into its terminal.
    if !terminal {
        arguments.add(["--new-session"]);
    }
    let mut steps = steps(walls);
    // Sorts a folder before its content, because a later mount covers an earlier one.
    steps.sort();
    steps.dedup();
    for (path, step) in &steps {
        arguments.mount(path, *step, walls);
    }
    arguments.add([Path::new("--ro-bind"), host, Path::new(HOST)]);
    arguments.add(["--chdir", "/", "--", HOST]);
    arguments.0
}

fn steps(walls: &Walls) -> Vec<(PathBuf, Step)> {
    let grants = Grants::new(walls);
    let granted = |path: &Path| lies_in(path, grants.read.iter().chain(&grants.write).copied());
    let system = system::readable()
        .into_iter()
        .chain([PathBuf::from("/var/tmp")])
        .filter(|path| !granted(path));
    let own = ["/proc", "/dev", "/tmp"].map(PathBuf::from).into_iter();
    // For a missing one, bubblewrap would create a place to mount it on the disk.
    let exists = |path: &Path| {
        path.exists() || lies_in(path, grants.write.iter().copied()) && paths::may_exist(path)
    };
    let hidden = || paths::list_hidden(walls).filter(|path| granted(path) && exists(path));
    // A mount point cannot be renamed.
    let pinned = grants.find_pinned(walls, hidden());
    let protected = paths::list_protected(walls).filter(|path| granted(path));
    let mut steps = Vec::new();
    steps.extend(system.chain(own).map(|path| (path, Step::System)));
    steps.extend(
        grants
            .read
            .iter()
            .map(|path| (path.to_path_buf(), Step::Read)),
    );
    steps.extend(
        grants
            .write
            .iter()
            .map(|path| (path.to_path_buf(), Step::Write)),
    );
    steps.extend(pinned.map(|path| (path, Step::Write)));
    steps.extend(protected.map(|path| (path.clone(), Step::Protect)));
    steps.extend(hidden().map(|path| (path.clone(), Step::Hide)));
    steps
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, words: impl IntoIterator<Item = impl Into<OsString>>) {
        self.0.extend(words.into_iter().map(Into::into));
    }

    fn mount(&mut self, path: &Path, step: Step, walls: &Walls) {
        let bind = |option: &str| {
            [
                option.into(),
                path.as_os_str().to_owned(),
                path.as_os_str().to_owned(),
            ]
        };
        match (step, path.to_str()) {
            // Root could change the kernel's settings in /proc/sys, also without capabilities.
            (Step::System, Some("/proc")) => self.add(["--proc", "/proc", "--remount-ro", "/proc"]),
            (Step::System, Some("/dev")) => self.add(["--dev", "/dev"]),
            // No link: a granted folder below `/var/tmp` is mounted there.
            (Step::System, Some("/tmp" | "/var/tmp")) => self.temporary(path, walls),
            (Step::System, _) => match path.read_link() {
                // Binds the file that a link in /etc leads to, and keeps links such as /bin.
                Ok(target) if path.is_dir() => {
                    self.add(["--symlink".into(), target.into_os_string(), path.into()])
                }
                _ => self.add(bind("--ro-bind")),
            },
            (Step::Read | Step::Protect, _) => self.add(bind("--ro-bind")),
            (Step::Write, _) => self.add(bind("--bind")),
            (Step::Hide, _) if path.is_dir() => {
                self.add([Path::new("--tmpfs"), path, Path::new("--remount-ro"), path]);
            }
            (Step::Hide, _) => self.add([Path::new("--ro-bind"), Path::new("/dev/null"), path]),
        }
    }

    fn temporary(&mut self, path: &Path, walls: &Walls) {
        match (&walls.scratch, walls.limits.memory) {
            (Some(scratch), _) => return self.add([Path::new("--bind"), scratch, path]),
            (None, Some(size)) => self.add(["--size", &size.to_string()]),
            (None, None) => {}
        }
        self.add([Path::new("--tmpfs"), path]);
    }
}
