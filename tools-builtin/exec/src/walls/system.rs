//! The libraries, tools and devices that every program needs to start.

use std::path::{Path, PathBuf};

/// Folders of programs and libraries. Some are symbolic links into `/usr`.
const FOLDERS: &str = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store /run/current-system /sys/devices/system/cpu";

/// Entries of `/etc` without secrets. The others stay invisible: `/etc` also has password hashes, host keys and credentials of services.
const CONFIGURATION: &str = "alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies \
    debian_version fonts gai.conf gitconfig group host.conf hosts inputrc ld.so.cache \
    ld.so.conf ld.so.conf.d ld.so.preload locale.alias locale.conf localtime magic \
    manpath.config mime.types nsswitch.conf os-release passwd perl pki/ca-trust \
    pki/tls/certs profile profile.d protocols services shells ssl/certs ssl/openssl.cnf \
    terminfo timezone";

/// Files of `/proc` about the machine. Only they and the program's own folder are readable without a `/proc` of its own.
const MACHINE: &str = "cpuinfo filesystems loadavg meminfo stat sys/kernel/osrelease sys/kernel/pid_max \
    sys/kernel/random sys/vm/overcommit_memory uptime version";

/// The file that names the servers for lookups of names. Programs without a network do not need it.
pub(super) const NAME_SERVERS: &str = "/etc/resolv.conf";

/// Returns the devices that hold no data.
pub(super) fn devices() -> [PathBuf; 5] {
    ["null", "zero", "full", "random", "urandom"].map(|name| Path::new("/dev").join(name))
}

/// Returns the folders and files of the system that every program may read and execute, as far as they exist.
pub(super) fn readable() -> Vec<PathBuf> {
    let configuration = CONFIGURATION
        .split(' ')
        .map(|name| Path::new("/etc").join(name));
    FOLDERS
        .split(' ')
        .map(PathBuf::from)
        .chain(configuration)
        .filter(|path| path.exists())
        .collect()
}

/// Returns the files of the machine's `/proc` that a program may read, and its own folder there.
pub(super) fn own_proc() -> Vec<PathBuf> {
    let own = std::process::id().to_string();
    MACHINE
        .split(' ')
        .chain([&*own])
        .map(|name| Path::new("/proc").join(name))
        .collect()
}
