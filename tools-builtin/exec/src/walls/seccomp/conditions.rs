//! System calls that are refused for some of their arguments.

use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::calls::FCHMODAT2;
use super::{Rules, Surroundings};

/// The namespaces that `clone` and `unshare` can make.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Only `unshare` makes time namespaces. For `clone` this bit is part of the signal.
const CLONE_NEWTIME: i32 = 0x80;
/// The flag of `O_TMPFILE` without that of `O_DIRECTORY`.
const TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Requests that type into a terminal for its user.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541c];
/// Requests that change a file's flags through a descriptor that is open for reading: `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR` and
/// `FS_IOC_ENABLE_VERITY`.
const FILE_FLAGS: [u64; 3] = [0x4008_6602, 0x401c_5820, 0x4080_6685];

type Built = Result<Rules, BackendError>;

pub(super) fn build_refused() -> Built {
    let mut rules = Rules::new();
    // In a user namespace of its own, a program has all capabilities again.
    for flag in NAMESPACES.into_iter().chain([CLONE_NEWTIME]) {
        add(&mut rules, libc::SYS_unshare, &[has(0, flag)])?;
    }
    for flag in NAMESPACES {
        add(&mut rules, libc::SYS_clone, &[has(0, flag)])?;
    }
    for request in TERMINAL_INPUT {
        add(&mut rules, libc::SYS_ioctl, &[(1, Eq, request)])?;
    }
    // Makes named pipes only.
    for kind in (0..16)
        .map(|kind| kind << 12)
        .filter(|kind| *kind != u64::from(libc::S_IFIFO))
    {
        let is_kind = |argument| (argument, MaskedEq(libc::S_IFMT.into()), kind);
        #[cfg(target_arch = "x86_64")]
        add(&mut rules, libc::SYS_mknod, &[is_kind(1)])?;
        add(&mut rules, libc::SYS_mknodat, &[is_kind(2)])?;
    }
    set_user_id(&mut rules)?;
    Ok(rules)
}

/// Refuses files that give their owner's rights to others. Root's would be a way to become root.
fn set_user_id(rules: &mut Rules) -> Result<(), BackendError> {
    let mode = |argument| has(argument, libc::S_ISUID.cast_signed());
    add(rules, libc::SYS_fchmod, &[mode(1)])?;
    add(rules, libc::SYS_fchmodat, &[mode(2)])?;
    add(rules, FCHMODAT2, &[mode(2)])?;
    #[cfg(target_arch = "x86_64")]
    {
        add(rules, libc::SYS_chmod, &[mode(1)])?;
        add(rules, libc::SYS_creat, &[mode(1)])?;
    }
    for flag in [libc::O_CREAT, TMPFILE] {
        add(rules, libc::SYS_openat, &[has(2, flag), mode(3)])?;
        #[cfg(target_arch = "x86_64")]
        add(rules, libc::SYS_open, &[has(1, flag), mode(2)])?;
    }
    Ok(())
}

/// Leaves Unix sockets, and TCP in the empty network of bubblewrap. Without bubblewrap it leaves connected pairs of Unix sockets alone,
/// because others reach any socket of the machine by its path, and TCP and UDP to programs with a network.
pub(super) fn refused_sockets(surroundings: Surroundings) -> Built {
    let number = |number: i32| u64::from(number.unsigned_abs());
    let unix = number(libc::AF_UNIX);
    let inet = [libc::AF_INET, libc::AF_INET6].map(number);
    let tcp = (number(libc::SOCK_STREAM), number(libc::IPPROTO_TCP));
    let udp = (number(libc::SOCK_DGRAM), number(libc::IPPROTO_UDP));
    let mut rules = Rules::new();
    add(&mut rules, libc::SYS_socketpair, &[(0, Ne, unix)])?;
    match surroundings {
        Surroundings::Bubblewrap => {
            let others = [unix, inet[0], inet[1]].map(|family| (0, Ne, family));
            add(&mut rules, libc::SYS_socket, &others)?;
            refuse_other_transports(&mut rules, inet, &[tcp])?;
            return Ok(rules);
        }
        Surroundings::Machine => _ = rules.insert(libc::SYS_socket, Vec::new()),
        Surroundings::MachineWithNetwork => {
            let others = inet.map(|family| (0, Ne, family));
            add(&mut rules, libc::SYS_socket, &others)?;
            refuse_other_transports(&mut rules, inet, &[tcp, udp])?;
        }
    }
    // Other types of pairs send to any address.
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(number);
    for kind in (0..16).filter(|kind| !connected.contains(kind)) {
        add(&mut rules, libc::SYS_socketpair, &[is_kind(kind)])?;
    }
    Ok(rules)
}

/// Refuses sockets of these families other than those of the given types with their protocols, such as raw sockets and SCTP.
fn refuse_other_transports(
    rules: &mut Rules,
    families: [u64; 2],
    left: &[(u64, u64)],
) -> Result<(), BackendError> {
    for family in families {
        for kind in (0..16).filter(|kind| !left.iter().any(|(left, _)| left == kind)) {
            add(rules, libc::SYS_socket, &[(0, Eq, family), is_kind(kind)])?;
        }
        for (kind, protocol) in left {
            let other = [
                (0, Eq, family),
                is_kind(*kind),
                (2, Ne, 0),
                (2, Ne, *protocol),
            ];
            add(rules, libc::SYS_socket, &other)?;
        }
    }
    Ok(())
}

pub(super) fn refused_alone() -> Built {
    let mut rules = Rules::new();
    // 0 is the caller. Landlock does not keep a program from the user's other processes.
    add(&mut rules, libc::SYS_prlimit64, &[(0, Ne, 0)])?;
    for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
        add(&mut rules, call, &[(1, Ne, 0)])?;
    }
    add(&mut rules, libc::SYS_setpriority, &[(0, Ne, 0)])?;
    add(&mut rules, libc::SYS_ioprio_set, &[(0, Ne, 1)])?;
    // A null path means the open file.
    let path = SeccompCondition::new(1, SeccompCmpArgLen::Qword, Ne, 0)?;
    let rule = SeccompRule::new(vec![path])?;
    rules.entry(libc::SYS_utimensat).or_default().push(rule);
    for request in FILE_FLAGS {
        add(&mut rules, libc::SYS_ioctl, &[(1, Eq, request)])?;
    }
    Ok(rules)
}

/// Returns the condition that a socket is of a kind, whatever its flags are.
fn is_kind(kind: u64) -> (u8, SeccompCmpOp, u64) {
    (1, MaskedEq(0xf), kind)
}

fn has(argument: u8, flag: i32) -> (u8, SeccompCmpOp, u64) {
    let flag = flag.cast_unsigned().into();
    (argument, MaskedEq(flag), flag)
}

/// Adds a rule that matches if all conditions do. The kernel uses the lower half of these arguments.
fn add(
    rules: &mut Rules,
    call: i64,
    conditions: &[(u8, SeccompCmpOp, u64)],
) -> Result<(), BackendError> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
    rules.entry(call).or_default().push(rule);
    Ok(())
}
