//! Files and folders that are not granted.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::probe::{Probe, changes, leaks, reaches};

pub(crate) fn probes() -> Vec<Probe> {
    [outside(), hidden(), protected(), readable(), system()].concat()
}

fn outside() -> Vec<Probe> {
    vec![
        leaks("read_outside", "read(OUTSIDE + '/secret')"),
        reaches("list_outside", "if 'secret' in os.listdir(OUTSIDE): reached()"),
        reaches("stat_outside", "os.stat(OUTSIDE + '/secret'); reached()").with_gap(|case| case.alone),
        leaks("read_through_link", "os.symlink(OUTSIDE + '/secret', GRANTED + '/link'); read(GRANTED + '/link')"),
        leaks("read_by_hard_link", "os.link(OUTSIDE + '/secret', GRANTED + '/link'); read(GRANTED + '/link')"),
        leaks("read_by_rename", "os.rename(OUTSIDE + '/secret', GRANTED + '/moved'); read(GRANTED + '/moved')"),
        leaks("read_inherited_descriptor", "print(os.read(9, 100).decode())").with_open_file(),
        leaks(
            "read_by_handle",
            "mount = os.open(GRANTED, os.O_RDONLY)
handle = bytes.fromhex(os.environ['HANDLE'])
print(os.read(call(304 if X86 else 265, mount, handle, os.O_RDONLY), 100).decode())",
        )
        .of_root()
        .beside_process(),
        changes("write_outside", "write(OUTSIDE + '/file')", |site| site.text("outside/file") != "before"),
        changes("write_through_link", "os.symlink(OUTSIDE + '/file', 'link'); write('link')", |site| {
            site.text("outside/file") != "before"
        }),
        changes("write_through_folder_link", "os.symlink(OUTSIDE, 'link'); write('link/new')", |site| site.path("outside/new").exists()),
        changes("write_through_parent", "write('../outside/new')", |site| site.path("outside/new").exists()),
        changes("truncate_outside", "os.truncate(OUTSIDE + '/file', 0)", |site| site.text("outside/file") != "before"),
        changes("create_beside", "write(SITE + '/new')", |site| site.path("new").exists()),
        changes("make_folder_outside", "os.mkdir(OUTSIDE + '/new')", |site| site.path("outside/new").exists()),
        changes("make_link_outside", "os.symlink('file', OUTSIDE + '/new')", |site| site.path("outside/new").is_symlink()),
        changes("make_pipe_outside", "os.mkfifo(OUTSIDE + '/new')", |site| site.path("outside/new").exists()),
        changes("unlink_outside", "os.unlink(OUTSIDE + '/file')", |site| !site.path("outside/file").exists()),
        changes("remove_folder_outside", "os.rmdir(OUTSIDE + '/folder')", |site| !site.path("outside/folder").exists()),
        changes("rename_outside", "os.rename(OUTSIDE + '/file', OUTSIDE + '/new')", |site| site.path("outside/new").exists()),
        changes("rename_out", "os.rename('file', OUTSIDE + '/new')", |site| site.path("outside/new").exists()),
        changes("rename_granted_folder", "os.rename(GRANTED, GRANTED + '2')", |site| site.path("granted2").exists()),
        changes("hard_link_out", "os.link('file', OUTSIDE + '/new')", |site| site.path("outside/new").exists()),
        changes("chmod_outside", "os.chmod(OUTSIDE + '/file', 0o777)", |site| site.mode("outside/file") & 0o777 == 0o777),
        changes("chmod_by_path_descriptor", "fd = os.open(OUTSIDE + '/file', os.O_PATH); os.chmod(f'/proc/self/fd/{fd}', 0o777)", |site| {
            site.mode("outside/file") & 0o777 == 0o777
        }),
        changes("chmod_by_relative_call", "call(268 if X86 else 53, -100, (OUTSIDE + '/file').encode(), 0o777)", |site| {
            site.mode("outside/file") & 0o777 == 0o777
        }),
        changes("chmod_by_new_call", "call(452, -100, (OUTSIDE + '/file').encode(), 0o777, 0)", |site| {
            site.mode("outside/file") & 0o777 == 0o777
        })
        .if_possible(),
        changes("chown_outside", "os.chown(OUTSIDE + '/file', 1, 1)", |site| owner(site, "outside/file") == 1).of_root(),
        changes("chown_inside", "os.chown('file', 1, 1)", |site| owner(site, "granted/file") == 1).of_root(),
        changes("utime_outside", "os.utime(OUTSIDE + '/file', (1, 1))", |site| {
            fs::metadata(site.path("outside/file")).is_ok_and(|metadata| metadata.mtime() == 1)
        }),
        reaches("setxattr_outside", "os.setxattr(OUTSIDE + '/file', 'user.probe', b'x'); reached()").if_possible(),
        changes("mknod_outside", "os.mknod(OUTSIDE + '/new', stat.S_IFCHR | 0o600, os.makedev(1, 1))", |site| {
            site.path("outside/new").exists()
        })
        .of_root(),
        changes("mknod_inside", "os.mknod('new', stat.S_IFCHR | 0o600, os.makedev(1, 1))", |site| site.path("granted/new").exists()).of_root(),
        reaches("watch_outside", "check(libc.inotify_add_watch(libc.inotify_init(), OUTSIDE.encode(), 0x100)); reached()")
            .with_gap(|case| case.alone),
        reaches("make_file_handle", "handle = bytearray((128).to_bytes(4, 'little') + bytes(132))
call(303 if X86 else 264, -100, b'file', (ctypes.c_char * 136).from_buffer(handle), ctypes.byref(ctypes.c_int()), 0); reached()"),
    ]
}

fn hidden() -> Vec<Probe> {
    vec![
        leaks("read_hidden", "read(HIDDEN + '/state')"),
        reaches("list_hidden", "if 'state' in os.listdir(HIDDEN): reached()"),
        changes("write_hidden", "write(HIDDEN + '/state')", |site| {
            site.text("lodge/lair/hidden/state") == "after"
        }),
        changes("create_in_hidden", "write(HIDDEN + '/new')", |site| {
            site.path("lodge/lair/hidden/new").exists()
        }),
        changes("unlink_hidden", "os.unlink(HIDDEN + '/state')", |site| {
            !site.path("lodge/lair/hidden/state").exists()
        }),
        changes(
            "rename_hidden",
            "os.rename(HIDDEN, LODGE + '/moved')",
            |site| !site.path("lodge/lair/hidden").exists(),
        ),
        changes(
            "rename_parent_of_hidden",
            "os.rename(LODGE + '/lair', LODGE + '/moved')",
            |site| !site.path("lodge/lair").exists(),
        ),
    ]
}

fn protected() -> Vec<Probe> {
    let config = |site: &crate::site::Site| site.text("granted/guarded/deep/config") != "before";
    vec![
        changes("write_protected", "write(PROTECTED)", config).with_gap(|case| case.alone),
        changes("unlink_protected", "os.unlink(PROTECTED)", config).with_gap(|case| case.alone),
        changes(
            "rename_over_protected",
            "os.rename('file', PROTECTED); write(PROTECTED)",
            config,
        )
        .with_gap(|case| case.alone),
        changes(
            "rename_parent_of_protected",
            "os.rename(GRANTED + '/guarded', GRANTED + '/moved')",
            config,
        )
        .with_gap(|case| case.alone),
        changes("chmod_protected", "os.chmod(PROTECTED, 0o777)", |site| {
            site.mode("granted/guarded/deep/config") & 0o777 == 0o777
        }),
    ]
}

fn readable() -> Vec<Probe> {
    vec![
        changes("write_readable", "write(READONLY + '/file')", |site| {
            site.text("readonly/file") != "before"
        }),
        changes("create_in_readable", "write(READONLY + '/new')", |site| {
            site.path("readonly/new").exists()
        }),
        changes("unlink_readable", "os.unlink(READONLY + '/file')", |site| {
            !site.path("readonly/file").exists()
        }),
        changes(
            "chmod_readable",
            "os.chmod(READONLY + '/file', 0o777)",
            |site| site.mode("readonly/file") & 0o777 == 0o777,
        ),
        changes(
            "chmod_readable_by_descriptor",
            "os.fchmod(os.open(READONLY + '/file', os.O_RDONLY), 0o777)",
            |site| site.mode("readonly/file") & 0o777 == 0o777,
        )
        .with_gap(|case| case.alone),
        changes(
            "hard_link_of_readable",
            "os.link(READONLY + '/file', 'link'); write('link')",
            |site| site.text("readonly/file") != "before",
        ),
    ]
}

fn system() -> Vec<Probe> {
    vec![
        reaches("read_password_hashes", "read('/etc/shadow'); reached()").of_root(),
        reaches("open_kernel_log", "os.open('/dev/kmsg', os.O_RDONLY); reached()").of_root().if_possible(),
        reaches("open_memory", "os.open('/dev/mem', os.O_RDONLY); reached()").of_root().if_possible(),
        reaches(
            "open_disk",
            "name = sorted(os.listdir('/sys/block'))[-1]; os.open('/dev/' + name, os.O_RDONLY); reached()",
        )
        .of_root()
        .if_possible(),
        reaches("open_kernel_setting", "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY); reached()").of_root(),
        reaches(
            "open_device_setting",
            "os.open('/sys/kernel/mm/transparent_hugepage/enabled', os.O_WRONLY); reached()",
        )
        .of_root()
        .if_possible(),
        changes("write_system", "write('/usr/toolcrib-probe')", |_| fs::remove_file("/usr/toolcrib-probe").is_ok())
            .of_root(),
        leaks("read_temporary_of_others", "read(TEMPORARY + '/secret')").if_possible(),
        changes("write_temporary_of_others", "write(TEMPORARY + '/new')", |site| site.temporary().join("new").exists())
            .if_possible(),
        changes("set_user_id", "os.chmod('file', 0o4755)", |site| site.mode("granted/file") & 0o4000 != 0),
        changes("set_user_id_by_descriptor", "os.fchmod(os.open('file', os.O_RDONLY), 0o4755)", |site| {
            site.mode("granted/file") & 0o4000 != 0
        }),
        changes("create_with_set_user_id", "os.open('new', os.O_CREAT | os.O_WRONLY, 0o4755)", |site| {
            site.mode("granted/new") & 0o4000 != 0
        }),
    ]
}

fn owner(site: &crate::site::Site, name: &str) -> u32 {
    fs::metadata(site.path(name)).map_or(0, |metadata| metadata.uid())
}
