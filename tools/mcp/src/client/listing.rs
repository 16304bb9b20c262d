//! Lists of a server, page by page and within limits.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::{RoleClient, model};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use tools::visible_line;

/// The maximum number of pages.
const MAX_PAGES: usize = 1000;

/// The maximum number of items.
pub(super) const MAX_ITEMS: usize = 20_000;

/// The maximum length of all items together, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The time limit of one page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time limit of a whole list.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// The fields of an item that it is read without if they have another form. The first ones matter least.
const OPTIONAL: &str = "_meta icons annotations execution size title outputSchema description";

/// The field with the schema of a tool's arguments.
const SCHEMA: &str = "inputSchema";

/// The maximum length of a name in a note, in characters.
const MAX_NAME: usize = 128;

/// The items of a list.
#[derive(Debug)]
pub(super) struct Listing<T> {
    /// The items in order. A malformed item is an error.
    pub(super) items: Vec<Result<T, Malformed>>,
    /// The time until which the list is fresh, if the server tells one for each page.
    pub(super) fresh_until: Option<Instant>,
    pub(super) cut: Option<String>,
    /// Notes about items that were left out or read without some of their fields.
    pub(super) notes: Vec<String>,
}

/// An item that is not of its type.
#[derive(Debug)]
pub(super) struct Malformed {
    pub(super) name: String,
    pub(super) reason: String,
}

/// A kind of list.
pub(super) trait Listed: Serialize + DeserializeOwned {
    /// The name of the list in a result.
    const KEY: &'static str;

    /// Returns true if the server has such a list.
    fn is_offered(peer: &Peer<RoleClient>) -> bool;

    fn request(params: PaginatedRequestParams) -> model::ClientRequest;
}

macro_rules! listed {
    ($item:ident, $capability:ident, $key:literal, $request:ident) => {
        impl Listed for model::$item {
            const KEY: &'static str = $key;

            fn is_offered(peer: &Peer<RoleClient>) -> bool {
                peer.peer_info()
                    .is_some_and(|info| info.capabilities.$capability.is_some())
            }

            fn request(params: PaginatedRequestParams) -> model::ClientRequest {
                model::$request::with_param(params).into()
            }
        }
    };
}

listed!(Tool, tools, "tools", ListToolsRequest);
listed!(Resource, resources, "resources", ListResourcesRequest);
listed!(
    ResourceTemplate,
    resources,
    "resourceTemplates",
    ListResourceTemplatesRequest
);
listed!(Prompt, prompts, "prompts", ListPromptsRequest);

/// Reads all pages of a list within the limits. A server without such lists has none.
///
/// # Errors
/// Returns an error if a page cannot be read, or is no page of this list.
pub(super) async fn list<T: Listed>(peer: &Peer<RoleClient>) -> Result<Listing<T>, ServiceError> {
    let mut listing = Listing {
        items: Vec::new(),
        fresh_until: None,
        cut: None,
        notes: Vec::new(),
    };
    if !T::is_offered(peer) {
        return Ok(listing);
    }
    let mut known = HashSet::new();
    let hasher = RandomState::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let mut bytes = 0;
    let mut repeated = 0;
    let deadline = Instant::now() + LIST_TIMEOUT;
    for number in 1.. {
        let request = T::request(PaginatedRequestParams::default().with_cursor(cursor));
        let options = PeerRequestOptions::with_timeout(PAGE_TIMEOUT);
        let answer = async {
            peer.send_request_with_option(request, options)
                .await?
                .await_response()
                .await
        };
        // A server that reads nothing keeps the request from leaving, so its own time limit does not start.
        let Ok(result) = timeout_at(deadline.min(Instant::now() + PAGE_TIMEOUT), answer).await
        else {
            if number == 1 {
                return Err(ServiceError::Timeout {
                    timeout: PAGE_TIMEOUT,
                });
            }
            listing.cut = Some(format!("the list ended after {LIST_TIMEOUT:?}"));
            return Ok(listing);
        };
        let result = match result {
            // A server that names no capabilities may have no tools.
            Err(ServiceError::McpError(error))
                if number == 1 && error.code == ErrorCode::METHOD_NOT_FOUND =>
            {
                listing.notes.push(format!(
                    "it does not know the request for its list of `{}`",
                    T::KEY
                ));
                break;
            }
            result => result,
        };
        let (items, next, ttl) = match result.and_then(|result| page(result, T::KEY)) {
            // The earlier pages count.
            Err(ServiceError::McpError(error)) if number > 1 => {
                let reason = visible_line(&error.message, MAX_NAME);
                listing.notes.push(format!(
                    "its list of `{}` ends before page {number}, which failed: {reason}",
                    T::KEY
                ));
                break;
            }
            page => page?,
        };
        // Zero is no time to wait for: such a server reports its changes, or makes none.
        let ttl = ttl.filter(|ttl| *ttl > 0);
        let fresh_until =
            ttl.and_then(|ttl| Instant::now().checked_add(Duration::from_millis(ttl)));
        listing.fresh_until = match number {
            1 => fresh_until,
            _ => listing
                .fresh_until
                .zip(fresh_until)
                .map(|(one, other)| one.min(other)),
        };
        for value in items {
            let json = value.to_string();
            let (item, fault) = read_item::<T>(value);
            if item.is_ok() && !known.insert(hasher.hash_one(&json)) {
                // A page may repeat an earlier one, as after a cursor that leads nowhere.
                repeated += 1;
                continue;
            }
            bytes += json.len();
            listing.notes.extend(fault);
            if listing.items.len() == MAX_ITEMS {
                listing.cut = Some(format!("the list ended after {MAX_ITEMS} items"));
            } else if bytes > MAX_BYTES {
                listing.cut = Some(format!("the list ended after {MAX_BYTES} bytes"));
            } else {
                listing.items.push(item);
                continue;
            }
            return Ok(listing);
        }
        let Some(next) = next else { break };
        if number == MAX_PAGES {
            listing.cut = Some(format!("the list ended after {MAX_PAGES} pages"));
            break;
        }
        if !seen.insert(next.clone()) {
            listing.cut = Some("the list ended where its pages repeat".to_owned());
            break;
        }
        cursor = Some(next);
    }
    if repeated > 0 {
        listing.notes.push(format!(
            "its pages repeat {repeated} items of `{}`, which count once",
            T::KEY
        ));
    }
    Ok(listing)
}

/// An item of a page, with a note about fields without which it was read.
type Item<T> = (Result<T, Malformed>, Option<String>);

/// The items, the next cursor and the freshness of a page.
type Page = (Vec<Value>, Option<String>, Option<u64>);

/// Reads a page. If one item is malformed, rmcp does not recognise the page, so its items are read one by one.
fn page(result: ServerResult, key: &str) -> Result<Page, ServiceError> {
    let mut answer = serde_json::to_value(result).unwrap_or_default();
    if let Value::Array(items) = answer {
        return Ok((items, None, None));
    }
    let items = match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        Some(Value::Object(items)) => items.into_iter().map(add_name).collect(),
        _ => {
            let reason = format!("its answer has no list `{key}`");
            return Err(ServiceError::McpError(ErrorData::internal_error(
                reason, None,
            )));
        }
    };
    let next = match answer.get_mut("nextCursor").map(Value::take) {
        Some(Value::String(cursor)) => Some(cursor),
        Some(Value::Number(cursor)) => Some(cursor.to_string()),
        _ => None,
    };
    let ttl = answer.get("ttlMs").and_then(Value::as_u64);
    Ok((items, next, ttl))
}

/// Returns an item with the name that it has in an object of items.
fn add_name((name, mut item): (String, Value)) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.entry("name").or_insert(Value::String(name));
    }
    item
}

/// Reads an item, without optional fields that have another form.
fn read_item<T: Listed>(mut value: Value) -> Item<T> {
    let error = match T::deserialize(&value) {
        Ok(item) => return (Ok(item), None),
        Err(error) => error,
    };
    let name = value["name"].as_str().unwrap_or_default().to_owned();
    let mut dropped = Vec::new();
    // A tool without arguments may come without a schema, with `true`, or with an empty list, which is an empty object in some languages.
    let schema = value.get(SCHEMA).unwrap_or(&Value::Null);
    if T::KEY == model::Tool::KEY && !schema.is_object() && value.is_object() {
        value[SCHEMA] = json!({"type": "object"});
        dropped.push(SCHEMA);
        if let Ok(item) = T::deserialize(&value) {
            return (
                Ok(item),
                Some(format!(
                    "{:?} has no schema, so it takes any arguments",
                    visible_line(&name, MAX_NAME)
                )),
            );
        }
    }
    for field in OPTIONAL.split(' ') {
        let Some(fields) = value.as_object_mut() else {
            break;
        };
        if fields.remove(field).is_some() {
            dropped.push(field);
            if let Ok(item) = T::deserialize(&value) {
                let name = visible_line(&name, MAX_NAME);
                let fields = dropped.join(", ");
                return (
                    Ok(item),
                    Some(format!(
                        "{name:?} is read without {fields}, which has another form"
                    )),
                );
            }
        }
    }
    (
        Err(Malformed {
            name,
            reason: error.to_string(),
        }),
        None,
    )
}
