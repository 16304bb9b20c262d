//! The clock: how the family joins a program.

use host::{Extension, Parts, inventory};
use tools::source;

inventory::submit! {
    Extension::new("time", source!(), Parts {
        default_grants: &["clock:read:**"],
        ..Parts::NONE
    })
}
