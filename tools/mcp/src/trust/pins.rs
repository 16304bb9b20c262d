//! [`Pins`]: the definitions of a server's tools that the user has approved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tools::IgnorePoison as _;
use tools::{Digest, Tool, ToolName};
use tools_store::private::remove;
use tools_text::unified_diff;

use crate::client::{Refused, Review, ServerName, ServerTool, unusable};
use crate::config::{EffectsRemark, ServerSettings};
use crate::private_file;
use crate::trust::lock_file::{self, Pin, Pinned, read};
use crate::trust::pending_file;
use host::trust::TrustError;

/// The definitions of a server's tools that the user has approved, as a review of the server's import. They are kept in a file, for the
/// user only.
///
/// - The first list of an approved server pins all its tools, because the user approved the server for them.
/// - Later, a tool that is new or has changed is refused until the user approves it.
/// - A tool that vanishes keeps its pin.
/// - A server may return to each definition that the user approved, as one does that changes a tool while it runs.
/// - A call runs only while the definition that its caller saw is a pinned one.
///
/// Two definitions are equal as those of [`ServerTool`] are.
pub struct Pins {
    /// The path of the file.
    pub path: PathBuf,
    server: ServerName,
    settings: ServerSettings,
    state: Mutex<State>,
}

/// A definition that waits for the user's approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pending {
    /// The name of the tool in a catalog.
    pub tool: ToolName,
    /// The pinned definition. `None` if the tool is new.
    pub pinned: Option<ServerTool>,
    /// The definition that the server has now.
    pub present: ServerTool,
}

#[derive(Default)]
struct State {
    /// The pins. `None` before the first list.
    pinned: Option<Pinned>,
    /// The definitions of the present list, until it is complete.
    listed: Pinned,
    /// The definitions that are not the pinned ones, of the latest list and of earlier ones.
    pending: Vec<Pending>,
    /// The digests of the latest list. `None` before the first.
    latest: Option<BTreeMap<ToolName, Digest>>,
    /// The tools whose declared effects do not fit their schema, with the reason.
    faults: BTreeMap<ToolName, String>,
}

impl Pins {
    /// Opens the pins of a server, whose file need not exist. Its tools get the effects of the settings.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if it is damaged, or if other users have access to it.
    pub fn open(
        path: impl Into<PathBuf>,
        server: ServerName,
        settings: ServerSettings,
    ) -> Result<Self, TrustError> {
        let path = path.into();
        let pinned = read(&path, &server)?;
        let pending = pinned
            .as_ref()
            .map(|pinned| pending(pinned, pending_file::read(&pending_path(&path))))
            .unwrap_or_default();
        let state = Mutex::new(State {
            pinned,
            pending,
            ..State::default()
        });
        Ok(Self {
            path,
            server,
            settings,
            state,
        })
    }

    /// Returns the pinned definitions, for [`Import::known`](crate::client::Import::known).
    pub fn known_tools(&self) -> Vec<(ToolName, ServerTool)> {
        let state = self.lock();
        let pinned = state.pinned.iter().flatten();
        pinned
            .map(|(name, pin)| (name.clone(), pin.definition.clone()))
            .collect()
    }

    /// Returns true if a list of the server was pinned.
    pub fn is_pinned(&self) -> bool {
        self.lock().pinned.is_some()
    }

    /// Returns the definitions of the latest list, and of earlier ones, that wait for approval, sorted by name.
    pub fn pending(&self) -> Vec<Pending> {
        self.lock().pending.clone()
    }

    /// Returns the definitions that wait for approval, if the server has listed its tools since the pins were opened.
    pub fn news(&self) -> Vec<Pending> {
        let state = self.lock();
        if state.latest.is_some() {
            state.pending.clone()
        } else {
            Vec::new()
        }
    }

    /// Pins definitions that the user has seen. Refresh the import after this, so that they are registered.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub fn approve(&self, seen: &[Pending]) -> Result<(), TrustError> {
        // Another process may have pinned others.
        let mut pinned = read(&self.path, &self.server)?.unwrap_or_default();
        let latest = self.lock().latest.clone().unwrap_or_default();
        for Pending { tool, present, .. } in seen {
            let mut pin = Pin::new(present.clone());
            if let Some(mut before) = pinned.remove(tool) {
                // A server that has the earlier definition at its start begins the next session with it.
                if latest.get(tool) == Some(&before.digest) {
                    std::mem::swap(&mut pin, &mut before);
                }
                pin.others
                    .extend(before.others.iter().chain([&before.digest]));
            }
            pinned.insert(tool.clone(), pin);
        }
        self.write(&pinned, private_file::replace)?;
        let mut state = self.lock();
        state.pending.retain(|pending| pending.waits_in(&pinned));
        state.pinned = Some(pinned);
        self.keep(&state.pending);
        Ok(())
    }

    /// Reads the pins again, because another process may have approved definitions. Returns true if they have changed; refresh the import
    /// then. Without a file they stay.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn reload(&self) -> Result<bool, TrustError> {
        let Some(read) = read(&self.path, &self.server)? else {
            return Ok(false);
        };
        let mut state = self.lock();
        let has_changed = state.pinned.as_ref() != Some(&read);
        if has_changed {
            state.pending.retain(|pending| pending.waits_in(&read));
            state.pinned = Some(read);
        }
        Ok(has_changed)
    }

    /// Returns true if the server had resources at its latest list, for
    /// [`Import::has_resources`](crate::client::Import::has_resources).
    pub fn has_resources(&self) -> bool {
        self.resources_path().exists()
    }

    /// Removes the pins. Returns true if there were any.
    ///
    /// # Errors
    /// Returns [`TrustError::Write`] if the file cannot be removed.
    pub fn remove(self) -> Result<bool, TrustError> {
        self.keep_resources(false);
        self.keep(&[]);
        remove(&self.path).map_err(|source| TrustError::Write {
            path: self.path,
            source,
        })
    }

    /// Pins the first list, unless another process was faster.
    fn pin_first(&self, listed: &Pinned) -> Result<Pinned, TrustError> {
        let mut is_first = true;
        self.write(listed, |path, text| {
            is_first = private_file::create(path, text)?;
            Ok(())
        })?;
        if is_first {
            Ok(listed.clone())
        } else {
            Ok(read(&self.path, &self.server)?.unwrap_or_default())
        }
    }

    fn write(
        &self,
        pinned: &Pinned,
        write: impl FnOnce(&Path, &str) -> std::io::Result<()>,
    ) -> Result<(), TrustError> {
        let text = lock_file::text(&self.server, pinned).map_err(std::io::Error::from);
        let written = text.and_then(|text| write(&self.path, &text));
        written.map_err(|source| TrustError::Write {
            path: self.path.clone(),
            source,
        })
    }

    /// Returns the path of the file whose presence tells that the server has resources.
    fn resources_path(&self) -> PathBuf {
        self.path.with_extension("resources")
    }

    fn keep_resources(&self, has_resources: bool) {
        let path = self.resources_path();
        let kept = if !has_resources {
            remove(&path)
        } else if path.exists() {
            Ok(false)
        } else {
            private_file::create(&path, "")
        };
        if let Err(error) = kept {
            self.warn(&path, &error);
        }
    }

    /// Keeps definitions for the command that approves them.
    fn keep(&self, pending: &[Pending]) {
        let tools = pending
            .iter()
            .map(|pending| (pending.tool.clone(), pending.present.clone()))
            .collect();
        let path = pending_path(&self.path);
        if let Err(error) = pending_file::write(&path, tools) {
            self.warn(&path, &error);
        }
    }

    fn warn(&self, path: &Path, error: &std::io::Error) {
        let (server, path) = (self.server.as_str(), path.display());
        tracing::warn!(server, "{path} cannot be changed: {error}");
    }

    /// Returns remarks about the declared effects, such as one that does not fit the pinned definition of its tool.
    pub fn remarks(&self) -> Vec<EffectsRemark> {
        let known = self.known_tools();
        if !self.is_pinned() {
            return Vec::new();
        }
        self.settings
            .remarks(&self.server, known.iter().map(|(name, tool)| (name, tool)))
    }

    /// Returns the pinned definitions that cannot be offered, with the reason.
    pub fn unusable(&self) -> Vec<(ToolName, Refused)> {
        unusable(&self.server, self.known_tools())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn refusal(&self, tool: &ToolName, is_known: bool) -> String {
        let reason = if is_known {
            "its definition has changed since it was approved"
        } else {
            "it is new"
        };
        format!(
            "{tool} waits for approval, because {reason}; the user approves it with `mcp approve {}`",
            self.server
        )
    }
}

impl Review for Pins {
    fn review(&self, definition: &ServerTool, tool: Tool) -> Result<Tool, String> {
        let pin = Pin::new(definition.clone());
        let mut state = self.lock();
        let pinned = state.pinned.as_ref();
        let pinned = pinned.map(|pinned| pinned.get(&tool.name).cloned());
        let name = tool.name.clone();
        let digest = pin.digest;
        state.listed.insert(name.clone(), pin);
        drop(state);
        match pinned {
            None => {}
            Some(Some(pinned)) if pinned.permits(&digest) => {}
            Some(pinned) => return Err(self.refusal(&name, pinned.is_some())),
        }
        let declared = self
            .settings
            .with_declared_effects(definition.name(), tool.clone());
        match declared.effects.check(&declared.parameters, &[]) {
            Ok(()) => {
                self.lock().faults.remove(&name);
                Ok(declared)
            }
            // Without effects, a call would be an open-world write; with wrong ones it must not run.
            Err(error) => {
                let server = &self.server;
                let reason = format!(
                    "the effects of {:?} for the server {server} in mcp.json are wrong: {error}; the user corrects them",
                    definition.name()
                );
                self.lock().faults.insert(name, reason);
                Ok(tool)
            }
        }
    }

    fn end_list(&self, has_resources: bool) -> Vec<String> {
        let mut state = self.lock();
        let listed = std::mem::take(&mut state.listed);
        self.keep_resources(has_resources);
        let pinned = state.pinned.get_or_insert_with(|| {
            self.pin_first(&listed).unwrap_or_else(|error| {
                tracing::warn!(
                    server = self.server.as_str(),
                    "the definitions are pinned for this process only: {error}"
                );
                listed.clone()
            })
        });
        let remarks = self.settings.remarks(
            &self.server,
            listed.iter().map(|(name, pin)| (name, &pin.definition)),
        );
        let (latest, present) = listed
            .into_iter()
            .map(|(name, pin)| ((name.clone(), pin.digest), (name, pin.definition)))
            .unzip();
        // A server may offer or change a tool only while a session uses it, so another list does not show that.
        let pending: BTreeMap<_, _> = [pending_file::read(&pending_path(&self.path)), present]
            .into_iter()
            .flat_map(|tools| pending(pinned, tools))
            .map(|pending| (pending.tool.clone(), pending))
            .collect();
        let pending: Vec<_> = pending.into_values().collect();
        if pending != state.pending || !pending.is_empty() {
            self.keep(&pending);
        }
        (state.pending, state.latest) = (pending, Some(latest));
        remarks.into_iter().map(|remark| remark.text).collect()
    }

    fn check(&self, name: &ToolName, digest: &Digest) -> Result<(), String> {
        let state = self.lock();
        match state.pinned.as_ref().and_then(|pinned| pinned.get(name)) {
            Some(pin) if pin.permits(digest) => state
                .faults
                .get(name)
                .map_or(Ok(()), |reason| Err(reason.clone())),
            pin => Err(self.refusal(name, pin.is_some())),
        }
    }
}

impl Pending {
    fn waits_in(&self, pinned: &Pinned) -> bool {
        let pin = pinned.get(&self.tool);
        pin.is_none_or(|pin| !pin.permits(&self.present.digest()))
    }

    /// Returns the definition as text if the tool is new, or else the difference from the pinned one. Invisible characters are escaped.
    pub fn diff(&self) -> String {
        let present = self.present.to_text();
        let Some(pinned) = &self.pinned else {
            return present;
        };
        let pinned = pinned.to_text();
        unified_diff(("approved", &pinned), ("present", &present))
    }
}

/// Returns the path of the file of the definitions that wait, beside that of the pins.
fn pending_path(pins: &Path) -> PathBuf {
    pins.with_extension("pending")
}

/// Returns the definitions that are not approved, sorted by name.
fn pending(pinned: &Pinned, present: BTreeMap<ToolName, ServerTool>) -> Vec<Pending> {
    let pending = |(tool, present): (ToolName, ServerTool)| Pending {
        pinned: pinned.get(&tool).map(|pin| pin.definition.clone()),
        tool,
        present,
    };
    let all = present.into_iter().map(pending);
    all.filter(|pending| pending.waits_in(pinned)).collect()
}
