//! [`ServedCache`]: the place of the [`ServedFacts`] about one model in the file of a program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Url;
use serde::{Deserialize, Serialize};
use tools::protocol::HostPlace;

use crate::endpoint::Endpoint;
use crate::served_facts::ServedFacts;

/// The seconds after which a service is asked again: a day.
const AGE: u64 = 24 * 60 * 60;

/// The place of the facts about one model.
pub(crate) struct ServedCache<'a> {
    /// `None` for a server of this machine or network: a person may start it with another model or context at any time, and its answer
    /// takes no time.
    file: Option<&'a Path>,
    name: String,
}

/// Facts with their time in seconds since 1970.
#[derive(Serialize, Deserialize)]
struct Stored {
    at: u64,
    facts: ServedFacts,
}

impl<'a> ServedCache<'a> {
    pub(crate) fn new(file: &'a Path, endpoint: &Endpoint, model: &str) -> Self {
        let url = Url::parse(&endpoint.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str);
        let is_public = host.is_some_and(|host| HostPlace::from_host(host) == HostPlace::Elsewhere);
        Self {
            file: is_public.then_some(file),
            name: format!("{} {} {model}", endpoint.api.name(), endpoint.base_url),
        }
    }

    /// Returns the stored facts, if they are new.
    pub(crate) fn read(&self) -> Option<ServedFacts> {
        Some(stored(self.file?).remove(&self.name)?.facts)
    }

    /// Stores the facts. Two programs that write at a time may lose those of one, which then asks again, and so does one that cannot
    /// write.
    pub(crate) fn write(&self, facts: ServedFacts) {
        let Some(file) = self.file else {
            return;
        };
        let mut stored = stored(file);
        stored.insert(self.name.clone(), Stored { at: now(), facts });
        let Ok(text) = serde_json::to_string(&stored) else {
            return;
        };
        let part = file.with_extension(format!("{}.part", std::process::id()));
        if let Some(folder) = file.parent() {
            let _ = fs::create_dir_all(folder);
        }
        let _ = fs::write(&part, text).and_then(|()| fs::rename(&part, file));
    }
}

/// Returns the new facts of a file. A file that cannot be read has none.
fn stored(file: &Path) -> BTreeMap<String, Stored> {
    let text = fs::read(file).unwrap_or_default();
    let mut stored: BTreeMap<_, Stored> = serde_json::from_slice(&text).unwrap_or_default();
    // A time in the future is that of a clock that was wrong.
    stored.retain(|_, stored| now().checked_sub(stored.at).is_some_and(|age| age < AGE));
    stored
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
