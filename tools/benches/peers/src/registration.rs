//! Registering tools, beside keeping their definitions: those of a made up tool, and real ones.

use benches::ORDER_TOOL;
use serde_json::Value;
use tools::{Catalog, Effects, Tool, ToolContext};

use crate::clock::ProcessorTime;
use crate::definitions;
use crate::figure::Figure;
use crate::heap::HEAP;
use crate::round::{ROUNDS, Round, SIDES, UNCOUNTED, can_count, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "registration",
    measure,
    round,
};

/// The tools. The definitions are repeated under other names.
const TOOLS: usize = 12_000;

fn measure(table: &mut Table) {
    if !can_count() {
        return table.note(UNCOUNTED);
    }
    let mut rows = |definitions, description: &str| {
        let [toolcrib, peer] = in_turn(ROUNDS, |side| {
            Round::start("heap", &["round", FIGURE.name, SIDES[side], definitions])
        });
        table.compare(
            &format!("registering {description}, beside serde_json's value of it, processor time"),
            "µs",
            [toolcrib[0], peer[0]],
            "",
        );
        table.compare(
            "heap that it keeps",
            "KB",
            [toolcrib[1], peer[1]],
            "≤ 20 KB",
        );
    };
    rows("order", "a tool with 1.8 KB of schema");
    if definitions::read().is_some() {
        rows("real", "a tool of 12,000 real ones");
    } else {
        table.note(definitions::MISSING);
    }
}

fn round(arguments: &[String]) -> Round {
    let [side, definitions] = arguments else {
        panic!("a round needs a side and a kind of definitions")
    };
    let texts = texts(definitions);
    let (before, start) = (HEAP.start(), ProcessorTime::now());
    let parsed = texts.iter().map(|text| serde_json::from_str(text).unwrap());
    // Both are kept until the end of the process.
    if side == SIDES[0] {
        let mut catalog = Catalog::new();
        parsed.for_each(|row: Value| register(&mut catalog, row));
        assert_eq!(catalog.names().len(), texts.len());
        std::mem::forget(catalog);
    } else {
        std::mem::forget(parsed.collect::<Vec<Value>>());
    }
    let count = texts.len() as f64;
    Round {
        figures: vec![
            start.micros() / count,
            HEAP.kept_above(before) / count / 1e3,
        ],
        result: texts.len().to_string(),
    }
}

fn register(catalog: &mut Catalog, mut row: Value) {
    let parameters = row["parameters"].take();
    let tool = Tool::new(
        row["name"].as_str().unwrap_or_default(),
        row["description"].as_str().unwrap_or_default(),
        parameters,
    );
    let tool = tool.unwrap().with_effects(Effects::Pure);
    let handler = async |_: ToolContext, _: Value| "";
    catalog.register(tool, handler).unwrap();
}

/// Returns the texts of definitions that a catalog takes.
pub(crate) fn texts(definitions: &str) -> Vec<String> {
    let rows = if definitions == "order" {
        let tool = (ORDER_TOOL.definition)().unwrap();
        vec![serde_json::json!({"description": tool.description, "parameters": tool.parameters})]
    } else {
        let mut catalog = Catalog::new();
        let mut rows = definitions::read().unwrap();
        let mut number = 0;
        rows.retain(|row| {
            let parameters = row["parameters"].clone();
            let description = row["description"].as_str().unwrap_or_default();
            let tool = Tool::new(format!("t{number}"), description, parameters);
            number += 1;
            let handler = async |_: ToolContext, _: Value| "";
            tool.is_ok_and(|tool| catalog.register(tool, handler).is_ok())
        });
        rows
    };
    let named = |(number, row): (usize, &Value)| {
        serde_json::json!({
            "name": format!("real.t{number}"), "description": row["description"], "parameters": row["parameters"],
        })
        .to_string()
    };
    let rows = rows.iter().cycle().take(TOOLS);
    rows.enumerate().map(named).collect()
}
