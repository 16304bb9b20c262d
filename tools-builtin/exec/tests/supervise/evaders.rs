//! Programs that try to outlive their end.

use std::process::Stdio;

use libtest_mimic::Trial;
use tokio::process::Command;
use tools_exec::supervise::{Capture, Running, SupervisorLost};

use crate::host::Host;
use crate::marker::Marker;
use crate::modes::{Mode, line, until};

/// A script of bash that writes `ready` when its descendants exist.
#[derive(Clone, Copy)]
pub(crate) struct Evader {
    pub(crate) name: &'static str,
    script: &'static str,
}

pub(crate) const EVADERS: [Evader; 8] = [
    Evader {
        name: "new_sessions",
        script: "setsid sleep 1000 & setsid -f sleep 1000; echo ready; wait",
    },
    Evader {
        name: "double_forks",
        script: "( (sleep 1000 &) & ); (setsid bash -c '(sleep 1000 &)' &); sleep .1; echo ready; sleep 1000",
    },
    Evader {
        name: "ignores_signals",
        script: "trap '' TERM INT HUP QUIT PIPE; sleep 1000 & echo ready; while :; do sleep 1; done",
    },
    Evader {
        name: "holds_the_pipe",
        script: "setsid sleep 1000 & echo ready",
    },
    Evader {
        name: "kills_its_supervisor",
        script: "setsid sleep 1000 & echo ready; sleep .1; kill -9 $PPID; sleep 1000",
    },
    // /proc shows a process whose first thread has ended as ended.
    Evader {
        name: "ends_its_first_thread",
        script: "perl -Mthreads -e 'threads->create(sub { sleep 1000 }); \
                 syscall(`uname -m` =~ /x86_64/ ? 60 : 93, 0)' & sleep .3; echo ready; wait",
    },
    // As root, a user of its own limits it.
    Evader {
        name: "forks_without_end",
        script: "ulimit -u 300; user=; [ $UID != 0 ] || user='setpriv --reuid 64123 --clear-groups'; \
                 $user dash -c 'bomb() { bomb | bomb & bomb; }; bomb' 2>/dev/null & sleep .3; echo ready; wait",
    },
    // Four chains of processes that each fork once and end, two that replace each other, and a daemon.
    Evader {
        name: "forks_on_and_on",
        script: "nohup sleep 1000 >/dev/null 2>&1 & disown; chain() { chain & }; for i in 1 2 3 4; do chain & done; \
                 guard() { while :; do setsid sleep 1000; done; }; guard & guard & echo ready; sleep 1000",
    },
];

impl Evader {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        EVADERS.into_iter().find(|evader| evader.name == name)
    }

    pub(crate) async fn start(self, mode: Mode, marker: &Marker) -> Running<Capture> {
        let running = mode
            .start(marker, &["bash", "-c", &self.whole_script()])
            .await;
        line(&running, "ready").await;
        running
    }

    fn whole_script(self) -> String {
        format!("{}{}", Marker::HOLD, self.script)
    }

    /// Returns true if the program reaches its supervisor, which nothing else than a wall can prevent.
    pub(crate) fn reaches_supervisor(&self, mode: Mode) -> bool {
        self.name == "kills_its_supervisor" && mode == Mode::Bare
    }
}

pub(crate) fn trials(mode: Mode) -> Vec<Trial> {
    let mut trials = Vec::new();
    for evader in EVADERS {
        let name = |event: &str| format!("evaders::{}::{event}", evader.name);
        if evader.reaches_supervisor(mode) {
            trials.push(mode.trial(&name("is_reported"), async move |mode, marker| {
                is_reported(mode, &marker, evader).await
            }));
        } else {
            trials.push(mode.trial(&name("stop"), async move |mode, marker| {
                stop(mode, &marker, evader).await
            }));
            trials.push(mode.trial(&name("drop"), async move |mode, marker| {
                dropped(mode, &marker, evader).await
            }));
            trials.push(mode.trial(&name("host_killed"), async move |mode, marker| {
                killed(mode, &marker, evader).await
            }));
        }
        // The parent of the other one would be this test.
        if mode == Mode::Bare && !evader.reaches_supervisor(mode) {
            trials.push(mode.trial(&name("survives_alone"), async move |_, marker| {
                alone(&marker, evader).await
            }));
        }
    }
    trials
}

async fn stop(mode: Mode, marker: &Marker, evader: Evader) {
    let running = evader.start(mode, marker).await;
    running.stop();
    let ended = running.wait().await.expect("a report");
    marker.assert_gone();
    assert_eq!(ended.remaining, 0);
}

async fn dropped(mode: Mode, marker: &Marker, evader: Evader) {
    let running = evader.start(mode, marker).await;
    drop(running);
    until("no process is left", || marker.is_gone()).await;
}

async fn killed(mode: Mode, marker: &Marker, evader: Evader) {
    let mut host = Host::start(mode, marker, evader).await;
    host.kill().await;
    until("no process is left", || marker.is_gone()).await;
}

/// A program that may send signals to its supervisor can outlive it, and the caller learns of it.
async fn is_reported(mode: Mode, marker: &Marker, evader: Evader) {
    let running = evader.start(mode, marker).await;
    let Err(SupervisorLost { may_remain, .. }) = running.wait().await else {
        panic!("the supervisor lives")
    };
    assert!(may_remain);
    assert!(!marker.is_gone());
}

/// The positive control: without a supervisor each of them has a process that is left. It has three attempts, because the numbers of
/// processes are reused so fast that a test beside it can kill the one process of a chain.
async fn alone(marker: &Marker, evader: Evader) {
    for _ in 0..3 {
        if survives(marker, evader).await {
            return;
        }
    }
    panic!("no process is left");
}

async fn survives(marker: &Marker, evader: Evader) -> bool {
    let mut command = Command::new("bash");
    command
        .args(["-c", &evader.whole_script()])
        .env(Marker::VARIABLE, marker.path())
        .kill_on_drop(true)
        .process_group(0);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash starts");
    let first = child.id().expect("a process");
    until("it has descendants", || {
        marker.processes().iter().any(|pid| *pid != first)
    })
    .await;
    drop(child);
    until("it has ended", || !marker.processes().contains(&first)).await;
    !marker.is_gone()
}
