//! Processes outside.

use crate::probe::{Probe, changes, leaks, reaches};

pub(crate) fn probes() -> Vec<Probe> {
    let probes = vec![
        leaks(
            "read_environment_of_others",
            "read(f'/proc/{BYSTANDER}/environ')",
        ),
        leaks(
            "read_arguments_of_others",
            "read(f'/proc/{BYSTANDER}/cmdline')",
        ),
        leaks(
            "read_memory_of_others",
            "print(os.pread(os.open(f'/proc/{BYSTANDER}/mem', os.O_RDONLY), 100, int(os.environ['ADDRESS'])))",
        ),
        leaks(
            "read_through_root_of_others",
            "read(f'/proc/{BYSTANDER}/root' + OUTSIDE + '/secret')",
        ),
        leaks(
            "read_through_folder_of_others",
            "read(f'/proc/{BYSTANDER}/cwd/outside/secret')",
        ),
        leaks(
            "read_descriptor_of_others",
            "read(f'/proc/{BYSTANDER}/fd/' + os.environ['OPENED'])",
        ),
        reaches(
            "list_processes",
            "if str(BYSTANDER) in os.listdir('/proc'): reached()",
        ),
        reaches(
            "trace_process",
            "check(libc.ptrace(16, BYSTANDER, None, None)); reached()",
        ),
        leaks(
            "read_memory_by_call",
            "buffer = ctypes.create_string_buffer(24)
local = struct.pack('QQ', ctypes.addressof(buffer), 24)
remote = struct.pack('QQ', int(os.environ['ADDRESS']), 24)
call(310 if X86 else 270, BYSTANDER, local, 1, remote, 1, 0)
print(buffer.raw.decode())",
        ),
        leaks(
            "take_descriptor",
            "process = call(434, BYSTANDER, 0)
print(os.pread(call(438, process, int(os.environ['OPENED']), 0), 100, 0).decode())",
        ),
        reaches(
            "compare_processes",
            "call(312 if X86 else 272, os.getppid(), os.getppid(), 0, 0, 0); reached()",
        )
        .if_possible(),
        changes(
            "kill_process",
            "os.kill(BYSTANDER, signal.SIGKILL)",
            |site| !site.bystander_answers(),
        ),
        changes(
            "kill_by_descriptor",
            "call(424, call(434, BYSTANDER, 0), 9, 0, 0)",
            |site| !site.bystander_answers(),
        ),
        changes(
            "limit_other_process",
            "resource.prlimit(BYSTANDER, resource.RLIMIT_NOFILE, (99, 99))",
            |site| {
                site.bystander("limits")
                    .lines()
                    .any(|line| line.starts_with("Max open files") && line.contains(" 99 "))
            },
        ),
        reaches(
            "slow_other_process",
            "os.setpriority(os.PRIO_PROCESS, BYSTANDER, 19); reached()",
        ),
        reaches(
            "trace_own_child",
            "if os.fork() == 0: check(libc.ptrace(0, 0, None, None)); reached()
else: os.wait()",
        ),
        reaches(
            "read_own_memory_by_call",
            "part = struct.pack('QQ', ctypes.addressof(ctypes.create_string_buffer(8)), 8)
call(310 if X86 else 270, os.getpid(), part, 1, part, 1, 0); reached()",
        ),
        reaches(
            "take_own_descriptor",
            "call(438, call(434, os.getpid(), 0), 1, 0); reached()",
        ),
        changes(
            "pin_other_process",
            "os.sched_setaffinity(BYSTANDER, [min(os.sched_getaffinity(0))])",
            |site| {
                site.bystander("status").lines().any(|line| {
                    line.starts_with("Cpus_allowed_list:") && !line.contains(['-', ','])
                })
            },
        )
        .if_possible()
        .with_gap(|case| case.alone),
        leaks(
            "attach_shared_memory",
            "libc.shmat.restype = ctypes.c_long
address = check(libc.shmat(int(os.environ['SEGMENT']), None, 0o10000))
print(ctypes.string_at(address, 24).decode())",
        ),
        reaches(
            "type_into_terminal",
            "import pty, termios
os.setsid()
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
fcntl.ioctl(slave, 0x5412, b'x')
reached()",
        )
        .if_possible(),
        reaches(
            "open_terminals",
            "os.listdir('/dev/pts').index('0'); reached()",
        )
        .if_possible(),
    ];
    probes.into_iter().map(Probe::beside_process).collect()
}
