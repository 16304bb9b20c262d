//! [`Servers`]: the imported servers of a catalog.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use tools::IgnorePoison as _;
use tools::tasks::StoredTask;
use tools::{Entry, SharedCatalog, Task};

use crate::client::connection::Connection;
use crate::client::destination::Destination;
use crate::client::error::ImportError;
use crate::client::import::Import;
use crate::client::imported::Imported;
use crate::client::read_resource;
use crate::client::registration::Registration;
use crate::client::tasks;

/// The imported servers of a catalog. Clones share them. When the last clone is dropped, all servers are removed.
///
/// ```
/// use serde_json::json;
/// use tools::{Grant, Host, SharedCatalog};
/// use tools_mcp::client::{Import, Servers};
/// # use rmcp::{ServiceExt, ServerHandler, model};
/// # struct Clock;
/// # impl ServerHandler for Clock {
/// #     fn get_info(&self) -> model::ServerConfig {
/// #         model::ServerConfig::new(model::ServerCapabilities::builder().enable_tools().build())
/// #     }
/// #     async fn list_tools(
/// #         &self,
/// #         _: Option<model::PaginatedRequestParams>,
/// #         _: rmcp::service::RequestContext<rmcp::RoleServer>,
/// #     ) -> Result<model::ListToolsResult, rmcp::ErrorData> {
/// #         let tool = model::Tool::new("now", "Tells the time.", model::JsonObject::new());
/// #         Ok(model::ListToolsResult::with_all_items(vec![tool]))
/// #     }
/// #     async fn call_tool(
/// #         &self,
/// #         _: model::CallToolRequestParams,
/// #         _: rmcp::service::RequestContext<rmcp::RoleServer>,
/// #     ) -> Result<model::CallToolResponse, rmcp::ErrorData> {
/// #         Ok(model::CallToolResult::success(vec![model::ContentBlock::text("noon")]).into())
/// #     }
/// # }
/// # async fn open() -> std::io::Result<(tokio::io::ReadHalf<tokio::io::DuplexStream>, tokio::io::WriteHalf<tokio::io::DuplexStream>)> {
/// #     let (ours, theirs) = tokio::io::duplex(4096);
/// #     tokio::spawn(async { Clock.serve(theirs).await.unwrap().waiting().await });
/// #     Ok(tokio::io::split(ours))
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalog = SharedCatalog::new();
/// let servers = Servers::new(catalog.clone());
/// let clock = servers.import(Import::from_streams("clock".parse()?, open))?;
/// let report = clock.ready().await?;
/// assert_eq!(report.tools, ["mcp:clock/now"]);
///
/// let cx = Host::new().with_grant(Grant::parse(["world:write:mcp:clock/*"])?);
/// let result = catalog.execute(&cx, "mcp:clock/now", json!({})).await?;
/// assert_eq!(result.to_text(), "noon");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Servers(Arc<Inner>);

struct Inner {
    destination: Destination,
    servers: Mutex<BTreeMap<String, Arc<Imported>>>,
    /// The tool that reads resources. `None` until a server has some, or if the host has a tool of this name.
    read_resource: Mutex<Option<Arc<Entry>>>,
}

impl Inner {
    fn list(&self) -> Vec<Arc<Imported>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Imported>>> {
        self.servers.lock().ignore_poison()
    }

    /// Registers the tool that reads resources, unless it is registered.
    fn read_resources(self: &Arc<Self>) {
        let mut entry = self.read_resource.lock().ignore_poison();
        if let (None, Some(tool)) = (&*entry, read_resource::definition()) {
            // The catalog keeps the tool, which must not keep the servers: their last drop removes it.
            let inner = Arc::downgrade(self);
            let handler = read_resource::handler(move || {
                inner.upgrade().map_or_else(Vec::new, |inner| inner.list())
            });
            match self.destination.register(tool, handler) {
                Ok(registered) => *entry = Some(registered),
                Err(error) => tracing::warn!("resources of MCP servers cannot be read: {error}"),
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.lock()
            .values()
            .for_each(|imported| imported.stop.cancel());
        let entry = self.read_resource.get_mut().ignore_poison();
        entry
            .iter()
            .for_each(|entry| self.destination.unregister(entry));
    }
}

impl Servers {
    /// Creates an empty set of servers, whose tools are registered in a catalog.
    pub fn new(catalog: SharedCatalog) -> Self {
        Self::with_destination(Destination::Shared(catalog))
    }

    /// Creates an empty set of servers, whose tools are registered in the process-wide catalog.
    pub fn for_global() -> Self {
        Self::with_destination(Destination::Global)
    }

    fn with_destination(destination: Destination) -> Self {
        Self(Arc::new(Inner {
            destination,
            servers: Mutex::default(),
            read_resource: Mutex::default(),
        }))
    }

    /// Imports a server. Returns at once; the connection is made in the background, or by the first call if the server's tools are
    /// [known](Import::known), and made again when it ends.
    ///
    /// # Errors
    /// Returns [`ImportError::NameTaken`] if another server has the name.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn import(&self, mut import: Import) -> Result<Arc<Imported>, ImportError> {
        let mut servers = self.0.lock();
        if servers.contains_key(import.name.as_str()) {
            return Err(ImportError::NameTaken { name: import.name });
        }
        if import.has_resources {
            self.0.read_resources();
        }
        let known = std::mem::take(&mut import.known);
        let imported = Arc::new(Imported::new(import, !known.is_empty()));
        let mut registration = Registration {
            destination: self.0.destination.clone(),
            entries: HashMap::new(),
            earlier: HashMap::new(),
        };
        registration.add_known(&imported, known);
        let inner = Arc::downgrade(&self.0);
        let connection = Connection {
            imported: imported.clone(),
            registration,
            read_resources: Box::new(move || {
                inner.upgrade().iter().for_each(Inner::read_resources);
            }),
        };
        tokio::spawn(connection.run());
        servers.insert(imported.name().to_string(), imported.clone());
        Ok(imported)
    }

    /// Returns the server with this name, or `None` if there is none.
    pub fn get(&self, name: &str) -> Option<Arc<Imported>> {
        self.0.lock().get(name).cloned()
    }

    /// Returns all servers, sorted by name.
    pub fn list(&self) -> Vec<Arc<Imported>> {
        self.0.list()
    }

    /// Finds the task of an earlier process at its server. It has ended as lost if its server is none of these, or has forgotten it.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        tasks::restore(task, |name| self.get(name))
    }

    /// Removes a server and its tools, and waits until its connection has ended. Returns true if the name existed.
    pub async fn remove(&self, name: &str) -> bool {
        let removed = self.0.lock().remove(name);
        let Some(imported) = removed else {
            return false;
        };
        imported.stop.cancel();
        imported.wait_closed().await;
        true
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.list()).finish()
    }
}
