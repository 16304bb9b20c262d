//! Resource limits.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Limits;

/// Sets the limits of this process. `others` is the number of processes of the user that count but are not the program's.
pub(super) fn set(limits: &Limits, others: u64) -> io::Result<()> {
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
pub(super) fn threads_of_user() -> u64 {
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
