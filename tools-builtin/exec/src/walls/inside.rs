//! The host's binary, started again: it confines itself and becomes the program.

use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};

use rustix::process::{Signal, ioctl_tiocsctty, set_parent_process_death_signal, setsid};

use super::confined::{HOST_NAME, Parcel, VARIABLE};
use super::paths::Identity;
use super::seccomp::Surroundings;
use super::{Confined, Confinement, Network, PROXY, gate, landlock, limits, privilege, seccomp};

/// The exit code of a program that could not be started.
const NOT_STARTED: i32 = 126;

/// Confines this process and replaces it by the program. Never returns.
pub(crate) fn confine_and_run() -> ! {
    let Err(error) = run();
    eprintln!(
        "toolcrib: cannot start the program: {}",
        error.to_string().replace('\n', " ")
    );
    exit(NOT_STARTED)
}

fn run() -> Result<Infallible, Box<dyn Error>> {
    let Parcel {
        mut confined,
        identities,
    } = received()?;
    identities.iter().try_for_each(Identity::verify)?;
    let confinement = confined.layers.confinement()?;
    let alone = confinement == Confinement::LandlockAlone;
    close_inherited_files()?;
    if !alone {
        empty_network()?;
    }
    let stdin = match confined.walls.network {
        Network::None => None,
        Network::Proxy if alone => return Err("a proxy needs bubblewrap".into()),
        Network::Proxy => Some(gate::listen(PROXY)?),
        Network::Machine if alone => None,
        Network::Machine => {
            return Err(
                "bubblewrap has a network of its own, so a program gets none of the machine".into(),
            );
        }
    };
    if confined.terminal {
        // The filter of system calls comes later: it keeps programs from typing into their terminal.
        setsid()?;
        match &stdin {
            Some(stdin) => ioctl_tiocsctty(stdin)?,
            None => ioctl_tiocsctty(std::io::stdin())?,
        }
    } else if alone {
        // Fails in the leader of a process group, which has no terminal of its own either.
        let _ = setsid();
    }
    limits::set(
        &confined.walls.limits,
        if alone { limits::threads_of_user() } else { 0 },
    )?;
    privilege::give_up()?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if alone {
        landlock::restrict_alone(&confined.walls)?;
        confined.env.extend(
            confined
                .walls
                .scratch
                .iter()
                .map(|scratch| ("TMPDIR".to_owned(), scratch.display().to_string())),
        );
    } else if confined.layers.landlock.is_some() {
        landlock::restrict_in_bubblewrap(&confined.walls)?;
    }
    let seen = match (alone, confined.walls.network) {
        (false, _) => Surroundings::Bubblewrap,
        (true, Network::Machine) => Surroundings::MachineWithNetwork,
        (true, _) => Surroundings::Machine,
    };
    seccomp::restrict(seen)?;
    let mut program = Command::new(&confined.program);
    program
        .args(&confined.args)
        .env_clear()
        .envs(confined.env)
        .current_dir(&confined.cwd);
    stdin.map(|stdin| program.stdin(stdin));
    Err(format!("{}: {}", confined.program.display(), program.exec()).into())
}

fn received() -> Result<Parcel<Confined>, Box<dyn Error>> {
    let pieces = (0..).map_while(|number| std::env::var(format!("{VARIABLE}{number}")).ok());
    let text: String = pieces.collect();
    serde_json::from_str(&text)
        .map_err(|error| format!("{HOST_NAME} was started by hand ({error})").into())
}

/// Checks that this process is in a network of its own, because sockets of TCP are not filtered there.
fn empty_network() -> Result<(), Box<dyn Error>> {
    let devices = fs::read_to_string("/proc/self/net/dev")?;
    // Two lines of titles come first.
    let other = devices
        .lines()
        .skip(2)
        .find(|line| !line.trim_start().starts_with("lo:"));
    other.map_or(Ok(()), |line| {
        Err(format!("the sandbox has a network: {line}").into())
    })
}

/// Closes all files but the standard streams: whoever started the host may have left some open.
fn close_inherited_files() -> Result<(), Box<dyn Error>> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in open {
        // The list's own descriptor is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
