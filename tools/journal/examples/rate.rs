//! Measures journalled calls per second: `cargo run --release -p toolcrib-journal --example rate [DIRECTORY]`
//!
//! A call writes two records. It continues after each one is acknowledged.

#![allow(clippy::print_stdout, reason = "the example prints its measurements")]

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::{Catalog, Effects, Host, Tool, ToolContext};
use tools_journal::{Durability, JournalOptions, SqliteJournal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut catalog = Catalog::new();
    let tool = Tool::new("nothing", "Does nothing.", json!({"type": "object"}))?
        .with_effects(Effects::Pure);
    catalog.register(tool, async |_: ToolContext, _: Value| "done".to_owned())?;
    let catalog = Arc::new(catalog);

    println!(
        "{:>10} {:>6} {:>12} {:>12}",
        "durability", "tasks", "calls/s", "records/s"
    );
    for durability in [Durability::Power, Durability::Process] {
        for tasks in [1, 16, 256] {
            let folder = tempfile::tempdir_in(&directory)?;
            let options = JournalOptions {
                durability,
                ..JournalOptions::default()
            };
            let journal = Arc::new(SqliteJournal::open(
                folder.path().join("calls.journal"),
                options,
            )?);
            let calls = if durability == Durability::Power {
                200 * tasks.min(50)
            } else {
                20_000
            };
            let since = Instant::now();
            let each = |task: u32| {
                let (catalog, cx) = (
                    catalog.clone(),
                    Host::new().with_journal(journal.clone()).with_session("s"),
                );
                tokio::spawn(async move {
                    for number in 0..calls / tasks {
                        let cx = cx
                            .clone()
                            .with_place(CallPlace::new(u64::from(task), number));
                        tools::call::execute(
                            catalog.clone(),
                            &cx,
                            "nothing",
                            json!({"number": number}),
                        )
                        .await?;
                    }
                    Ok::<_, tools::ToolError>(())
                })
            };
            let running: Vec<_> = (0..tasks).map(each).collect();
            for task in running {
                task.await??;
            }
            let rate = f64::from(calls / tasks * tasks) / since.elapsed().as_secs_f64();
            println!(
                "{:>10} {tasks:>6} {rate:>12.0} {:>12.0}",
                format!("{durability:?}"),
                2.0 * rate
            );
        }
    }
    Ok(())
}
