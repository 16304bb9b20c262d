//! System calls that are refused whatever their arguments are.

// Calls that the crate `libc` does not name on every target. Numbers above 423 are the same on all architectures.
pub(super) const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const KEXEC_FILE_LOAD: i64 = if cfg!(target_arch = "x86_64") {
    320
} else {
    294
};
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Calls that no build tool needs: they reach other processes, the kernel, or the view of the file system.
pub(super) const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // The view of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Interfaces that have broken out of sandboxes before. io_uring also carries out calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // The machine.
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that Landlock does not restrict, and that bubblewrap's mounts and namespaces would.
pub(super) const REFUSED_ALONE: &[i64] = &[
    // Permissions, owners and times by path.
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    // Memory, semaphores and queues that other processes of the user share.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Changes of extended attributes. Tools that copy them go on if a file system has none.
pub(super) const UNSUPPORTED_ALONE: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
];

/// Calls whose arguments are in memory, where no filter sees them. Libraries have an older call to fall back on.
pub(super) const MISSING: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2];

/// Connections, which lead to Unix sockets by path and to networks.
pub(super) const REFUSED_WITHOUT_NETWORK: &[i64] = &[libc::SYS_connect];

/// Servers: Landlock knows the binding to a port, but not the one that a socket gets when it listens.
pub(super) const REFUSED_WITH_NETWORK: &[i64] = &[libc::SYS_listen];
