//! A call through the pipeline, beside the same call made directly.

use std::hint::black_box;

use benches::session::{self, MEASURE, direct_measure};
use benches::{ADD, direct_add};

use crate::chat::runtime;
use crate::clock::ProcessorTime;
use crate::figure::Figure;
use crate::round::{ROUNDS, Round, SIDES, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "pipeline-call",
    measure,
    round,
};

const CALLS: usize = 200_000;

fn measure(table: &mut Table) {
    for (tool, description, asked) in [
        ("add", "a call of `add` from JSON text", "≤ 4 ×"),
        ("measure", "a call of a tool that reads a target", ""),
    ] {
        let [toolcrib, peer] = in_turn(ROUNDS, |side| {
            Round::start("compare", &["round", FIGURE.name, SIDES[side], tool])
        });
        table.compare(
            &format!("{description}, beside serde_json and the function, processor time"),
            "µs",
            [toolcrib[0], peer[0]],
            asked,
        );
    }
}

fn round(arguments: &[String]) -> Round {
    let [side, tool] = arguments else {
        panic!("a round needs a side and a tool")
    };
    let (arguments, direct) = if tool == "add" {
        (ADD, direct_add as fn(&str) -> String)
    } else {
        (MEASURE, direct_measure as fn(&str) -> String)
    };
    let (micros, result) = if side == SIDES[0] {
        let (catalog, cx) = (session::catalog(), session::granted());
        runtime().block_on(async {
            let call = async || {
                let result = catalog.execute(&cx, tool, black_box(arguments)).await;
                result.unwrap()
            };
            let text = call().await.to_text();
            let start = ProcessorTime::now();
            for _ in 0..CALLS {
                black_box(call().await);
            }
            (start.micros(), text)
        })
    } else {
        let text = direct(arguments);
        let start = ProcessorTime::now();
        for _ in 0..CALLS {
            black_box(direct(black_box(arguments)));
        }
        (start.micros(), text)
    };
    Round {
        figures: vec![micros / CALLS as f64],
        result,
    }
}
