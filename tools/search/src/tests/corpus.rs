//! Real definitions and queries, which are no part of the project. `TOOLCRIB_DATA` names their folder.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use protocol::{Digest, Tool, ToolName};
use serde_json::Value;

use crate::index::Index;

/// The definitions and the queries that they answer.
pub(crate) struct Corpus {
    pub(crate) tools: Vec<Tool>,
    pub(crate) queries: Vec<Question>,
    /// The number of different names, and of those among them that several definitions have.
    pub(crate) names: [usize; 2],
}

/// A query with the tools that answer it.
pub(crate) struct Question {
    pub(crate) text: String,
    relevant: Vec<ToolName>,
    /// False for the half of the queries that the parameters were tuned on.
    pub(crate) held: bool,
}

/// The quality of the best ten results, averaged over queries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quality {
    /// The parts of the relevant tools that are among the best one, five and ten.
    pub(crate) recall: [f64; 3],
    pub(crate) ndcg: f64,
}

fn rows(file: &str) -> impl Iterator<Item = Value> {
    let folder =
        std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the folder of the test data");
    let path = PathBuf::from(folder).join(file);
    let data =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(data))
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

impl Corpus {
    /// Reads the tools whose source `chosen` accepts.
    pub(crate) fn new(chosen: impl Fn(&str) -> bool) -> Self {
        let mut names: HashMap<u64, ToolName> = HashMap::new();
        let mut taken: HashMap<String, usize> = HashMap::new();
        let rows_of_tools = rows("tools_livemcp_bfcl_ref.jsonl.gz")
            .filter(|row| chosen(row["source"].as_str().unwrap()));
        let tools = rows_of_tools.map(|row| {
            let name = row["name"].as_str().unwrap();
            // Many definitions share a name. A full stop at the end is no word.
            let number = taken.entry(name.to_owned()).or_default();
            let unique = format!("{name}{}", ".".repeat(*number));
            *number += 1;
            let tool = Tool::new(
                unique,
                row["description"].as_str().unwrap_or_default(),
                row["parameters"].clone(),
            )
            .unwrap();
            names.insert(row["row"].as_u64().unwrap(), tool.name.clone());
            tool
        });
        let tools = tools.collect();
        let counts = [
            taken.len(),
            taken.values().filter(|number| **number > 1).count(),
        ];
        let queries = rows("retrieval_bfcl.jsonl.gz").map(|row| {
            let text = row["query"].as_str().unwrap().to_owned();
            let relevant = row["relevant"].as_array().unwrap();
            let mut relevant: Vec<ToolName> = relevant
                .iter()
                .map(|tool| names[&tool["row"].as_u64().unwrap()].clone())
                .collect();
            relevant.sort();
            relevant.dedup();
            let held = Digest::hash_bytes(text.as_bytes()).as_bytes()[0] % 2 == 1;
            Question {
                text,
                relevant,
                held,
            }
        });
        Self {
            tools,
            queries: queries.collect(),
            names: counts,
        }
    }

    /// Asks the queries that `chosen` accepts.
    pub(crate) fn quality(&self, index: &Index, chosen: impl Fn(&Question) -> bool) -> Quality {
        let mut sum = Quality::default();
        let mut number = 0.0;
        for question in self.queries.iter().filter(|question| chosen(question)) {
            let found = index.search(&question.text, 10, |_| true);
            let hits: Vec<bool> = found
                .iter()
                .map(|found| question.relevant.contains(&found.name))
                .collect();
            for (recall, most) in sum.recall.iter_mut().zip([1, 5, 10]) {
                let hit = hits.iter().take(most).filter(|hit| **hit).count();
                *recall += hit as f64 / question.relevant.len() as f64;
            }
            let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
            let gained: f64 = hits
                .iter()
                .enumerate()
                .filter(|(_, hit)| **hit)
                .map(|(place, _)| gain(place))
                .sum();
            sum.ndcg += gained / (0..question.relevant.len().min(10)).map(gain).sum::<f64>();
            number += 1.0;
        }
        Quality {
            recall: sum.recall.map(|recall| recall / number),
            ndcg: sum.ndcg / number,
        }
    }
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-search -- --ignored corpus"]
fn the_held_half_of_the_queries_finds_its_tools() {
    let corpus = Corpus::new(|source| source == "bfcl");
    assert_eq!((corpus.tools.len(), corpus.queries.len()), (2_721, 2_501));
    let Quality { recall, .. } =
        corpus.quality(&Index::new(&corpus.tools), |question| question.held);
    for (recall, least) in recall.into_iter().zip([0.46, 0.75, 0.85]) {
        assert!(recall >= least, "{recall:.3}, less than {least}");
    }
}
