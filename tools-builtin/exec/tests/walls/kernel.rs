//! Interfaces of the kernel.

use crate::probe::{Probe, reaches};

pub(crate) fn probes() -> Vec<Probe> {
    [namespaces(), mounts(), interfaces()].concat()
}

fn namespaces() -> Vec<Probe> {
    vec![
        reaches("unshare_user", "check(libc.unshare(0x10000000)); reached()").if_possible(),
        reaches("unshare_time", "check(libc.unshare(0x80)); reached()").of_root().if_possible(),
        reaches("unshare_mounts", "check(libc.unshare(0x20000)); reached()").of_root(),
        reaches(
            "clone_user",
            "if call(56 if X86 else 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) == 0: os._exit(0)
reached()",
        )
        .if_possible(),
        reaches(
            "clone3_user",
            "if call(435, struct.pack('11Q', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0), 88) == 0: os._exit(0)
reached()",
        )
        .if_possible(),
        reaches("enter_namespace", "check(libc.setns(os.open('/proc/self/ns/uts', os.O_RDONLY), 0)); reached()").of_root(),
        reaches("change_root", "os.chroot(GRANTED); reached()").of_root(),
        reaches("pivot_root", "if errno_of(call, 155 if X86 else 41, b'.', b'.') in (errno.EINVAL, errno.EBUSY): reached()").of_root(),
        reaches("regain_capability", "if int(open('/proc/self/status').read().split('CapEff:')[1].split()[0], 16): reached()").of_root(),
        reaches("regain_privileges", "check(libc.prctl(39, 0, 0, 0, 0))
if libc.prctl(39, 0, 0, 0, 0) == 0: reached()"),
    ]
}

fn mounts() -> Vec<Probe> {
    vec![
        reaches(
            "mount",
            "check(libc.mount(b'none', (GRANTED + '/sub').encode(), b'tmpfs', 0, None))
reached()
libc.umount2((GRANTED + '/sub').encode(), 2)",
        )
        .of_root(),
        reaches(
            "unmount",
            "def unmount(): check(libc.umount2((GRANTED + '/sub').encode(), 0))
if errno_of(unmount) == errno.EINVAL: reached()",
        )
        .of_root(),
        reaches("open_file_system", "call(430, b'tmpfs', 0); reached()").of_root(),
        reaches("clone_mount", "call(428, -100, b'/', 1); reached()").of_root(),
        reaches(
            "set_mount_attributes",
            "if errno_of(call, 442, -100, b'/', 0, struct.pack('4Q', 0, 0, 0, 0), 32) == 0: reached()",
        )
        .of_root(),
    ]
}

fn interfaces() -> Vec<Probe> {
    vec![
        reaches("add_key", "call(248 if X86 else 217, b'user', b'probe', b'x', 1, -2); reached()").if_possible(),
        reaches("read_keyring", "call(250 if X86 else 219, 0, -3, 1, 0, 0); reached()").if_possible(),
        reaches("io_uring", "call(425, 1, (ctypes.c_char * 120)()); reached()").if_possible(),
        reaches("bpf", "call(321 if X86 else 280, 0, struct.pack('4I', 2, 4, 4, 1) + bytes(56), 72); reached()").of_root().if_possible(),
        reaches("perf", "call(298 if X86 else 241, struct.pack('2I4Q', 1, 64, 0, 0, 0, 0) + struct.pack('3Q', 0x60, 0, 0), 0, -1, -1, 0); reached()")
            .if_possible(),
        reaches("userfaultfd", "call(323 if X86 else 282, 1); reached()").if_possible(),
        reaches("kernel_log", "call(103 if X86 else 116, 3, ctypes.create_string_buffer(100), 100); reached()").if_possible(),
        reaches("load_module", "if errno_of(call, 175 if X86 else 105, b'', 0, b'') != errno.EPERM: reached()").of_root().if_possible(),
        reaches("host_name", "socket.sethostname(socket.gethostname()); reached()").of_root(),
        reaches("local_descriptor_table", "call(154, 0, ctypes.create_string_buffer(100), 100); reached()").if_possible(),
        reaches("port_privilege", "call(172, 3); reached()").of_root().if_possible(),
        reaches("watch_all_files", "call(300 if X86 else 262, 0x200, 0); reached()").if_possible(),
        reaches("move_pages", "call(279 if X86 else 239, 0, 0, 0, 0, 0, 0); reached()").if_possible(),
        reaches(
            "foreign_architecture",
            "import mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('b814000000cd80c3'))
number = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
if number == os.getpid(): reached()",
        )
        .if_possible(),
        // Without the x32 calls in the kernel, this number does not exist, and its caller goes on.
        reaches("x32_call", "errno_of(call, 0x40000000 + 39); reached()"),
        reaches("unknown_call", "if errno_of(call, 470) != errno.ENOSYS: reached()").if_possible(),
    ]
}
