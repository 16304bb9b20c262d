//! The real definitions of tools in the folder that the variable `TOOLCRIB_DATA` names.

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// The note of a table without these figures.
pub(crate) const MISSING: &str = "The figures of real definitions are left out: the variable `TOOLCRIB_DATA` names no folder with them.";

/// Returns the definitions. Returns `None` if the variable is not set.
pub(crate) fn read() -> Option<Vec<Value>> {
    let folder = std::env::var_os("TOOLCRIB_DATA")?;
    let file = Path::new(&folder).join("tools_livemcp_bfcl_ref.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(std::fs::File::open(file).unwrap())).lines();
    let definition = |line: std::io::Result<String>| serde_json::from_str(&line.unwrap()).unwrap();
    Some(lines.map(definition).collect())
}
