//! A server behind the walls of a grant.

use std::sync::Arc;

use libtest_mimic::Trial;
use tools::{Grant, Host};
use tools_exec::{Prepared, Sandbox};
use tools_fs::Workspace;
use tools_mcp::client::{Launched, StdioServer};

use crate::setup::{lines, trial};

/// Tells which files it can read and write.
const SCRIPT: &str = r#"
try() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }
read=$(try cat docs/open); denied=$(try cat hidden/closed); write=$(try sh -c 'echo x >docs/open')
printf '{"jsonrpc":"2.0","id":"%s %s %s %s"}\n' "$read" "$denied" "$write" "$MODE"
"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial(
        "a_server_with_a_grant_reaches_the_granted_files_alone",
        async || {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for (directory, file) in [("docs", "open"), ("hidden", "closed")] {
                std::fs::create_dir(root.join(directory)).unwrap();
                std::fs::write(root.join(directory).join(file), "text").unwrap();
            }
            let cx = Host::new()
                .with_grant(Grant::parse(["fs:read:docs/**"]).unwrap())
                .with_service(Workspace::open(&root).unwrap())
                .with_service(Sandbox::default());
            let cx = Arc::new(cx);
            let server = StdioServer::from_launcher("confined", move || {
                let cx = cx.clone();
                async move {
                    let args = ["-c".to_owned(), SCRIPT.to_owned()];
                    let prepared =
                        Prepared::new(&cx, "sh", &args, &["MODE=test".to_owned()], ".").await?;
                    Ok(Launched {
                        launch: prepared.launch().clone(),
                        kept: Arc::new(prepared),
                        remarks: None,
                    })
                }
            });
            // Each connection has walls of its own.
            for _ in 0..2 {
                let (read, _write, process) = server.connect().await.unwrap();
                let messages = lines(read).await;
                assert_eq!(
                    messages,
                    [r#"{"jsonrpc":"2.0","id":"yes no no test"}"#],
                    "{}",
                    process.wait_end().await
                );
            }
        },
    )]
}
