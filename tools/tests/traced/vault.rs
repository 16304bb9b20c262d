//! A tool with secrets at many places of its arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tools::handler::typed;
use tools::schemars::{Schema, SchemaGenerator};
use tools::{
    Catalog, Effects, Handler, HandlerFuture, Input, JsonSchema, Tool, ToolContext, schema_of,
};

/// Arguments with secrets at many places. With `S = String` nothing is secret.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "S: DeserializeOwned")]
#[allow(dead_code, reason = "they are read by `Debug`")]
struct Vault<S> {
    /// The behaviour of the tool: `tell`, `fail` or `panic`.
    mode: String,
    key: Option<S>,
    #[serde(default)]
    keys: Vec<S>,
    #[serde(default)]
    by_name: BTreeMap<String, S>,
    pair: Option<(u8, S)>,
    login: Option<Login<S>>,
    #[serde(default)]
    logins: Vec<Login<S>>,
    proof: Option<Proof<S>>,
    chain: Option<Box<Chain<S>>>,
    #[schemars(length(max = 3))]
    short: Option<S>,
    #[schemars(regex(pattern = "^[0-9]+$"))]
    digits: Option<S>,
    fussy: Option<Fussy<S>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "they are read by `Debug`")]
pub(super) struct Login<S> {
    user: u32,
    pub(super) password: S,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code, reason = "they are read by `Debug`")]
enum Proof<S> {
    Token { token: S },
    Basic { user: String, password: S },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "they are read by `Debug`")]
struct Chain<S> {
    key: S,
    next: Option<Box<Chain<S>>>,
}

/// A type that is narrower than its schema and quotes the values that it refuses.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String", bound = "")]
struct Fussy<S>(PhantomData<S>);

impl<S: JsonSchema> JsonSchema for Fussy<S> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fussy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        S::json_schema(generator)
    }
}

impl<S> TryFrom<String> for Fussy<S> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Err(format!("{text:?} is not to my taste"))
    }
}

/// A layer that passes its own arguments to the handler.
struct Anew<H>(H);

impl<H: Handler> Handler for Anew<H> {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        self.0.call(cx, Input::from(arguments.into_value()))
    }
}

/// Registers a tool that keeps such arguments.
pub(super) fn vault<S: JsonSchema + DeserializeOwned + Debug + Send + 'static>(
    catalog: &mut Catalog,
    name: &str,
    is_layered: bool,
) {
    let effects: Effects = serde_json::from_value(json!({"writes": ["vault:{mode}"]})).unwrap();
    let tool = Tool::new(name, "Keeps things.", schema_of::<Vault<S>>())
        .unwrap()
        .with_effects(effects);
    let open = |vault: Vault<S>| match vault.mode.as_str() {
        "fail" => Err(format!("{vault:#?} {vault:?}")),
        "panic" => panic!("{vault:?}"),
        _ => Ok(format!("{vault:?}")),
    };
    let handler = typed(move |_: ToolContext, vault| async move { open(vault) });
    if is_layered {
        catalog.register(tool, Anew(handler))
    } else {
        catalog.register(tool, handler)
    }
    .unwrap();
}
