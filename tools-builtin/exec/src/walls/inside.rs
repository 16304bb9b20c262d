//! The host's binary, started again: it confines itself and becomes the program.

use std::convert::Infallible;
use std::error::Error;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};
use std::{fs, io};

use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, ioctl_tiocsctty, set_parent_process_death_signal,
    setrlimit, setsid,
};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

use super::confined::{HOST_NAME, Parcel, VARIABLE};
use super::paths::Identity;
use super::seccomp::{self, Surroundings};
use super::{Confined, Confinement, Limits, Network, PROXY, gate, landlock};

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
    } = receive()?;
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
    set(
        &confined.walls.limits,
        if alone { threads_of_user() } else { 0 },
    )?;
    give_up()?;
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
    // Last, because Landlock opens paths by `openat2`, which these filters leave out.
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

fn receive() -> Result<Parcel<Confined>, Box<dyn Error>> {
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

/// Sets the limits of this process. `others` is the number of processes of the user that count but are not the program's.
fn set(limits: &Limits, others: u64) -> io::Result<()> {
    // A limit of 1 byte also stops dumps that the kernel pipes to a program, which a limit of 0 does not.
    lower(Resource::Core, Some(1))?;
    lower(Resource::As, limits.memory)?;
    lower(Resource::Fsize, limits.file_size)?;
    lower(
        Resource::Nproc,
        limits
            .processes
            .map(|processes| processes.saturating_add(others)),
    )?;
    lower(Resource::Cpu, limits.cpu_seconds)?;
    lower(Resource::Nofile, limits.open_files)
}

/// Sets the soft and the hard limit, unless the hard limit is lower already.
fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    // To raise a hard limit needs a capability, and fails without it.
    let limit = Some(
        getrlimit(resource)
            .maximum
            .map_or(limit, |maximum| maximum.min(limit)),
    );
    Ok(setrlimit(
        resource,
        Rlimit {
            current: limit,
            maximum: limit,
        },
    )?)
}

/// Counts the threads of this user on this machine.
fn threads_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = processes.filter(|process| {
        process
            .metadata()
            .is_ok_and(|metadata| metadata.uid() == user)
    });
    own.map(|process| fs::read_dir(process.path().join("task")).map_or(0, Iterator::count) as u64)
        .sum()
}

/// Gives up all capabilities for good, and sees to it that no program regains any: neither root nor the owner of a setuid file.
fn give_up() -> io::Result<()> {
    clear_ambient_capability_set()?;
    if capabilities(None)?
        .effective
        .contains(CapabilitySet::SETPCAP)
    {
        set_capabilities_secure_bits(
            CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED,
        )?;
        let all = (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit));
        // The kernel returns an error for the first number that is no capability.
        for capability in
            all.take_while(|capability| capability_is_in_bounding_set(*capability).is_ok())
        {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(set_no_new_privs(true)?)
}
