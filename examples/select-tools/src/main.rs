//! Run with `cargo run -p example-select-tools`: one catalog, two sessions with different tools.

#![allow(clippy::print_stdout)]

use agent::{Selection, Session};
use serde_json::json;
use tools::{Grant, Host};

tools::link!(tools_builtin);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = tools_builtin::fs::Workspace::open(".")?;
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**", "clock:read:**"])?)
        .with_service(workspace);

    // Both sessions select from everything that is linked.
    let reader = Session::new(
        tools::list(),
        Selection::parse(["fs.*"])?.with_read_only(true),
        cx.clone(),
    );
    let clock = Session::new(tools::list(), Selection::parse(["*", "!fs.*"])?, cx);

    for (name, session) in [("reader", &reader), ("clock", &clock)] {
        let tools: Vec<_> = session
            .tools()
            .list()
            .iter()
            .map(|entry| entry.name().as_str())
            .collect();
        println!(
            "{name} has {} [{}]",
            tools.join(", "),
            session.tools().digest()
        );
    }

    println!(
        "clock: {}",
        clock.execute("time.now", json!({})).await?.to_text()
    );
    println!(
        "reader: {} bytes of listing",
        reader.execute("fs.list", json!({})).await?.to_text().len()
    );

    // A session cannot call a tool outside its set.
    if let Err(error) = clock
        .execute("fs.read", json!({"path": "Cargo.toml"}))
        .await
    {
        println!("clock: {error}");
    }
    Ok(())
}
