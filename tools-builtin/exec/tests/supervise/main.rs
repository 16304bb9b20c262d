//! Programs below a supervisor, judged from outside by `/proc`. Shows each promise without walls and inside of bubblewrap.
//!
//! A program of its own, because it is also the host that tests kill. Unlike `run` it needs no feature, and unlike `walls` it has a long
//! run whose cases run one after the other, because they measure times: `cargo test -p toolcrib-exec --test supervise -- --ignored`.

#[cfg(target_os = "linux")]
mod evaders;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod marker;
#[cfg(target_os = "linux")]
mod modes;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod supervisors;

#[cfg(target_os = "linux")]
fn main() {
    if std::env::args().nth(1).as_deref() == Some(host::WITHOUT_ENTER) {
        return host::without_enter();
    }
    tools_exec::enter();
    if host::is_host() {
        return host::serve();
    }
    let mut trials = Vec::new();
    for mode in modes::available() {
        trials.extend(programs::trials(mode));
        trials.extend(output::trials(mode));
        trials.extend(supervisors::trials(mode));
        trials.extend(evaders::trials(mode));
        trials.extend(soak::trials(mode));
    }
    trials.extend(host::trials());
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
