#![doc = include_str!("../README.md")]

mod attribute;
mod doc;
mod effect;
mod errors;
mod expand;
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

/// Makes a tool from a free `fn` or `async fn`.
///
/// The function itself is unchanged and can be called directly. The macro adds a constant with the same visibility, such as
/// `READ_TOOL` for a function `read`. The constant is a `Submission`: the definition, the handler and the source location.
/// Linking the crate submits it to the process-wide catalog; `Catalog::submit` adds it to any other catalog.
///
/// # Signature
///
/// - **Description.** The doc comment of the function is the description for the model, as Markdown.
/// - **Arguments.** Each parameter is an argument.
///   - Its doc comment is the description of the argument.
///   - Its type gives the schema and must implement `serde::Deserialize` and `schemars::JsonSchema`. `Option<T>` is optional.
///   - `#[serde(…)]` and `#[schemars(…)]` work as on a struct field.
///   - Calls with undeclared arguments fail.
/// - **Arguments as a struct.** One parameter `#[args] args: Search` replaces the other arguments.
///   - The struct derives `Deserialize` and `JsonSchema`, and has `#[serde(deny_unknown_fields)]`.
///   - Unless schemars is a dependency, it also has `#[schemars(crate = "tools::schemars")]`.
///   - Its fields, their docs and the templates that use them are checked when the definition is built.
/// - **Context.** A parameter of type `&ToolContext` or `ToolContext`, at any position, receives the context of the call. It is
///   not an argument.
/// - **Result.** The function returns one of these types, or a `Result` of one of them:
///   - `()`, which the model reads as `ok`,
///   - `String`, `&'static str`, `Content`, `Vec<Content>` or `ToolResult`,
///   - any other type that implements `Serialize`; the result is its JSON text and structured value.
/// - **Error.** The error of a `Result` is any `Display` type; the model reads its `{:#}` text. A `ToolError` is returned
///   unchanged, even from the source chain of another error such as `Box<dyn Error>`.
///
/// # Attributes
///
/// Every tool declares its effects: one of `pure`, `reads`, `writes`, `destroys` and `open_world` is required.
///
/// | attribute | meaning |
/// |---|---|
/// | `pure` | touches nothing: the result depends on the arguments alone |
/// | `reads = "fs:{path}"` | reads this target; `["…", "…"]` for several; repeatable |
/// | `writes = "fs:{path}"` | creates or changes this target; list and repetition as for `reads` |
/// | `destroys = "fs:{path}"` | removes or irreversibly changes this target; list and repetition as for `reads` |
/// | `open_world` | may reach targets that are not known beforehand |
/// | `idempotent` | repeating a call has no further effect |
/// | `name = "fs.read"` | the name, 1 to 512 of `A-Z a-z 0-9 _ . : / % -`; default: the name of the function |
/// | `title = "Read a file"` | a display name for people |
/// | `timeout = "30s"` | the timeout of a call: a number with `ms`, `s`, `m` or `h` |
/// | `max_output = "64KiB"` | the maximum text of a result: a number with `B`, `kB`, `KiB`, `MB` or `MiB`, or an integer in bytes |
/// | `tags = ["files"]` | labels by which a selection can include the tool |
/// | `needs = Type`, `needs(A, B)` | services that the context must provide |
/// | `preview = removal` | a function that describes the effect of a call to the person who is asked about it, see below |
/// | `example({"a": 1} => 2)` | an example call in the syntax of `json!`; `=> result` is optional; repeatable |
/// | `audit` | calls belong in an audit log even if other tools' calls do not |
/// | `blocking` | runs on the blocking pool even though it is `pure`, for long computations |
/// | `crate = ::cribs` | the path of the crate `tools`; default: `::tools` |
///
/// A template is `scheme:text{argument}text`. In the scheme `fs`, values are normalised as paths. In other schemes,
/// `{argument|path}` and `{argument|host}` select a normaliser.
///
/// Every call has a value for each argument of a template. An argument that may be absent therefore has a default, from which the
/// target of such a call is made:
///
/// ```standalone_crate
/// # use tools::tool;
/// # fn root() -> Option<String> { Some(".".to_owned()) }
/// /// Counts the files in a directory.
/// #[tool(reads = "fs:{path}")]
/// async fn count(
///     /// The directory; the root if omitted.
///     #[serde(default = "root")]
///     path: Option<String>,
/// ) -> String {
///     path.unwrap_or_default()
/// }
/// # tools::Catalog::new().submit(&[&COUNT_TOOL]).unwrap();
/// ```
///
/// An `Option` without such a default does not compile, and neither it nor an unusable default in an `#[args]` struct can be
/// registered.
///
/// # Execution
///
/// - An `async fn` is polled on the caller's task and must yield.
/// - A plain `fn` that is `pure` runs on the caller's task and must be short, unless it is `blocking`.
/// - Every other plain `fn` runs on the bounded blocking pool. Its context signals cancellation.
///
/// # Preview
///
/// The function that `preview` names has exactly the parameters of the tool, including the context, and is `async` if and only if the tool is. It returns a
/// `Preview`, or a `Result` of one. It must change nothing: its context has the grant for reading only. `Handler::preview` lists its
/// limits. A plain `fn` runs on the blocking pool.
///
/// # Example
///
/// ```standalone_crate
/// use std::collections::BTreeMap;
/// use tools::{ToolContext, ToolError, tool};
///
/// /// The number of each article in stock, a service that the host adds to the context.
/// struct Stock(BTreeMap<String, u32>);
///
/// /// Returns the number of an article in stock.
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
///     /// The text to search for.
///     query: String,
///     /// The maximum number of results.
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
/// Missing or contradictory declarations are compile errors, reported together. Each error marks the code to change.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
