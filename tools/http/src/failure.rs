//! Converts errors of reqwest.

use std::error::Error;
use std::io;
use std::iter::successors;

use url::Url;

use crate::HttpError;
use crate::address::PrivateAddress;
use crate::mask::Mask;
use crate::resolver::NoAddress;

/// Converts an error of reqwest.
pub(crate) fn failure(url: &Url, error: &reqwest::Error, mask: &Mask) -> HttpError {
    let causes: Vec<_> = successors(Some(error as &(dyn Error + 'static)), |error| cause(*error)).collect();
    let url = url.to_string();
    if let Some(PrivateAddress { host, address }) = find(&causes) {
        return HttpError::Address { host: host.clone(), address: *address };
    }
    if let Some(NoAddress { reason, .. }) = find(&causes) {
        return HttpError::Lookup { url, reason: mask.text(reason.clone()) };
    }
    // The last cause says most, and the others contain it.
    let reason = mask.text(causes.last().map_or_else(|| error.to_string(), ToString::to_string));
    if find::<rustls::Error>(&causes).is_some() {
        return HttpError::Tls { url, reason };
    }
    if error.is_connect() {
        return HttpError::Connect { url, reason };
    }
    if let Some(error) = find::<hyper::Error>(&causes) {
        if error.is_parse() {
            return HttpError::Invalid { url, reason };
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return HttpError::Broken { url, reason };
        }
    }
    match find::<io::Error>(&causes).map(io::Error::kind) {
        Some(
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected,
        ) => HttpError::Broken { url, reason },
        Some(io::ErrorKind::UnexpectedEof) if !error.is_decode() => HttpError::Broken { url, reason },
        _ if error.is_body() || error.is_decode() => HttpError::Invalid { url, reason },
        _ => HttpError::Failed { url, reason },
    }
}

/// Returns the cause of an error, also that inside of an [`io::Error`], which `source` leaves out.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn find<'a, T: Error + 'static>(causes: &[&'a (dyn Error + 'static)]) -> Option<&'a T> {
    causes.iter().find_map(|cause| cause.downcast_ref())
}
