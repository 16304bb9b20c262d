#![doc = include_str!("../README.md")]

mod attribute;
mod doc;
mod effect;
mod expand;
mod fault;
mod function;
mod name;
mod near;
mod parameter;
mod quantity;
mod template;
mod value;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a tool of a free `fn` or `async fn`.
///
/// The function stays as it is and can be called directly. Beside it stands a constant, `READ_TOOL` for a function `read`,
/// with its visibility: the `Submission` that carries the definition, the code and the place in the source. It is
/// submitted to the process-wide catalog by being linked, and can be given to any other catalog with `Catalog::submit`.
///
/// # What the function says
///
/// - Its doc comment is the description that the model reads: all of it, as Markdown.
/// - Each parameter is an argument. Its doc comment is the argument's description, its type gives the schema
///   (`serde::Deserialize` and `schemars::JsonSchema`), and `Option<T>` makes it optional. `#[serde(…)]` and
///   `#[schemars(…)]` on a parameter mean what they mean on a field. Arguments that are not declared are refused.
/// - Instead of these, one parameter `#[args] args: Search` takes a struct that derives `Deserialize` and `JsonSchema` (with
///   `#[schemars(crate = "tools::schemars")]`, unless schemars is a dependency) and has `#[serde(deny_unknown_fields)]`. Its fields, their docs and the templates that name them are checked when the
///   definition is built.
/// - A parameter of type `&ToolContext` or `ToolContext`, anywhere in the list, is the context of the call. It is no argument.
/// - It returns `()` (the model reads `ok`), a `String`, `&'static str`, `Content`, `Vec<Content>`, `ToolResult`, anything else
///   that implements `Serialize` (as JSON text and as structured value), or a `Result` of one of those. The error may be
///   any `Display`: the model reads its `{:#}` text. A `ToolError` is passed on as it is, also out of an error that has it in
///   its source chain, such as a `Box<dyn Error>`.
///
/// # Attributes
///
/// One of `pure`, `reads`, `writes`, `destroys` and `open_world` is needed: a tool says what it touches.
///
/// | attribute | meaning |
/// |---|---|
/// | `pure` | touches nothing: the result comes from the arguments alone |
/// | `reads = "fs:{path}"` | reads this target; `["…", "…"]` for several, and repeatable |
/// | `writes = "fs:{path}"` | changes this target, likewise |
/// | `destroys = "fs:{path}"` | removes or overwrites this target beyond recovery, likewise |
/// | `open_world` | reaches things beyond its targets that cannot be listed beforehand |
/// | `idempotent` | a second call with the same arguments changes nothing more |
/// | `name = "fs.read"` | the name, 1 to 512 of `A-Z a-z 0-9 _ . : / % -`; otherwise the function's |
/// | `title = "Read a file"` | a name for people |
/// | `timeout = "30s"` | how long a call may take: a number with `ms`, `s`, `m` or `h` |
/// | `max_output = "64KiB"` | how much text a result may carry: a number with `B`, `kB`, `KiB`, `MB` or `MiB`, or an integer in bytes |
/// | `tags = ["files"]` | labels that a selection can ask for |
/// | `needs = Type`, `needs(A, B)` | services that the tool has to find in its context |
/// | `example({"a": 1} => 2)` | a call that shows the use, in the syntax of `json!`, with or without `=> result`; repeatable |
/// | `audit` | its calls belong into an audit trail even where others do not |
/// | `blocking` | runs on the blocking pool although it is `pure` (long computations) |
/// | `crate = ::cribs` | where the crate `tools` is found, when not at `::tools` |
///
/// A template is `scheme:text{argument}text`. In the scheme `fs`, values are normalised as paths; in others
/// `{argument|path}` and `{argument|host}` say how.
///
/// # How it runs
///
/// An `async fn` is polled on the caller's task, and must yield. A plain `fn` that is `pure` runs there as well, so it
/// must be short, or `blocking`. Every other plain `fn` runs on the bounded pool for blocking code, and is told to stop
/// through its context.
///
/// # Example
///
/// ```standalone_crate
/// use std::collections::BTreeMap;
/// use tools::{ToolContext, ToolError, tool};
///
/// /// Articles in stock. The host puts it into the context.
/// struct Stock(BTreeMap<String, u32>);
///
/// /// Tells how many of an article are in stock.
/// #[tool(name = "stock.count", reads = "stock:{article}", needs = Stock, timeout = "5s")]
/// fn count(
///     cx: &ToolContext,
///     /// The article's number, such as `A-17`.
///     article: String,
/// ) -> Result<u32, ToolError> {
///     let stock = cx.need::<Stock>()?;
///     let unknown = || ToolError::execution_failed(format!("there is no article {article}"));
///     stock.0.get(&article).copied().ok_or_else(unknown)
/// }
///
/// assert_eq!(COUNT_TOOL.name, "stock.count");
/// ```
///
/// All arguments as one struct:
///
/// ```standalone_crate
/// use serde::Deserialize;
/// use tools::{JsonSchema, tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// #[schemars(crate = "tools::schemars")]
/// struct Search {
///     /// What to look for.
///     query: String,
///     /// How many results to return at most.
///     #[serde(default = "ten")]
///     limit: u32,
/// }
///
/// fn ten() -> u32 {
///     10
/// }
///
/// /// Searches the notes.
/// #[tool(name = "notes.search", reads = "notes:all")]
/// async fn search(#[args] Search { query, limit }: Search) -> Vec<String> {
///     vec![query; limit as usize]
/// }
///
/// tools::Catalog::new().submit(&[&SEARCH_TOOL]).unwrap();
/// ```
///
/// # Errors
///
/// Whatever is missing or contradictory is a compile error at the place where it is to be mended; all of them are
/// reported at once.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
