//! The lines of a server, and its environment.

use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tools_mcp::client::StdioServer;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::setup::{line, lines, script, script_command, trial};

const NOISE: &str = r#"
echo 'Server started'
echo '{"level":"info","msg":"a log line"}'
printf '\033[31mred\033[0m\r\n'
echo '{"jsonrpc":"2.0","method":"notifications/progress"}'
echo
printf '{"jsonrpc":"2.0",'; echo '"id":1,"result":"one"}'
head -c 100000 /dev/zero | tr '\0' 'n'; echo
echo 'to the log' >&2
printf 'without an end'
"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "lines_that_are_no_messages_go_to_the_log_in_short",
            async || {
                let log = Log::default();
                let _guard = tracing::subscriber::set_default(
                    tracing_subscriber::registry().with(log.clone()),
                );
                let (read, _write, process) = script(NOISE).connect().await.unwrap();
                let messages = [
                    r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
                    r#"{"jsonrpc":"2.0","id":1,"result":"one"}"#,
                ];
                assert_eq!(lines(read).await, messages);
                process.wait_end().await;
                let mut logged = log.0.lock().unwrap().clone();
                logged.sort();
                let n = "n".repeat(500) + "…";
                let expected = [
                    r#"script stdout {"level":"info","msg":"a log line"}"#,
                    "script stderr to the log",
                    "script stdout <U+001B>[31mred<U+001B>[0m",
                    "script stdout Server started",
                    &format!("script stdout {n}"),
                    "script stdout without an end",
                ];
                let mut expected = expected.map(str::to_owned).to_vec();
                expected.sort();
                assert_eq!(logged, expected);
            },
        ),
        trial(
            "messages_are_written_and_a_dropped_writer_ends_the_input",
            async || {
                let echo = r#"while read -r line; do echo "$line"; done; echo '{"jsonrpc":"2.0","id":"end"}'"#;
                let (read, mut write, process) = script(echo).connect().await.unwrap();
                let mut read = BufReader::new(read);
                for number in 0..3 {
                    let message =
                        format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{{}}}}\n");
                    write.write_all(message.as_bytes()).await.unwrap();
                    assert_eq!(line(&mut read).await, message);
                }
                drop(write);
                assert_eq!(
                    line(&mut read).await,
                    "{\"jsonrpc\":\"2.0\",\"id\":\"end\"}\n"
                );
                assert_eq!(line(&mut read).await, "");
                process.wait_end().await;
            },
        ),
        trial(
            "the_environment_is_a_list_of_names_and_what_the_user_set",
            async || {
                let names = r#"printf '{"jsonrpc":"2.0","id":"%s"}\n' "$(env | cut -d= -f1 | sort | tr '\n' ' ')""#;
                let command = script_command(names)
                    .with_env("MY_TOKEN", "t")
                    .with_env("LANG", "C");
                let server = StdioServer::new("script", command);
                let (read, _write, _process) = server.connect().await.unwrap();
                let message: serde_json::Value =
                    serde_json::from_str(&lines(read).await[0]).unwrap();
                let names: Vec<_> = message["id"].as_str().unwrap().split_whitespace().collect();
                // Cargo sets variables for tests.
                assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
                let allowed = [
                    "HOME",
                    "LANG",
                    "LANGUAGE",
                    "LC_ALL",
                    "LC_CTYPE",
                    "LC_MESSAGES",
                    "LOGNAME",
                    "MY_TOKEN",
                    "PATH",
                    "SHELL",
                    "TEMP",
                    "TERM",
                    "TMP",
                    "TMPDIR",
                    "TZ",
                    "USER", // The shell's own.
                    "OLDPWD",
                    "PWD",
                    "SHLVL",
                    "_",
                ];
                assert!(
                    names.contains(&"MY_TOKEN") && names.iter().all(|name| allowed.contains(name)),
                    "{names:?}"
                );
            },
        ),
        trial(
            "a_variable_of_the_user_replaces_that_of_this_process",
            async || {
                assert!(std::env::var_os("PATH").is_some() && std::env::var_os("HOME").is_some());
                let command = script_command("echo \"{$HOME}\"; exit 3").with_env("HOME", "/srv");
                let server = StdioServer::new("script", command);
                let (read, _write, process) = server.connect().await.unwrap();
                assert!(lines(read).await.is_empty());
                let ended = process.wait_end().await.to_string();
                assert!(ended.ends_with("it wrote: {/srv}"), "{ended}");
            },
        ),
        trial("the_working_directory_is_that_of_the_user", async || {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(
                folder.path().join("message"),
                "{\"jsonrpc\":\"2.0\",\"id\":\"here\"}\n",
            )
            .unwrap();
            let mut command = script_command("cat message");
            command.cwd = Some(folder.path().to_owned());
            let (read, _write, _process) =
                StdioServer::new("script", command).connect().await.unwrap();
            assert_eq!(lines(read).await, [r#"{"jsonrpc":"2.0","id":"here"}"#]);
        }),
    ]
}

/// Collects the events of the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "tools_mcp::server" {
            let mut fields = Fields::default();
            event.record(&mut fields);
            self.0.lock().unwrap().push(format!(
                "{} {} {}",
                fields.server, fields.stream, fields.message
            ));
        }
    }
}

#[derive(Default)]
struct Fields {
    server: String,
    stream: String,
    message: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        match field.name() {
            "server" => self.server = format!("{value:?}"),
            "stream" => self.stream = format!("{value:?}"),
            _ => self.message = format!("{value:?}"),
        }
    }
}
