//! [`Items`]: a list that a server is asked for.

use crate::client::error::ImportError;
use crate::client::imported::Imported;
use crate::client::listing::list;
use crate::client::lists::OnDemand;
use crate::client::report::Cut;
use crate::client::transport_reason::reason;

/// A list of a server, and the limit that ended it early, if one did. Malformed items are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Items<T> {
    /// The items.
    pub items: Vec<T>,
    /// The limit that ended the list.
    pub cut: Option<Cut>,
}

impl Imported {
    /// Returns a list of the server, which is read page by page and within limits unless the latest one is fresh.
    pub(super) async fn items<T: OnDemand, U>(
        &self,
        item: impl Fn(T) -> U,
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
        if !T::is_offered(&peer) {
            return Ok(Items {
                items: Vec::new(),
                cut: None,
            });
        }
        let read = T::kept(&self.lists).get_or_read(list::<T>(&peer)).await;
        let listing = read.map_err(|error| failed(self.shown(&reason(&error))))?;
        Ok(Items {
            items: listing.items.iter().flatten().cloned().map(item).collect(),
            cut: listing.cut,
        })
    }
}
