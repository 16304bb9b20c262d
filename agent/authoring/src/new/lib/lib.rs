//! The tools of @name@. A program that contains `use @library@ as _;` has them.

mod count;

use schemars::JsonSchema;
use serde::Deserialize;
use tools::tool;

pub use count::{COUNT_TOOL, Lines, Unit, count};

/// The state of a lamp.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    On,
    Off,
}

/// Switches the lamp of a room. Its effect is declared, so each call needs a grant or the approval of a person.
#[tool(name = "lamp.switch", writes = "lamp:{room}", idempotent, example({"room": "kitchen", "state": "on"}))]
pub fn switch(
    /// The room.
    room: String,
    /// The new state.
    state: State,
) -> String {
    format!("the lamp of the {room} is {state:?}")
}

/// Adds the tools to a catalog, for tests. Add each new tool here: the tests check only these.
pub fn register(catalog: &mut tools::Catalog) -> Result<(), tools::RegisterError> {
    catalog.submit(&[&COUNT_TOOL, &SWITCH_TOOL])
}
