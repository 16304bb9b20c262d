//! Real definitions, from data that is not part of the project. `TOOLCRIB_DATA` names its folder.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::GzDecoder;
use rmcp::model;
use serde_json::{Value, json};

use crate::scripted::{BOTH, Scripted, cx, imported};

#[tokio::test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-mcp --test it -- --ignored corpus"]
async fn every_definition_is_imported_with_its_schema() {
    let rows: Vec<_> = rows_of("tools_livemcp_bfcl_ref.jsonl.gz").filter(|row| row["metaschema_ok"] == true).collect();
    assert_eq!(rows.len(), 3_461);
    let tool = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let schema = Arc::new(row["parameters"].as_object().unwrap().clone());
        model::Tool::new_with_raw(text("name"), Some(text("description").into()), schema)
    };
    let tools: Vec<_> = rows.iter().map(tool).collect();
    for revision in BOTH {
        let scripted = Scripted { page: 500, ..Scripted::new(revision, tools.clone()) };
        let (catalog, _servers, imported) = imported(scripted.import("s")).await;
        let report = imported.ready().await.unwrap();
        assert_eq!((report.refused.as_slice(), report.cut), (&[][..], None));
        assert_eq!(report.tools.iter().collect::<HashSet<_>>().len(), 3_461);
        for (row, name) in rows.iter().zip(&report.tools) {
            let entry = catalog.get(name).unwrap();
            assert_eq!(entry.tool().parameters, row["parameters"], "{name}");
            entry.verify().unwrap();
        }
        let last = report.tools.last().unwrap();
        let result = catalog.execute(&cx(), last, json!({})).await;
        assert!(result.is_ok() || result.is_err_and(|error| error.code() == tools::ErrorCode::InvalidArguments));
    }
}

fn rows_of(file: &str) -> impl Iterator<Item = Value> {
    let folder = std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the folder of the test data");
    let path = PathBuf::from(folder).join(file);
    let data = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(data)).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}
