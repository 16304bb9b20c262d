//! Lists of a server, page by page and within limits.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use rmcp::model::{PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::{RoleClient, model};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Cut;

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

/// The items of a list.
#[derive(Debug)]
pub(super) struct Listing<T> {
    /// The items in order. A malformed item is an error.
    pub(super) items: Vec<Result<T, Malformed>>,
    /// The time until which the list is fresh, if the server tells one for each page.
    pub(super) fresh_until: Option<Instant>,
    pub(super) cut: Option<Cut>,
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

    /// Returns the items, the next cursor and the freshness of a page. Returns the JSON of a result that rmcp does not recognise.
    fn page(result: ServerResult) -> Result<Page<Self>, Value>;
}

pub(super) type Page<T> = (Vec<T>, Option<String>, Option<u64>);

macro_rules! listed {
    ($item:ident, $capability:ident, $key:literal, $request:ident, $result:ident, $field:ident) => {
        impl Listed for model::$item {
            const KEY: &'static str = $key;

            fn is_offered(peer: &Peer<RoleClient>) -> bool {
                peer.peer_info().is_some_and(|info| info.capabilities.$capability.is_some())
            }

            fn request(params: PaginatedRequestParams) -> model::ClientRequest {
                model::$request::with_param(params).into()
            }

            fn page(result: ServerResult) -> Result<Page<Self>, Value> {
                match result {
                    ServerResult::$result(page) => Ok((page.$field, page.next_cursor, page.ttl_ms)),
                    ServerResult::CustomResult(model::CustomResult(value)) => Err(value),
                    _ => Err(Value::Null),
                }
            }
        }
    };
}

listed!(Tool, tools, "tools", ListToolsRequest, ListToolsResult, tools);
listed!(Resource, resources, "resources", ListResourcesRequest, ListResourcesResult, resources);
listed!(
    ResourceTemplate, resources, "resourceTemplates", ListResourceTemplatesRequest, ListResourceTemplatesResult,
    resource_templates
);
listed!(Prompt, prompts, "prompts", ListPromptsRequest, ListPromptsResult, prompts);

/// Reads all pages of a list within the limits.
///
/// # Errors
/// Returns an error if a page cannot be read, or is no page of this list.
pub(super) async fn list<T: Listed>(peer: &Peer<RoleClient>) -> Result<Listing<T>, ServiceError> {
    let mut listing = Listing { items: Vec::new(), fresh_until: None, cut: None };
    let mut seen = HashSet::new();
    let (mut cursor, mut bytes, deadline) = (None, 0, Instant::now() + LIST_TIMEOUT);
    for number in 1.. {
        let request = T::request(PaginatedRequestParams::default().with_cursor(cursor));
        let options = PeerRequestOptions::with_timeout(PAGE_TIMEOUT);
        let answer = async { peer.send_request_with_option(request, options).await?.await_response().await };
        // A server that reads nothing keeps the request from leaving, so its own time limit does not start.
        let Ok(result) = timeout_at(deadline.min(Instant::now() + PAGE_TIMEOUT), answer).await else {
            if number == 1 {
                return Err(ServiceError::Timeout { timeout: PAGE_TIMEOUT });
            }
            listing.cut = Some(Cut::Time { limit: LIST_TIMEOUT });
            return Ok(listing);
        };
        let result = result?;
        let (items, next, ttl) = page::<T>(result)?;
        // Zero is no time to wait for: such a server reports its changes, or makes none.
        let ttl = ttl.filter(|ttl| *ttl > 0);
        let fresh_until = ttl.and_then(|ttl| Instant::now().checked_add(Duration::from_millis(ttl)));
        listing.fresh_until = match number {
            1 => fresh_until,
            _ => listing.fresh_until.zip(fresh_until).map(|(one, other)| one.min(other)),
        };
        for item in items {
            bytes += item.as_ref().map_or(0, json_len);
            if listing.items.len() == MAX_ITEMS {
                listing.cut = Some(Cut::Items { most: MAX_ITEMS });
            } else if bytes > MAX_BYTES {
                listing.cut = Some(Cut::Bytes { most: MAX_BYTES });
            } else {
                listing.items.push(item);
                continue;
            }
            return Ok(listing);
        }
        let Some(next) = next else { return Ok(listing) };
        if number == MAX_PAGES {
            listing.cut = Some(Cut::Pages { most: MAX_PAGES });
            return Ok(listing);
        }
        if !seen.insert(next.clone()) {
            listing.cut = Some(Cut::Repeated);
            return Ok(listing);
        }
        cursor = Some(next);
    }
    Ok(listing)
}

type MixedPage<T> = (Vec<Result<T, Malformed>>, Option<String>, Option<u64>);

/// Reads a page. If one item is malformed, rmcp does not recognise the page, so its items are read one by one.
fn page<T: Listed>(result: ServerResult) -> Result<MixedPage<T>, ServiceError> {
    match T::page(result) {
        Ok((items, next, ttl)) => Ok((items.into_iter().map(Ok).collect(), next, ttl)),
        Err(Value::Object(mut fields)) => {
            let Some(Value::Array(items)) = fields.remove(T::KEY) else { return Err(ServiceError::UnexpectedResponse) };
            let next = fields.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let ttl = fields.get("ttlMs").and_then(Value::as_u64);
            let item = |value: Value| {
                let name = value["name"].as_str().unwrap_or_default().to_owned();
                serde_json::from_value(value).map_err(|error| Malformed { name, reason: error.to_string() })
            };
            Ok((items.into_iter().map(item).collect(), next.filter(|next| !next.is_empty()), ttl))
        }
        Err(_) => Err(ServiceError::UnexpectedResponse),
    }
}

/// Returns the length of an item, in bytes of JSON.
fn json_len(item: &impl Serialize) -> usize {
    struct Length(usize);

    impl Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut length = Length(0);
    // Writing fails at an item that is no JSON, which no item is.
    let _ = serde_json::to_writer(&mut length, item);
    length.0
}
