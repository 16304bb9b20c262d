//! Converts errors of reqwest.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::sync::Arc;

use url::Url;

use crate::address::PrivateAddress;
use crate::error::HttpError;
use crate::mask::Mask;
use crate::resolver::NoAddress;

/// Converts an error of reqwest.
pub(crate) fn failure(url: &Url, error: &reqwest::Error, mask: Option<&Arc<Mask>>) -> HttpError {
    let causes: Vec<_> =
        successors(Some(error as &(dyn Error + 'static)), |error| cause(*error)).collect();
    let url = url.to_string();
    if let Some(PrivateAddress { host, address }) = find(&causes) {
        return HttpError::Address {
            host: host.clone(),
            address: *address,
        };
    }
    let lookup = find::<NoAddress>(&causes);
    let mut reason = match (lookup, causes.last()) {
        (Some(NoAddress { reason, .. }), _) => reason.clone(),
        // The last cause says most, and the others contain it.
        (None, Some(last)) => last.to_string(),
        (None, None) => error.to_string(),
    };
    if let Some(mask) = mask {
        reason = mask.text(reason);
    }
    let transfer = find::<hyper::Error>(&causes);
    let mut errors = causes
        .iter()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    let is_cut = errors.any(|error| match error.kind() {
        // The end of compressed data is one too.
        io::ErrorKind::UnexpectedEof => transfer.is_some(),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => true,
        _ => false,
    });
    if lookup.is_some() {
        HttpError::Lookup { url, reason }
    // A later one may come after the request.
    } else if error.is_connect() && find::<rustls::Error>(&causes).is_some() {
        HttpError::Tls { url, reason }
    } else if error.is_connect() {
        HttpError::Connect { url, reason }
    } else if transfer.is_some_and(|error| {
        error.is_incomplete_message() || error.is_closed() || error.is_canceled()
    }) || is_cut
    {
        HttpError::Broken { url, reason }
    } else if transfer.is_some_and(hyper::Error::is_parse) || error.is_body() || error.is_decode() {
        HttpError::Invalid { url, reason }
    } else {
        HttpError::Failed { url, reason }
    }
}

/// Returns the cause of an error, also that inside of an [`io::Error`], which `source` leaves out.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn find<'a, T: Error + 'static>(causes: &[&'a (dyn Error + 'static)]) -> Option<&'a T> {
    causes.iter().find_map(|cause| cause.downcast_ref())
}
