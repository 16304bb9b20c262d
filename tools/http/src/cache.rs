//! [`Cache`]: the responses of a session.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use tools::IgnorePoison as _;

use crate::limits::HttpLimits;

/// A request as the cache sees it.
pub(crate) type CacheRequest = http::Request<()>;

/// The responses of a session, in memory, by the rules of RFC 9111 for a private cache. There is one response for each URL.
#[derive(Debug)]
pub(crate) struct Cache {
    max_bytes: usize,
    max_entries: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<String, Entry>,
    bytes: usize,
    uses: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    policy: CachePolicy,
    body: Bytes,
    size: usize,
    last_use: u64,
}

/// The result of a lookup.
#[derive(Debug)]
pub(crate) enum Found {
    /// A response that may be used.
    Fresh(Answer),
    /// A response that the server has to confirm, when it is sent these headers.
    Stale(HeaderMap),
    /// No response.
    Nothing,
}

impl Cache {
    pub(crate) fn new(limits: &HttpLimits) -> Self {
        Self {
            max_bytes: limits.max_cache_bytes,
            max_entries: limits.max_cache_entries,
            state: Mutex::default(),
        }
    }

    /// Looks up the response to a request.
    pub(crate) fn find(&self, request: &CacheRequest, now: SystemTime) -> Found {
        self.with(|state| {
            state.uses += 1;
            let uses = state.uses;
            let Some(entry) = state.entries.get_mut(&key(request)) else {
                return Found::Nothing;
            };
            match entry.policy.before_request(request, now) {
                BeforeRequest::Fresh(parts) => {
                    entry.last_use = uses;
                    Found::Fresh(Answer {
                        status: parts.status,
                        headers: parts.headers,
                        body: entry.body.clone(),
                        is_cut: false,
                    })
                }
                BeforeRequest::Stale {
                    request,
                    matches: true,
                } => Found::Stale(request.headers),
                BeforeRequest::Stale { .. } => Found::Nothing,
            }
        })
    }

    /// Returns the stored response that a `304 Not Modified` confirms, updated. Returns `None` if it confirms another one; the caller
    /// then requests the whole response.
    pub(crate) fn confirm(
        &self,
        request: &CacheRequest,
        headers: &HeaderMap,
        now: SystemTime,
    ) -> Option<Answer> {
        let mut response = http::Response::new(());
        (*response.status_mut(), *response.headers_mut()) =
            (StatusCode::NOT_MODIFIED, headers.clone());
        let entry = self.with(|state| state.entries.get(&key(request)).cloned())?;
        let AfterResponse::NotModified(policy, parts) =
            entry.policy.after_response(request, &response, now)
        else {
            return None;
        };
        let answer = Answer {
            status: parts.status,
            headers: parts.headers,
            body: entry.body,
            is_cut: false,
        };
        self.insert(request, policy, &answer);
        Some(answer)
    }

    /// Stores a response if its headers permit it.
    pub(crate) fn store(&self, request: &CacheRequest, answer: &Answer, now: SystemTime) {
        let mut response = http::Response::new(());
        (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers.clone());
        let options = CacheOptions {
            shared: false,
            ..CacheOptions::default()
        };
        let policy = CachePolicy::new_options(request, &response, now, options);
        self.insert(request, policy, answer);
    }

    /// Removes the response for a URL, because a request may have changed it.
    pub(crate) fn remove(&self, request: &CacheRequest) {
        self.with(|state| state.remove(&key(request)));
    }

    fn insert(&self, request: &CacheRequest, policy: CachePolicy, answer: &Answer) {
        let key = key(request);
        // The policy has a copy of the headers.
        let size = key.len() + 2 * header_bytes(&answer.headers) + answer.body.len();
        // Ages are added, which must not overflow.
        let age = answer
            .headers
            .get(header::AGE)
            .map_or(Some(0), |age| age.to_str().ok()?.trim().parse::<u32>().ok());
        let is_kept = !answer.is_cut
            && policy.is_storable()
            && age.is_some()
            && size <= self.max_bytes
            && self.max_entries > 0;
        self.with(|state| {
            state.remove(&key);
            if !is_kept {
                return;
            }
            while state.entries.len() >= self.max_entries || state.bytes + size > self.max_bytes {
                let entries = state.entries.iter();
                let oldest = entries.min_by_key(|(_, entry)| entry.last_use);
                let Some((oldest, _)) = oldest else { break };
                state.remove(&oldest.clone());
            }
            state.uses += 1;
            state.bytes += size;
            let entry = Entry {
                policy,
                body: answer.body.clone(),
                size,
                last_use: state.uses,
            };
            state.entries.insert(key, entry);
        });
    }

    fn with<T>(&self, body: impl FnOnce(&mut State) -> T) -> T {
        body(&mut self.state.lock().ignore_poison())
    }
}

impl State {
    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.size;
        }
    }
}

fn key(request: &CacheRequest) -> String {
    request.uri().to_string()
}

/// The answer to one request of a chain of redirects, without secrets.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// True if the compressed data of the body was damaged or ended early.
    pub(crate) is_cut: bool,
}

/// Returns the size of headers in HTTP/1.1, in bytes.
pub(crate) fn header_bytes(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
        .sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const T0: SystemTime = SystemTime::UNIX_EPOCH;

    fn request(url: &str) -> CacheRequest {
        http::Request::get(url).body(()).unwrap()
    }

    fn answer(headers: &[(&'static str, &str)], body: &'static str) -> Answer {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        Answer {
            status: StatusCode::OK,
            headers,
            body: Bytes::from_static(body.as_bytes()),
            is_cut: false,
        }
    }

    fn cache(max_cache_bytes: usize, max_cache_entries: usize) -> Cache {
        Cache::new(&HttpLimits {
            max_cache_bytes,
            max_cache_entries,
            ..HttpLimits::default()
        })
    }

    fn is_fresh(cache: &Cache, url: &str, seconds: u64) -> bool {
        matches!(
            cache.find(&request(url), T0 + Duration::from_secs(seconds)),
            Found::Fresh(_)
        )
    }

    #[test]
    fn the_least_recently_used_responses_make_room() {
        let cache = cache(10_000, 3);
        for url in ["http://a/", "http://b/", "http://c/"] {
            cache.store(
                &request(url),
                &answer(&[("cache-control", "max-age=60")], "x"),
                T0,
            );
        }
        assert!(is_fresh(&cache, "http://a/", 1));
        cache.store(
            &request("http://d/"),
            &answer(&[("cache-control", "max-age=60")], "x"),
            T0,
        );
        let kept = ["http://a/", "http://b/", "http://c/", "http://d/"]
            .map(|url| is_fresh(&cache, url, 1));
        assert_eq!(kept, [true, false, true, true]);
    }

    #[test]
    fn the_size_is_bounded_and_what_is_replaced_or_removed_no_longer_counts() {
        let cache = cache(300, 100);
        let fits = answer(&[("cache-control", "max-age=60")], "0123456789");
        for _ in 0..100 {
            cache.store(&request("http://a/"), &fits, T0);
        }
        assert!(is_fresh(&cache, "http://a/", 1));
        cache.remove(&request("http://a/"));
        assert_eq!(
            cache.with(|state| (state.entries.len(), state.bytes)),
            (0, 0)
        );
        for number in 0..100 {
            cache.store(&request(&format!("http://a/{number}")), &fits, T0);
            assert!(cache.with(|state| state.bytes) <= 300);
        }
        assert!(is_fresh(&cache, "http://a/99", 1));
        let long = answer(
            &[("cache-control", "max-age=60"), ("x", &"y".repeat(300))],
            "",
        );
        cache.store(&request("http://a/99"), &long, T0);
        assert!(
            !is_fresh(&cache, "http://a/99", 1),
            "a response that does not fit replaces the former one too"
        );
    }

    #[test]
    fn numbers_of_a_hostile_server_do_no_harm() {
        let huge = u64::MAX.to_string();
        for (name, value) in [
            ("age", huge.clone()),
            ("age", u32::MAX.to_string()),
            ("cache-control", format!("max-age={huge}")),
            (
                "cache-control",
                format!("max-age=0, stale-while-revalidate={huge}"),
            ),
            ("expires", huge.clone()),
            ("expires", "Fri, 31 Dec 9999 23:59:59 GMT".to_owned()),
            ("date", "Thu, 01 Jan 0001 00:00:00 GMT".to_owned()),
            ("last-modified", "Thu, 01 Jan 0001 00:00:00 GMT".to_owned()),
            ("vary", "*, a, ,".to_owned()),
        ] {
            let cache = cache(10_000, 10);
            let other = if name == "cache-control" {
                ("etag", "\"a\"")
            } else {
                ("cache-control", "max-age=60")
            };
            cache.store(
                &request("http://a/"),
                &answer(&[other, (name, &value)], "x"),
                T0 + Duration::from_secs(1),
            );
            for seconds in [0, 1, 2, 100_000_000] {
                let now = T0 + Duration::from_secs(seconds);
                let _ = cache.find(&request("http://a/"), now);
                let _ = cache.confirm(
                    &request("http://a/"),
                    &answer(&[other, (name, &value)], "").headers,
                    now,
                );
            }
        }
    }
}
