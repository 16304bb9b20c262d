//! Filters of system calls.

mod calls;
mod conditions;

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, sock_filter};

/// The newest system call that the lists know, `file_setattr`. Later ones fail as on an older kernel.
const NEWEST_CALL: u32 = 469;
/// Set in the numbers of the x32 calls of x86-64, which would pass a filter by number.
const X32: u32 = 0x4000_0000;
/// The offset of the number in the data that a filter sees.
const NUMBER: u32 = 0;

/// The rules of one call: it is refused if one of them matches, or always if there is none.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The reach of a program if no system call were refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// The namespaces of bubblewrap.
    Bubblewrap,
    /// Everything outside of the files that Landlock leaves, and no network.
    Machine,
    /// Everything outside of the files that Landlock leaves, and the network of the machine, which the program may use.
    MachineWithNetwork,
}

/// Filters the system calls of this thread and its descendants.
pub(super) fn restrict(surroundings: Surroundings) -> Result<(), seccompiler::Error> {
    // The strictest of all filters decides.
    install(always(calls::MISSING), libc::ENOSYS)?;
    install(always(calls::REFUSED), libc::EPERM)?;
    install(conditions::build_refused()?, libc::EPERM)?;
    install(conditions::refused_sockets(surroundings)?, libc::EPERM)?;
    if surroundings != Surroundings::Bubblewrap {
        let is_connected = surroundings == Surroundings::MachineWithNetwork;
        let of_network = if is_connected {
            calls::REFUSED_WITH_NETWORK
        } else {
            calls::REFUSED_WITHOUT_NETWORK
        };
        install(always(of_network), libc::EPERM)?;
        install(always(calls::UNSUPPORTED_ALONE), libc::EOPNOTSUPP)?;
        install(always(calls::REFUSED_ALONE), libc::EPERM)?;
        install(conditions::refused_alone()?, libc::EPERM)?;
    }
    Ok(())
}

fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn install(rules: Rules, error: i32) -> Result<(), seccompiler::Error> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCH.try_into()?)?;
    let mut program = number_check();
    program.extend(BpfProgram::try_from(filter)?);
    seccompiler::apply_filter(&program)
}

/// Kills callers of x32 calls and hides calls that the lists do not know. The compiled filter kills foreign architectures.
fn number_check() -> BpfProgram {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let at_least = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let instruction = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    vec![
        instruction(load, 0, 0, NUMBER),
        instruction(at_least, 0, 1, X32),
        instruction(answer, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(at_least, 0, 1, NEWEST_CALL + 1),
        instruction(
            answer,
            0,
            0,
            SeccompAction::Errno(libc::ENOSYS.unsigned_abs()).into(),
        ),
    ]
}
