//! The clock: how the family joins a program.

use host::{Extension, inventory};
use tools::source;

inventory::submit! {
    Extension::new("time", source!()).with_default_grants(&["clock:read:**"])
}
