//! The measured tools, and the direct calls that they are compared with.
//!
//! A *direct* call does the same work without the pipeline: `serde_json::from_str` into the argument type, the function call,
//! `serde_json::to_string` of the result.

#[allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]
// Panics without valgrind, because there is nothing to count then.
pub mod count;
pub mod session;

use serde::{Deserialize, Serialize};
use tools::{Catalog, JsonSchema, Tool, ToolContext, ToolName, tool};

/// The arguments of [`add`], as a model writes them.
pub const ADD: &str = r#"{"a": 17, "b": 25}"#;

/// The arguments of [`order`], as a model writes them: 1 KiB, nested.
pub const ORDER: &str = include_str!("order.json");

/// The arguments of [`add`] for the direct call.
#[derive(Deserialize)]
pub struct Sum {
    a: i64,
    b: i64,
}

/// Adds two integers.
#[tool(pure)]
pub fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a.wrapping_add(b)
}

/// Adds two integers in an async function.
#[tool(pure)]
pub async fn add_later(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    add(a, b)
}

/// An order as a shop takes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The number of the order, such as `O-2026-0001`.
    pub id: String,
    /// The client.
    pub customer: Customer,
    /// The order lines.
    pub items: Vec<Item>,
    /// How it is sent.
    pub shipping: Shipping,
    /// A note for the merchant.
    pub note: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// The client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Customer {
    /// The name.
    pub name: String,
    /// The address for mail.
    pub email: String,
    /// Where the customer lives.
    pub address: Address,
}

/// A place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The street and the number.
    pub street: String,
    /// The city.
    pub city: String,
    /// The code of the area.
    pub postcode: String,
    /// The country, in two letters.
    pub country: String,
}

/// One line of an order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The article's number.
    pub sku: String,
    /// Full title.
    pub title: String,
    /// How many.
    pub quantity: u32,
    /// The price of one, in cents.
    pub cents: u64,
    /// Whether it is a present.
    #[serde(default)]
    pub gift: bool,
}

/// How an order is sent.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shipping {
    /// In some days.
    Standard,
    /// Tomorrow.
    Express,
}

/// The result of [`order`].
#[derive(Debug, Serialize)]
pub struct Receipt {
    id: String,
    lines: usize,
    pieces: u64,
    cents: u64,
}

/// Takes an order and says what it costs.
#[tool(pure)]
pub fn order(#[args] order: Order) -> Receipt {
    let shipping = match order.shipping {
        Shipping::Standard => 499,
        Shipping::Express => 1_499,
    };
    let cents = order
        .items
        .iter()
        .map(|item| item.cents * u64::from(item.quantity))
        .sum::<u64>();
    Receipt {
        lines: order.items.len(),
        pieces: order
            .items
            .iter()
            .map(|item| u64::from(item.quantity))
            .sum(),
        cents: cents + shipping,
        id: order.id,
    }
}

/// Calls [`add`] directly. Returns the text of its result.
pub fn direct_add(arguments: &str) -> String {
    let Sum { a, b } = serde_json::from_str(arguments).unwrap_or(Sum { a: 0, b: 0 });
    serde_json::to_string(&add(a, b)).unwrap_or_default()
}

/// Calls [`order`] directly. Returns the text of its result, or an empty string if the arguments are invalid.
pub fn direct_order(arguments: &str) -> String {
    let receipt = serde_json::from_str(arguments).map(order);
    receipt
        .and_then(|receipt| serde_json::to_string(&receipt))
        .unwrap_or_default()
}

/// Creates a catalog of only [`add_later`].
///
/// # Panics
/// Panics if the tool cannot be registered.
#[allow(clippy::unwrap_used)] // A failure invalidates the measurement.
pub fn async_catalog() -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(&[&ADD_LATER_TOOL]).unwrap();
    catalog
}

/// Creates a catalog of `size` tools: [`add`], [`order`] and others.
///
/// # Panics
/// Panics if the tools cannot be registered.
#[allow(clippy::unwrap_used)] // A failure invalidates the measurement.
pub fn catalog(size: usize) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(&[&ADD_TOOL, &ORDER_TOOL]).unwrap();
    for number in catalog.names().len()..size {
        let schema = serde_json::json!({"type": "object"});
        let tool = Tool::new(format!("other.t{number}"), "Another tool.", schema).unwrap();
        catalog
            .register(tool, async |_: ToolContext, _: serde_json::Value| "other")
            .unwrap();
    }
    catalog
}

/// Creates a catalog of `size` tools with the definitions of [`add`] and [`order`] in turn, under other names.
///
/// # Panics
/// Panics if the tools cannot be registered.
#[allow(clippy::unwrap_used)] // A failure invalidates the measurement.
pub fn alike(size: usize) -> Catalog {
    let mut catalog = Catalog::new();
    for number in 0..size {
        let like = if number % 2 == 0 {
            &ADD_TOOL
        } else {
            &ORDER_TOOL
        };
        let tool = Tool {
            name: ToolName::new(format!("like.t{number}")).unwrap(),
            ..(like.definition)().unwrap()
        };
        catalog
            .register(tool, async |_: ToolContext, _: serde_json::Value| "alike")
            .unwrap();
    }
    catalog
}
