//! The start of a process that uses a server of 10,000 pinned tools, which is not connected: reading the pins, importing the tools, and
//! the index of the first search.

use agent::{Selection, ToolFinder, ToolSet};
use serde_json::{Value, json};
use tools::{Host, Services, SharedCatalog, Tool};
use tools_mcp::client::{Import, Review, ServerName, ServerTool, Servers};
use tools_mcp::config::ServerSettings;
use tools_mcp::trust::Pins;

use crate::chat::runtime;
use crate::clock::ProcessorTime;
use crate::definitions;
use crate::figure::Figure;
use crate::registration::texts;
use crate::round::{ROUNDS, Round, in_turn};
use crate::table::{Table, short};

pub(crate) const FIGURE: Figure = Figure {
    name: "pinned-tools",
    measure,
    round,
};

fn measure(table: &mut Table) {
    if definitions::read().is_none() {
        return table.note(definitions::MISSING);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.lock");
    let path = path.to_str().unwrap();
    pin(path);
    let [figures] = in_turn(ROUNDS, |_| {
        Round::start("compare", &["round", FIGURE.name, path])
    });
    let figures: Vec<_> = figures.iter().map(|figure| short(*figure)).collect();
    table.tell(
        "a tool of a server with 10,000 pinned ones, at the start of a process: reading the pins / importing / the index of the first search, processor time",
        &format!("{} µs", figures.join(" / ")),
        "≤ 5 µs",
    );
}

/// Pins the tools, as the first list of a server does.
fn pin(path: &str) {
    let pins = open(path);
    for (number, text) in texts("real").iter().take(10_000).enumerate() {
        let row: Value = serde_json::from_str(text).unwrap();
        let name = format!("t{number}");
        let (description, parameters) = (row["description"].as_str(), &row["parameters"]);
        let definition =
            json!({"name": name, "description": description, "inputSchema": parameters});
        let definition = ServerTool::from_json(definition).unwrap();
        let tool = Tool::new(
            format!("mcp:s/{name}"),
            description.unwrap_or_default(),
            parameters.clone(),
        );
        drop(pins.review(&definition, tool.unwrap()).unwrap());
    }
    pins.end_list(false);
}

fn open(path: &str) -> Pins {
    Pins::open(path, server(), ServerSettings::default()).unwrap()
}

fn server() -> ServerName {
    ServerName::new("s").unwrap()
}

fn round(arguments: &[String]) -> Round {
    let start = ProcessorTime::now();
    let pins = open(&arguments[0]);
    let read = ProcessorTime::now();
    let catalog = SharedCatalog::new();
    let mut import = Import::from_streams(server(), || async {
        Err::<(tokio::io::Empty, tokio::io::Sink), _>(std::io::ErrorKind::NotConnected.into())
    });
    import.known = pins.known_tools();
    import.review = Some(std::sync::Arc::new(pins));
    let runtime = runtime();
    let _entered = runtime.enter();
    let servers = Servers::new(catalog.clone());
    servers.import(import).unwrap();
    let imported = ProcessorTime::now();
    let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
    let count = set.list().len();
    let found = ToolFinder::new(set).search(&Host::new(), "send a message to a channel", 8);
    let indexed = ProcessorTime::now();
    let tools = count as f64;
    Round {
        figures: vec![
            read.since(&start) / tools,
            imported.since(&read) / tools,
            indexed.since(&imported) / tools,
        ],
        result: format!("{count} {}", found.found.len()),
    }
}
