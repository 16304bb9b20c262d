//! Programs with a network, judged from outside. This binary is also the host.

#![allow(clippy::unwrap_used, reason = "these are tests, although the harness is not that of Rust")]

#[cfg(target_os = "linux")]
mod alone;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod reach;
#[cfg(target_os = "linux")]
mod registries;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() {
    tools_exec::enter();
    let trials = [alone::trials(), programs::trials(), reach::trials(), registries::trials()];
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.into_iter().flatten().collect()).exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
