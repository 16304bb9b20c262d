//! The end of a server, whoever causes it.

use std::sync::Arc;

use libtest_mimic::Trial;
use tools_exec::supervise::{Exit, Launch};
use tools_mcp::client::{Launched, StdioError, StdioServer, server_command};

use crate::setup::{FAMILY, lines, pids, runs, script, script_command, trial, until};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_closed_input_lets_the_server_end_by_itself", async || {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("end");
            let polite = r#"cat >/dev/null; echo saved >"$FILE"; exit 7"#;
            let command = script_command(polite).with_env("FILE", file.to_str().unwrap());
            let server = StdioServer::new("script", command);
            let (read, write, process) = server.connect().await.unwrap();
            drop((read, write));
            let ended = process.close().await;
            assert!(
                matches!(
                    ended,
                    StdioError::Ended {
                        exit: Exit::Code(7),
                        ..
                    }
                ),
                "{ended:?}"
            );
            assert_eq!(std::fs::read_to_string(file).unwrap(), "saved\n");
        }),
        trial(
            "a_server_that_goes_on_is_killed_with_its_descendants",
            async || {
                for is_closed in [true, false] {
                    let folder = tempfile::tempdir().unwrap();
                    let file = folder.path().join("pids");
                    let command = script_command(&format!(
                        "{FAMILY}trap '' TERM HUP INT; while :; do sleep 1; done"
                    ));
                    let command = command.with_env("PIDS", file.to_str().unwrap());
                    let server = StdioServer::new("script", command);
                    let (read, write, process) = server.connect().await.unwrap();
                    let family = pids(&file, 2).await;
                    assert!(family.iter().all(|pid| runs(*pid)));
                    drop((read, write));
                    if is_closed {
                        let ended = process.close().await;
                        assert!(
                            matches!(
                                ended,
                                StdioError::Ended {
                                    exit: Exit::Signal(9),
                                    ..
                                }
                            ),
                            "{ended:?}"
                        );
                        assert!(!family.iter().any(|pid| runs(*pid)));
                    } else {
                        drop(process);
                        until("the family is gone", || {
                            !family.iter().any(|pid| runs(*pid))
                        })
                        .await;
                    }
                }
            },
        ),
        trial(
            "what_a_server_needs_is_kept_until_its_process_is_gone",
            async || {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("pids");
                let (line, kept) = (format!("{FAMILY}cat"), Arc::new(()));
                let launch = Launch::new("sh").with_args(["-c", &line]);
                let launch = launch.with_env("PIDS", file.to_str().unwrap());
                let held = kept.clone();
                let server = StdioServer::from_launcher("script", move || {
                    let launched = Launched {
                        launch: launch.clone(),
                        kept: held.clone(),
                        remarks: None,
                    };
                    async { Ok(launched) }
                });
                let connection = server.connect().await.unwrap();
                let family = pids(&file, 2).await;
                drop(connection);
                // This one and that of the launcher.
                until("it is dropped", || Arc::strong_count(&kept) == 2).await;
                assert!(!family.iter().any(|pid| runs(*pid)));
            },
        ),
        trial(
            "a_message_without_the_end_of_its_line_is_read_while_the_server_runs",
            async || {
                let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
                let words = format!(
                    "printf '%s' '{}'; sleep 0.1; printf '%s' '{}'; exec sleep 60",
                    &message[..9],
                    &message[9..]
                );
                let (mut read, _write, _process) = script(&words).connect().await.unwrap();
                let mut text = vec![0; message.len()];
                let reading = tokio::io::AsyncReadExt::read_exact(&mut read, &mut text);
                tokio::time::timeout(std::time::Duration::from_secs(20), reading)
                    .await
                    .unwrap()
                    .unwrap();
                assert_eq!(String::from_utf8(text).unwrap(), message);
            },
        ),
        trial("an_early_end_is_reported_with_the_last_words", async || {
            let words = "for n in 1 2 3 4 5 6 7; do echo \"line $n\" >&2; done; exit 3";
            let (read, _write, process) = script(words).connect().await.unwrap();
            assert!(lines(read).await.is_empty());
            let ended = process.wait_end().await;
            assert!(
                matches!(
                    ended,
                    StdioError::Ended {
                        exit: Exit::Code(3),
                        ..
                    }
                ),
                "{ended:?}"
            );
            assert!(
                ended
                    .to_string()
                    .ends_with("it wrote: line 3 / line 4 / line 5 / line 6 / line 7"),
                "{ended}"
            );
        }),
        trial(
            "an_early_end_is_reported_with_the_last_words_on_standard_output",
            async || {
                let words = "echo note >&2; echo Traceback; for n in 1 2 3 4; do echo \"  line $n\"; done; echo 'KeyError: K'; exit 3";
                let (read, _write, process) = script(words).connect().await.unwrap();
                assert!(lines(read).await.is_empty());
                let ended = process.wait_end().await.to_string();
                assert!(
                    ended.ends_with(
                        "it wrote: note / line 1 / line 2 / line 3 / line 4 / KeyError: K"
                    ),
                    "{ended}"
                );
            },
        ),
        trial("a_program_that_does_not_exist_is_not_started", async || {
            for name in ["no-such-program", "/no/such/program"] {
                let Err(error) = StdioServer::new(name, server_command(name)).connect().await
                else {
                    panic!("{name} was started")
                };
                assert!(
                    matches!(&error, StdioError::Start { reason } if reason.contains(name)),
                    "{error:?}"
                );
            }
            let mut command = script_command("true");
            command.cwd = Some("/no/such/folder".into());
            let Err(error) = StdioServer::new("script", command).connect().await else {
                panic!("was started")
            };
            assert!(error.to_string().contains("/no/such/folder"), "{error}");
        }),
    ]
}
