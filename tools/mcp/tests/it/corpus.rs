//! Real definitions, from data that is not part of the project. `TOOLCRIB_DATA` names its folder.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::GzDecoder;
use rmcp::model;
use serde_json::{Value, json};
use tools::{Catalog, Host, ToolContext};

use crate::scripted::{BOTH, Scripted, cx, imported};
use crate::server_client;

/// Removes the names of properties with a default from the required ones, at any depth.
fn require_no_default(schema: &mut Value) {
    let Value::Object(members) = schema else {
        schema
            .as_array_mut()
            .into_iter()
            .flatten()
            .for_each(require_no_default);
        return;
    };
    let properties = members.get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| properties[name].get("default").is_none())
        });
        if required.is_empty() {
            members.remove("required");
        }
    }
    members.values_mut().for_each(require_no_default);
}

#[tokio::test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-mcp --test it -- --ignored corpus"]
async fn every_definition_is_imported_with_its_schema() {
    let rows: Vec<_> = rows_of("tools_livemcp_bfcl_ref.jsonl.gz")
        .filter(|row| row["metaschema_ok"] == true)
        .collect();
    assert_eq!(rows.len(), 3_461);
    let tool = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let schema = Arc::new(row["parameters"].as_object().unwrap().clone());
        model::Tool::new_with_raw(text("name"), Some(text("description").into()), schema)
    };
    let tools: Vec<_> = rows.iter().map(tool).collect();
    for revision in BOTH {
        let scripted = Scripted {
            page: 500,
            ..Scripted::new(revision, tools.clone())
        };
        let (catalog, _servers, imported) = imported(scripted.import("s")).await;
        let report = imported.ready().await.unwrap();
        assert_eq!((report.refused.as_slice(), &report.cut), (&[][..], &None));
        assert_eq!(report.tools.iter().collect::<HashSet<_>>().len(), 3_461);
        for (row, name) in rows.iter().zip(&report.tools) {
            let entry = catalog.get(name).unwrap();
            // A required argument with a default may be left out.
            let [mut found, mut expected] =
                [&entry.tool().parameters, &row["parameters"]].map(Clone::clone);
            [&mut found, &mut expected]
                .into_iter()
                .for_each(require_no_default);
            assert_eq!(found, expected, "{name}");
            entry.verify().unwrap();
        }
        let last = report.tools.last().unwrap();
        let result = catalog.execute(&cx(), last, json!({})).await;
        assert!(
            result.is_ok()
                || result.is_err_and(|error| error.code() == tools::ErrorCode::InvalidArguments)
        );
    }
}

#[tokio::test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-mcp --test it -- --ignored corpus::"]
async fn served_definitions_are_read_back_with_equal_schemas() {
    let mut catalog = Catalog::new();
    let mut expected = BTreeMap::new();
    for (number, row) in rows_of("tools_livemcp_bfcl_ref.jsonl.gz").enumerate() {
        let description = row["description"]
            .as_str()
            .filter(|text| !text.is_empty())
            .unwrap_or("Undescribed.");
        let tool =
            tools::Tool::new(format!("t{number}"), description, row["parameters"].clone()).unwrap();
        if catalog
            .register(tool, async |_: ToolContext, _: Value| "")
            .is_ok()
        {
            expected.insert(
                format!("t{number}"),
                (description.to_owned(), row["parameters"].clone()),
            );
        }
    }
    assert_eq!(expected.len(), 3461);
    let server = server_client::server(catalog, Host::new());
    for mode in server_client::BOTH {
        let listed = server_client::connect(&server, mode, server_client::Person::silent())
            .await
            .client
            .list_all_tools()
            .await
            .unwrap();
        assert_eq!(listed.len(), 3461);
        let mut others = Vec::new();
        for tool in &listed {
            let (description, parameters) = &expected[&*tool.name];
            assert_eq!(tool.description.as_deref(), Some(&**description));
            if Value::Object((*tool.input_schema).clone()) != *parameters {
                others.push((&tool.name, &tool.input_schema, parameters));
            }
        }
        assert!(
            others.is_empty(),
            "{} differ, such as {:?}",
            others.len(),
            others.first()
        );
    }
}

fn rows_of(file: &str) -> impl Iterator<Item = Value> {
    let folder =
        std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the folder of the test data");
    let path = PathBuf::from(folder).join(file);
    let data =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(data))
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}
