//! Probes from inside a confined program, each with a positive control outside, for each combination of layers and each user.
//!
//! A program of its own, because it is also the host, which the sandbox starts again. Unlike `run` it needs no feature, and unlike
//! `supervise` it has a long run whose cases run at the same time. `cargo test -p toolcrib-exec --test walls` runs the two confinements, as the
//! current user. `-- --include-ignored` adds bubblewrap without Landlock and, for root, another user. Cases that this machine cannot run
//! are listed with the reason.

#![allow(
    clippy::unwrap_used,
    reason = "these are tests, although the harness is not that of Rust"
)]

#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod grants;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod site;
#[cfg(target_os = "linux")]
mod work;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    tools_exec::enter();
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = refusals::trials();
    for case in case::all() {
        let from = trials.len();
        let mut probes = vec![network::probes()];
        // The network changes none of the other walls.
        if !case.has_network() {
            probes.extend([
                files::probes(),
                processes::probes(),
                kernel::probes(),
                resources::probes(),
            ]);
        }
        trials.extend(
            probes
                .into_iter()
                .flatten()
                .filter(|probe| probe.suits(&case))
                .map(|probe| probe.trial(case.clone())),
        );
        if case.has_network() {
            trials.push(network::trial(&case));
        } else {
            trials.extend(work::trials(&case));
            trials.extend(grants::trials(&case));
        }
        if case.is_long() {
            let long: Vec<_> = trials
                .drain(from..)
                .map(|trial| trial.with_ignored_flag(true))
                .collect();
            trials.extend(long);
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
