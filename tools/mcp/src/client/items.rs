//! [`Items`]: a list that a server is asked for.

use serde::de::DeserializeOwned;

use crate::client::error::ImportError;
use crate::client::imported::Imported;
use crate::client::listing::{Listed, list};
use crate::client::lists::Kept;
use crate::client::transport_reason::reason;
use crate::same_json::same_json;

/// A list of a server, and the limit that ended it early, if one did. Malformed items are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Items<T> {
    /// The items.
    pub items: Vec<T>,
    /// The limit that ended the list.
    pub cut: Option<String>,
}

impl Imported {
    /// Returns a list of the server, which is read page by page and within limits unless the latest one is fresh.
    pub(super) async fn items<T: Listed, U: DeserializeOwned>(
        &self,
        kept: &Kept<T>,
    ) -> Result<Items<U>, ImportError> {
        let failed = |reason| ImportError::List {
            name: self.name().clone(),
            what: T::KEY,
            reason,
        };
        let peer = self
            .listed_peer()
            .await
            .map_err(|error| failed(error.to_string()))?;
        let read = kept.get_or_read(list::<T>(&peer)).await;
        let listing = read.map_err(|error| failed(self.shown(&reason(&error))))?;
        Ok(Items {
            items: listing
                .items
                .iter()
                .flatten()
                .filter_map(same_json)
                .collect(),
            cut: listing.cut.clone(),
        })
    }
}
