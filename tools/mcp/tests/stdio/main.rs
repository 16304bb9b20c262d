//! Servers that are child processes, judged from outside by `/proc`. This program is also the host that tests kill, and a server.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod import;
#[cfg(target_os = "linux")]
mod peer;
#[cfg(target_os = "linux")]
mod served;
#[cfg(target_os = "linux")]
mod servers;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod walls;

#[cfg(target_os = "linux")]
fn main() {
    if std::env::args().nth(1).as_deref() == Some(host::WITHOUT_ENTER) {
        return host::without_enter();
    }
    tools_exec::enter();
    match std::env::args().nth(1).as_deref() {
        Some(host::HOST) => return host::serve(),
        Some(peer::SERVER) => return peer::serve(),
        Some(served::TOOLS) => return served::serve(),
        _ => {}
    }
    let trials = [
        ends::trials(),
        host::trials(),
        hostile::trials(),
        import::trials(),
        peer::trials(),
        served::trials(),
        servers::trials(),
        streams::trials(),
        walls::trials(),
    ];
    let arguments = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
