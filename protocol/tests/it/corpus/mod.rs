//! Tests with real definitions, calls and names, which are no part of the project. `TOOLCRIB_DATA` names their folder.

mod definitions;
mod names;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;

/// Returns the rows of a file.
pub(crate) fn rows_of(file: &str) -> impl Iterator<Item = Value> {
    let folder =
        std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the folder of the test data");
    let path = PathBuf::from(folder).join(file);
    let data =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(data))
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}
