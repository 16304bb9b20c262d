//! The libraries, tools and devices that every program needs to start.

use std::path::{Path, PathBuf};

/// Folders of programs and libraries. Some are symbolic links into `/usr`.
const FOLDERS: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
];

/// Entries of `/etc` without secrets. The others stay invisible: `/etc` also has password hashes, host keys and credentials of services.
const CONFIGURATION: [&str; 38] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.preload",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "manpath.config",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Files of `/proc` about the machine. Only they and the program's own folder are readable without a `/proc` of its own.
const MACHINE: [&str; 11] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

/// The file that names the servers for lookups of names. Programs without a network do not need it.
pub(super) const NAME_SERVERS: &str = "/etc/resolv.conf";

/// Devices that hold no data.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Returns the folders and files of the system that every program may read and execute, as far as they exist.
pub(super) fn readable() -> Vec<PathBuf> {
    let configuration = CONFIGURATION
        .iter()
        .map(|name| Path::new("/etc").join(name));
    let folders = FOLDERS
        .iter()
        .map(PathBuf::from)
        .chain([PathBuf::from("/sys/devices/system/cpu")]);
    folders
        .chain(configuration)
        .filter(|path| path.exists())
        .collect()
}

/// Returns the files of the machine's `/proc` that a program may read, and its own folder there.
pub(super) fn own_proc() -> Vec<PathBuf> {
    MACHINE
        .iter()
        .map(PathBuf::from)
        .chain([PathBuf::from("/proc").join(std::process::id().to_string())])
        .collect()
}
