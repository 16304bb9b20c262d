//! Real definitions, which are no part of the project. `TOOLCRIB_DATA` names the folder of the data.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;
use tools::{Catalog, Tool, ToolContext};

use crate::server_client::{BOTH, Person, connect, server};

fn rows_of(file: &str) -> impl Iterator<Item = Value> {
    let folder = std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the folder of the test data");
    let path = PathBuf::from(folder).join(file);
    let data = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(data)).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

#[tokio::test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-mcp --test it -- --ignored corpus::"]
async fn served_definitions_are_read_back_with_equal_schemas() {
    let mut catalog = Catalog::new();
    let mut expected = BTreeMap::new();
    for (number, row) in rows_of("tools_livemcp_bfcl_ref.jsonl.gz").enumerate() {
        let description = row["description"].as_str().filter(|text| !text.is_empty()).unwrap_or("Undescribed.");
        let tool = Tool::new(format!("t{number}"), description, row["parameters"].clone()).unwrap();
        if catalog.register(tool, async |_: ToolContext, _: Value| "").is_ok() {
            expected.insert(format!("t{number}"), (description.to_owned(), row["parameters"].clone()));
        }
    }
    assert_eq!(expected.len(), 3461);
    let server = server(catalog, ToolContext::new());
    for mode in BOTH {
        let listed = connect(&server, mode, Person::silent()).await.client.list_all_tools().await.unwrap();
        assert_eq!(listed.len(), 3461);
        let mut others = Vec::new();
        for tool in &listed {
            let (description, parameters) = &expected[&*tool.name];
            assert_eq!(tool.description.as_deref(), Some(&**description));
            if Value::Object((*tool.input_schema).clone()) != *parameters {
                others.push((&tool.name, &tool.input_schema, parameters));
            }
        }
        assert!(others.is_empty(), "{} differ, such as {:?}", others.len(), others.first());
    }
}
