//! Real definitions and verdicts, from data that is not part of the project. `TOOLCRIB_DATA` names its folder.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;
use tools::schema::SchemaError;
use tools::{Catalog, RegisterError, Tool, ToolContext, ToolErrorKind, ToolName};

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-tools --test it -- --ignored corpus"]
fn every_verdict_is_that_of_pythons_jsonschema_but_for_conversions() {
    let mut catalog = Catalog::new();
    let mut names: HashMap<String, String> = HashMap::new();
    let mut rows = 0;
    for row in rows_of("validation_bfcl.jsonl.gz") {
        rows += 1;
        let schema = &row["schema"];
        let name = names.entry(schema.to_string()).or_insert_with(|| {
            let name = format!("schema.{rows}");
            catalog
                .register(
                    Tool::new(&name, "A real one.", schema.clone()).unwrap(),
                    echo,
                )
                .unwrap();
            name
        });
        let verdict = catalog.validate(name, row["instance"].clone());
        let of_text = catalog.validate(name, row["instance"].to_string());
        assert_eq!(of_text, verdict, "row {rows}: {row}");
        // Values of which the schema leaves exactly one reading are converted.
        let may_convert = row["kind"] != "drop_required";
        let is_valid = row["valid"].as_bool().unwrap();
        assert!(
            verdict.is_ok() == is_valid || !is_valid && may_convert,
            "row {rows}: {row}\n{verdict:?}"
        );
        match verdict.map_err(|error| error.kind().clone()) {
            Ok(()) => {}
            Err(ToolErrorKind::InvalidArguments { violations }) => assert!(!violations.is_empty()),
            Err(other) => panic!("row {rows}: {other}"),
        }
    }
    assert_eq!(rows, 18_422);
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-tools --test it -- --ignored corpus"]
fn every_definition_is_registered_or_refused_with_a_reason() {
    let (mut registered, mut refused) = (0, 0);
    for row in rows_of("tools_livemcp_bfcl_ref.jsonl.gz") {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let name = ToolName::from_foreign(text("name")).unwrap();
        let tool = Tool::new(name, text("description"), row["parameters"].clone()).unwrap();
        match Catalog::new().register(tool, echo) {
            Ok(entry) => {
                assert_eq!(entry.verify(), Ok(()), "what registers compiles: {row}");
                assert!(
                    row["metaschema_ok"].as_bool().unwrap()
                        && !text("description").trim().is_empty(),
                    "{row}"
                );
                registered += 1;
            }
            Err(RegisterError::Schema {
                source: SchemaError::Invalid { .. },
                ..
            }) => {
                assert_eq!(row["metaschema_ok"], false, "{row}");
                refused += 1;
            }
            Err(RegisterError::Description { .. }) => {
                assert!(text("description").trim().is_empty(), "{row}");
                refused += 1;
            }
            Err(other) => panic!("{other}: {row}"),
        }
    }
    assert_eq!((registered, refused), (3_442, 20));
}

async fn echo(_: ToolContext, arguments: Value) -> Result<Value, String> {
    Ok(arguments)
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
