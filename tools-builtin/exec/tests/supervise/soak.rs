//! Many ends, with the distribution of their durations. Ignored by default.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::evaders::{EVADERS, Evader};
use crate::host::Host;
use crate::marker::Marker;
use crate::modes::{Mode, until};

/// The ends by `stop` of each mode.
const TIMEOUTS: usize = 1000;

/// The hosts that are killed in each mode.
const HOST_KILLS: usize = 100;

pub(crate) fn trials(mode: Mode) -> Vec<Trial> {
    let timeouts = Trial::test(format!("{}::soak::timeouts", mode.name()), move || {
        let measured =
            evaders(mode, TIMEOUTS).map(|evader| crate::modes::run(timeout(mode, evader)));
        report(mode, "stop", measured.collect());
        Ok(())
    });
    let kills = Trial::test(format!("{}::soak::host_kills", mode.name()), move || {
        let measured =
            evaders(mode, HOST_KILLS).map(|evader| crate::modes::run(host_kill(mode, evader)));
        report(mode, "host killed", measured.collect());
        Ok(())
    });
    vec![
        timeouts.with_ignored_flag(true),
        kills.with_ignored_flag(true),
    ]
}

fn evaders(mode: Mode, count: usize) -> impl Iterator<Item = Evader> {
    EVADERS
        .into_iter()
        .filter(move |evader| !evader.reaches_supervisor(mode))
        .cycle()
        .take(count)
}

/// Returns the time from `stop` to the report. Fails if a process is left then.
async fn timeout(mode: Mode, evader: Evader) -> Duration {
    let marker = Marker::new();
    let running = evader.start(mode, &marker).await;
    let stopped = Instant::now();
    running.stop();
    running.wait().await.expect("a report");
    let took = stopped.elapsed();
    marker.assert_gone();
    took
}

/// Returns the time from the death of the host until no process is left.
async fn host_kill(mode: Mode, evader: Evader) -> Duration {
    let marker = Marker::new();
    let mut host = Host::start(mode, &marker, evader).await;
    let killed = Instant::now();
    host.kill().await;
    until("no process is left", || marker.is_gone()).await;
    killed.elapsed()
}

#[expect(clippy::print_stdout, reason = "this is what the test is for")]
fn report(mode: Mode, event: &str, mut measured: Vec<Duration>) {
    measured.sort_unstable();
    let share = |percent: usize| measured[(measured.len() - 1) * percent / 100];
    println!(
        "{}, {event}, {} times: median {:?}, 90 % {:?}, 99 % {:?}, most {:?}",
        mode.name(),
        measured.len(),
        share(50),
        share(90),
        share(99),
        share(100),
    );
}
