//! How programs start and end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use libtest_mimic::Trial;
use tools_exec::supervise::{
    Capture, Exit, Launch, Ring, Running, StartError, Status, StdinError, start,
};

use crate::marker::{Marker, parent, stat};
use crate::modes::{Mode, line, until};

pub(crate) fn trials(mode: Mode) -> Vec<Trial> {
    let mut trials = vec![
        mode.trial(
            "programs::an_exit_code_is_reported",
            async |mode, marker| {
                let running = mode.sh(&marker, "echo out; echo err >&2; exit 7").await;
                let ended = running.wait().await.expect("a report");
                assert_eq!((ended.exit, ended.remaining), (Exit::Code(7), 0));
                assert_eq!(
                    (
                        running.stdout().head.as_str(),
                        running.stderr().head.as_str()
                    ),
                    ("out\n", "err\n")
                );
                assert_eq!(running.status(), Status::Ended(ended));
            },
        ),
        mode.trial(
            "programs::what_is_left_behind_is_ended",
            async |mode, marker| {
                let running = mode.sh(&marker, "setsid sleep 1000 & sleep .1").await;
                let ended = running.wait().await.expect("a report");
                assert_eq!(ended.exit, Exit::Code(0));
                marker.assert_gone();
            },
        ),
        mode.trial(
            "programs::the_session_of_the_host_is_left",
            async |mode, marker| {
                let running = mode.sh(&marker, "echo ready; sleep 1000").await;
                line(&running, "ready").await;
                let session = |pid| stat(pid).map(|fields| fields[3].clone());
                for pid in marker.processes() {
                    assert_ne!(session(pid), session(std::process::id()));
                }
            },
        ),
        mode.trial(
            "programs::the_environment_of_the_host_is_not_inherited",
            async |mode, marker| {
                let running = mode.start(&marker, &["env"]).await;
                running.wait().await.expect("a report");
                let allowed = ["PATH", "PWD", Marker::VARIABLE];
                for variable in running.stdout().head.lines() {
                    assert!(
                        allowed.contains(&variable.split('=').next().unwrap_or_default()),
                        "{variable}"
                    );
                }
                let running = mode.sh(&marker, "sleep 1000").await;
                let supervisor = parent(running.pid).expect("a supervisor");
                let environ = fs::read_to_string(format!("/proc/{supervisor}/environ"))
                    .expect("its environment");
                for variable in environ.split_terminator('\0') {
                    assert!(variable.starts_with("LD_LIBRARY_PATH="), "{variable}");
                }
            },
        ),
        mode.trial(
            "programs::orphans_that_end_are_reaped",
            async |mode, marker| {
                let running = mode
                    .sh(
                        &marker,
                        "for i in 1 2 3 4 5; do (true &); done; echo ready; sleep 1000",
                    )
                    .await;
                line(&running, "ready").await;
                let supervisor = parent(running.pid).expect("a supervisor");
                let children = || {
                    crate::marker::pids()
                        .filter(|pid| parent(*pid) == Some(supervisor))
                        .count()
                };
                until("one child is left", || children() == 1).await;
            },
        ),
        mode.trial(
            "programs::one_in_the_background_is_read_and_written",
            async |mode, marker| {
                let launch = mode.launch(&marker, &["cat"]);
                let running: Running<Ring> = start(&launch, Ring::new(100), Ring::new(100))
                    .await
                    .expect("cat starts");
                for word in ["one\n", "two\n"] {
                    running.write(word.as_bytes()).await.expect("cat reads");
                    let mut read = String::new();
                    until("cat answers", || {
                        read.push_str(&running.with_stdout(Ring::read).text);
                        read == word
                    })
                    .await;
                }
                assert_eq!(running.status(), Status::Running);
                running.stop();
                running.wait().await.expect("a report");
                assert!(running.with_stdout(Ring::read).finished);
                assert!(matches!(
                    running.write(b"three\n").await,
                    Err(StdinError::Closed)
                ));
            },
        ),
        mode.trial("programs::a_start_can_be_given_up", async |mode, marker| {
            for wait in 0..40 {
                let start = mode.sh(&marker, "setsid sleep 1000 & sleep 1000");
                // Whether it starts in time does not matter.
                let _ = tokio::time::timeout(Duration::from_micros(wait * 250), start).await;
            }
            until("no process is left", || marker.is_gone()).await;
        }),
        mode.trial("programs::two_run_side_by_side", async |mode, marker| {
            let (one, two) = tokio::join!(
                mode.sh(&marker, "sleep 1000"),
                mode.sh(&marker, "sleep 1000")
            );
            one.stop();
            one.wait().await.expect("a report");
            assert_eq!(two.status(), Status::Running);
            assert!(marker.processes().contains(&two.pid));
        }),
    ];
    if mode == Mode::Bare {
        trials.extend(bare_trials());
    }
    trials
}

/// The outermost wall starts in any case, and reports the signal of its program as a code.
fn bare_trials() -> Vec<Trial> {
    vec![
        Mode::Bare.trial("programs::a_signal_is_reported", async |mode, marker| {
            let running = mode.sh(&marker, "kill -SEGV $$").await;
            assert_eq!(running.wait().await.expect("a report").exit, Exit::Signal(11));
            let running = mode.sh(&marker, "sleep 1000").await;
            running.stop();
            assert_eq!(running.wait().await.expect("a report").exit, Exit::Signal(9));
        }),
        Mode::Bare.trial("programs::a_missing_program_is_named", async |_, _| {
            let error = refused(Launch::new("no-such-program").with_env("PATH", "/usr/bin")).await;
            assert!(matches!(&error, StartError::NotFound { program } if program == "no-such-program"), "{error:?}");
        }),
        Mode::Bare.trial("programs::a_file_that_is_no_program_is_named", async |_, _| {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("file");
            fs::write(&file, [0; 100]).expect("a file");
            for mode in [0o600, 0o700] {
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("its mode");
                let error = refused(Launch::new(&file)).await;
                assert!(matches!(&error, StartError::NotExecutable { program } if *program == file), "{error:?}");
            }
            let error = refused(Launch::new(folder.path())).await;
            assert!(matches!(&error, StartError::NotExecutable { .. }), "{error:?}");
        }),
        Mode::Bare.trial("programs::a_missing_directory_is_named", async |_, _| {
            for cwd in ["/no/such/directory", "/dev/null"] {
                let error = refused(Launch { cwd: Some(cwd.into()), ..Launch::new("/bin/true") }).await;
                assert!(
                    matches!(&error, StartError::NoDirectory { cwd: named } if named.as_os_str() == cwd),
                    "{error:?}"
                );
            }
        }),
        Mode::Bare.trial("programs::a_command_line_keeps_its_bytes", async |mode, marker| {
            use std::os::unix::ffi::OsStrExt as _;
            let bytes = std::ffi::OsStr::from_bytes(b"a\xFFb\n \"");
            let launch =
                mode.launch(&marker, &["sh", "-c", "printf %s \"$0$1\" | od -An -tx1 | tr -d ' \\n'; pwd", "x"]);
            let launch = Launch { cwd: Some("/usr".into()), ..launch.with_args([bytes]) };
            let running = start(&launch, Capture::new(100), Capture::new(100)).await.expect("sh starts");
            running.wait().await.expect("a report");
            assert_eq!(running.stdout().head, "7861ff620a2022/usr\n");
        }),
    ]
}

async fn refused(launch: Launch) -> StartError {
    let started = start(&launch, Capture::new(100), Capture::new(100)).await;
    started.err().expect("the program cannot start")
}
