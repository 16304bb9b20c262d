//! Links ten thousand tools: `linked COUNT` calls each of the first COUNT tools once. `linked 0` only looks a tool up, and `linked`
//! ends at once.

#![allow(clippy::unwrap_used)] // A failure invalidates the measurement.

use benches::{ADD, ADD_TOOL};
use tools::{DefinitionError, Host, Submission, Tool, ToolName};

fn main() {
    let Some(count) = std::env::args()
        .nth(1)
        .map(|count| count.parse::<u64>().unwrap())
    else {
        return;
    };
    assert!(tools::contains("linked.t9999"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let cx = Host::new();
        for number in 0..count {
            let sum = tools::execute(&cx, &format!("linked.t{number:04}"), ADD)
                .await
                .unwrap();
            assert_eq!(sum.to_text(), "42");
        }
    });
}

/// Returns the definition of `add` under another name.
fn definition(name: &str) -> Result<Tool, DefinitionError> {
    Ok(Tool {
        name: ToolName::new(name)?,
        ..(ADD_TOOL.definition)()?
    })
}

macro_rules! submitted {
    ($a:literal $b:literal $c:literal $d:literal) => {
        inventory::submit! {
            Submission {
                name: concat!("linked.t", $a, $b, $c, $d),
                was: &[],
                source: tools::source!(),
                definition: || definition(concat!("linked.t", $a, $b, $c, $d)),
                handler: ADD_TOOL.handler,
            }
        }
    };
    // Adds a digit.
    ($($digit:literal)*) => {
        submitted! { $($digit)* 0 }
        submitted! { $($digit)* 1 }
        submitted! { $($digit)* 2 }
        submitted! { $($digit)* 3 }
        submitted! { $($digit)* 4 }
        submitted! { $($digit)* 5 }
        submitted! { $($digit)* 6 }
        submitted! { $($digit)* 7 }
        submitted! { $($digit)* 8 }
        submitted! { $($digit)* 9 }
    };
}

submitted! {}
