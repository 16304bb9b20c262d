//! Servers that write more than anyone reads.

use libtest_mimic::Trial;
use tokio::io::{AsyncReadExt as _, BufReader};
use tools_mcp::client::{StdioError, StdioServer};

use crate::setup::{FAMILY, line, pids, runs, script, script_command, trial, until};

const MIB: usize = 1024 * 1024;

/// More than the process uses otherwise, and less than one of the servers writes.
const FLAT: usize = 160 * MIB;

/// Returns the most memory that the process has used, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        * 1024
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_line_of_64_mib_ends_the_connection_with_flat_memory",
            async || {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("pids");
                let long = r#"printf '{"jsonrpc":"2.0","id":"'; head -c 67108864 /dev/zero | tr '\0' x; echo '"}'; cat"#;
                let server = script_command(&format!("{FAMILY}{long}"))
                    .with_env("PIDS", file.to_str().unwrap());
                let server = StdioServer::new("script", server);
                let (mut read, write, process) = server.connect().await.unwrap();
                let error = read.read_to_end(&mut Vec::new()).await.unwrap_err();
                let fault = error.get_ref().unwrap().downcast_ref::<StdioError>();
                assert!(
                    matches!(fault, Some(StdioError::LineTooLong { limit: 16_777_216 })),
                    "{error:?}"
                );
                // The connection does not come back.
                assert!(read.read(&mut [0]).await.is_err());
                let family = pids(&file, 2).await;
                drop((read, write));
                assert!(matches!(
                    process.close().await,
                    StdioError::LineTooLong { .. }
                ));
                assert!(family.into_iter().all(|pid| !runs(pid)));
                assert!(peak() < FLAT, "{}", peak() / MIB);
            },
        ),
        trial(
            "a_line_of_16_mib_is_a_message_and_one_of_a_byte_more_is_not",
            async || {
                // The rest of the line has 26 bytes.
                for (length, fits) in [(16 * MIB - 26, true), (16 * MIB - 25, false)] {
                    let long = format!(
                        r#"printf '{{"jsonrpc":"2.0","id":"'; head -c {length} /dev/zero | tr '\0' x; echo '"}}'"#
                    );
                    let (mut read, _write, _process) = script(&long).connect().await.unwrap();
                    let mut bytes = Vec::new();
                    assert_eq!(read.read_to_end(&mut bytes).await.is_ok(), fits);
                    assert!(!fits || bytes.len() == 16 * MIB, "{}", bytes.len());
                }
            },
        ),
        trial("a_flood_that_is_not_read_waits_in_the_server", async || {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("written");
            let flood = r#"yes '{"jsonrpc":"2.0","method":"notifications/progress"}' | head -c 8388608; echo >"$FILE""#;
            let command = script_command(flood).with_env("FILE", file.to_str().unwrap());
            let server = StdioServer::new("script", command);
            let (mut read, _write, process) = server.connect().await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            assert!(!file.exists());
            let mut bytes = Vec::new();
            read.read_to_end(&mut bytes).await.unwrap();
            process.wait_end().await;
            // The last line has no end.
            assert!(
                bytes.len() > 8 * MIB - 100 && file.exists(),
                "{}",
                bytes.len()
            );
        }),
        trial("a_flood_of_lines_for_the_log_is_not_kept", async || {
            let flood = r#"yes 'noise noise noise' | head -c 10000000 | tee /dev/stderr; echo; echo '{"jsonrpc":"2.0","id":"1"}'"#;
            let (read, _write, _process) = script(flood).connect().await.unwrap();
            assert_eq!(
                line(&mut BufReader::new(read)).await,
                "{\"jsonrpc\":\"2.0\",\"id\":\"1\"}\n"
            );
            assert!(peak() < FLAT, "{}", peak() / MIB);
        }),
        trial(
            "json_nested_5_000_000_deep_is_read_without_its_deepest_levels",
            async || {
                let deep = r#"
                printf '{"jsonrpc":"2.0","id":"call","result":'
                head -c 5000000 /dev/zero | tr '\0' '['; head -c 5000000 /dev/zero | tr '\0' ']'; echo '}'
                head -c 5000000 /dev/zero | tr '\0' '['; echo
                echo '{"jsonrpc":"2.0","id":"next"}'"#;
                let (read, _write, _process) = script(deep).connect().await.unwrap();
                let mut read = BufReader::new(read);
                let cut: serde_json::Value = serde_json::from_str(&line(&mut read).await).unwrap();
                assert!(
                    cut["id"] == "call"
                        && cut["result"].is_array()
                        && cut.to_string().contains("levels")
                );
                assert_eq!(
                    line(&mut read).await,
                    "{\"jsonrpc\":\"2.0\",\"id\":\"next\"}\n"
                );
            },
        ),
        trial(
            "a_dropped_reader_does_not_keep_the_server_alive",
            async || {
                let (read, write, process) = script("yes '{\"jsonrpc\":\"2.0\"}'")
                    .connect()
                    .await
                    .unwrap();
                drop((read, write));
                process.close().await;
                until("memory is known", || peak() > 0).await;
            },
        ),
    ]
}
