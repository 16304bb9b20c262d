//! How supervisors end.

use libtest_mimic::Trial;
use rustix::process::Signal;
use tools_exec::supervise::{Exit, SupervisorLost};

use crate::evaders::EVADERS;
use crate::marker::{parent, signal};
use crate::modes::{Mode, until};

pub(crate) fn trials(mode: Mode) -> Vec<Trial> {
    let mut trials = vec![
        mode.trial(
            "supervisors::one_that_is_asked_to_end_ends_the_program",
            async |mode, marker| {
                for asked in [Signal::TERM, Signal::INT, Signal::HUP] {
                    let running = EVADERS[0].start(mode, &marker).await;
                    signal(parent(running.pid).expect("a supervisor"), asked);
                    let ended = running.wait().await.expect("a report");
                    assert_eq!((ended.exit, ended.remaining), (Exit::Signal(9), 0));
                    marker.assert_gone();
                }
            },
        ),
        mode.trial(
            "supervisors::one_that_is_stopped_goes_on_later",
            async |mode, marker| {
                let running = EVADERS[0].start(mode, &marker).await;
                let supervisor = parent(running.pid).expect("a supervisor");
                signal(supervisor, Signal::STOP);
                drop(running);
                signal(supervisor, Signal::CONT);
                until("no process is left", || marker.is_gone()).await;
            },
        ),
        mode.trial("supervisors::none_remains", async |mode, marker| {
            let running = mode.sh(&marker, "sleep 1000").await;
            let supervisor = parent(running.pid).expect("a supervisor");
            running.stop();
            running.wait().await.expect("a report");
            until("the supervisor is reaped", || parent(supervisor).is_none()).await;
            let running = mode.sh(&marker, "sleep 1000").await;
            let supervisor = parent(running.pid).expect("a supervisor");
            drop(running);
            until("the supervisor is reaped", || parent(supervisor).is_none()).await;
        }),
    ];
    if mode == Mode::Bubblewrap {
        trials.push(mode.trial(
            "supervisors::a_wall_ends_with_its_supervisor",
            async |mode, marker| {
                for evader in EVADERS {
                    let running = evader.start(mode, &marker).await;
                    if let Some(supervisor) = parent(running.pid) {
                        signal(supervisor, Signal::KILL);
                        let lost = running.wait().await;
                        // One of them may have ended before.
                        assert!(
                            matches!(
                                lost,
                                Ok(_)
                                    | Err(SupervisorLost {
                                        may_remain: false,
                                        ..
                                    })
                            ),
                            "{lost:?}"
                        );
                    }
                    until("no process is left", || marker.is_gone()).await;
                }
            },
        ));
    }
    trials
}
