//! Run with `cargo run -p example-explicit-catalog`: a catalog as a plain value, without the process-wide one,
//! and a layer of the host around its tools.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tools::layer::{Layer, Next};
use tools::{
    Catalog, Effects, HandlerFuture, Host, JsonSchema, Tool, ToolContext, handler, schema_of,
};

/// The arguments of `divide`.
#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
#[serde(deny_unknown_fields)]
struct Divide {
    /// The dividend.
    dividend: i64,
    /// The divisor.
    divisor: i64,
}

/// Prints the arguments of each call that is about to run.
struct Print;

impl Layer for Print {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        println!("runs with {}", next.arguments());
        next.call(cx)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut catalog = Catalog::new();

    let divide = Tool::new("divide", "Divides two integers.", schema_of::<Divide>())?
        .with_effects(Effects::Pure);
    catalog.register(
        divide.clone(),
        handler::typed(async |_cx: ToolContext, Divide { dividend, divisor }| {
            dividend
                .checked_div(divisor)
                .ok_or("the divisor is zero; divide by something else")
        }),
    )?;

    let cx = Host::new().with_layer(Arc::new(Print));
    println!(
        "7 / 2 = {}",
        catalog
            .execute(&cx, "divide", json!({"dividend": 7, "divisor": 2}))
            .await?
            .to_text()
    );
    if let Err(error) = catalog
        .execute(&cx, "divide", json!({"dividend": 7, "divisor": 0}))
        .await
    {
        println!("7 / 0: {error}");
    }

    // Names are unique; the error names both places and suggests an unused name.
    if let Err(error) = catalog.register(
        divide,
        handler::typed(async |_cx: ToolContext, _: Divide| Ok::<_, String>(0)),
    ) {
        println!("refused: {error}");
    }

    // Catalogs are independent of each other.
    assert!(Catalog::new().list().is_empty());
    Ok(())
}
