//! Calls of `exec.run` and `exec.shell` through the whole pipeline, judged from outside. A program of its own, because it is also the host,
//! which the sandbox starts again, and because it needs the feature `tools`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these are tests, although the harness is not that of Rust"
)]

#[cfg(target_os = "linux")]
mod aside;
#[cfg(target_os = "linux")]
mod background;
#[cfg(target_os = "linux")]
mod code;
#[cfg(target_os = "linux")]
mod confinement;
#[cfg(target_os = "linux")]
mod daily;
#[cfg(target_os = "linux")]
mod git;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(all(target_os = "linux", feature = "network"))]
mod network;
#[cfg(target_os = "linux")]
mod permission;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod shell;
#[cfg(target_os = "linux")]
mod toolchains;
#[cfg(target_os = "linux")]
mod ways;
#[cfg(target_os = "linux")]
mod weaker;

#[cfg(target_os = "linux")]
fn main() {
    tools_exec::enter();
    if background::is_host() {
        return background::serve();
    }
    let trials = [
        programs::trials(),
        code::trials(),
        confinement::trials(),
        permission::trials(),
        git::trials(),
        hostile::trials(),
        toolchains::trials(),
        weaker::trials(),
        ways::trials(),
        daily::trials(),
        shell::trials(),
        background::trials(),
        aside::trials(),
        #[cfg(feature = "network")]
        network::trials(),
    ];
    libtest_mimic::run(
        &libtest_mimic::Arguments::from_args(),
        trials.into_iter().flatten().collect(),
    )
    .exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
