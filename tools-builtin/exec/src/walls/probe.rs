//! Finds the layers of this machine.

use std::fs;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, RestrictSelfAttr, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};

use super::{Bubblewrap, Layers};

/// The only folders that are searched: a folder of `PATH` may be writable by programs that were confined before.
const PATH: &str = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

impl Layers {
    /// Asks the kernel and bubblewrap. Starts `bwrap` twice if it is installed.
    pub fn probe() -> Self {
        Self {
            landlock: landlock(),
            seccomp: seccomp(),
            bubblewrap: bubblewrap(),
        }
    }
}

fn seccomp() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        && fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
            .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
}

/// Tries the features of each ABI, because the crate does not tell the number.
fn landlock() -> Option<u32> {
    (1..=10)
        .rev()
        .find(|abi| supports(ABI::from(*abi)).is_ok())
        .map(i32::unsigned_abs)
}

fn supports(abi: ABI) -> Result<(), RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let mut created = ruleset.create()?;
    if abi >= ABI::V7 {
        created = created.log_new_exec(true)?;
    }
    if abi >= ABI::V8 {
        created.all_threads(true)?;
    }
    Ok(())
}

fn bubblewrap() -> Bubblewrap {
    let Some(path) = std::env::split_paths(PATH)
        .map(|folder| folder.join("bwrap"))
        .find(|path| path.is_file())
    else {
        return Bubblewrap::Missing;
    };
    let version = Command::new(&path).arg("--version").env_clear().output();
    let version = version
        .map(|output| {
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .replacen("bubblewrap ", "", 1)
        })
        .unwrap_or_default();
    let tried = Command::new(&path)
        .args([
            "--unshare-all",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--ro-bind",
            "/",
            "/",
        ])
        .args([
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", "true",
        ])
        .env_clear()
        .env("PATH", PATH)
        .output();
    let reason = match tried {
        Ok(output) if output.status.success() => return Bubblewrap::Works { path, version },
        Ok(output) => String::from_utf8_lossy(&output.stderr)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
        Err(error) => error.to_string(),
    };
    Bubblewrap::Broken {
        path,
        version,
        reason,
    }
}
