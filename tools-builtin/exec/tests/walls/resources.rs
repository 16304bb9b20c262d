//! Resource limits.

use std::fs;

use crate::probe::{Probe, changes, reaches};

pub(crate) fn probes() -> Vec<Probe> {
    vec![
        reaches("take_memory", "bytearray(1 << 30); reached()"),
        changes("write_large_file", "os.write(os.open('large', os.O_CREAT | os.O_WRONLY), bytes(9 << 20))", |site| {
            fs::metadata(site.path("granted/large")).is_ok_and(|metadata| metadata.len() > 8 << 20)
        }),
        reaches("open_many_files", "files = [os.open('file', os.O_RDONLY) for _ in range(300)]; reached()"),
        reaches("use_processor", "while time.process_time() < 2.2: pass\nreached()"),
        reaches(
            "start_many_processes",
            "children = []
for _ in range(100):
    try: child = os.fork()
    except OSError: break
    if child == 0: time.sleep(60); os._exit(0)
    children.append(child)
for child in children: os.kill(child, signal.SIGKILL)
if len(children) == 100: reached()",
        )
        .with_gap(|case| case.is_root()),
        reaches(
            "raise_limit",
            "resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, resource.RLIM_INFINITY)); reached()",
        ),
        changes(
            "dump_core",
            "resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
os.abort()",
            |site| {
                fs::read_dir(site.path("granted"))
                    .unwrap()
                    .flatten()
                    .any(|entry| entry.file_name().to_string_lossy().starts_with("core"))
            },
        )
        .if_possible(),
    ]
}
