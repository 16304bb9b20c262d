//! [`Services`]: the services that a host offers to tools, by type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::context::ToolContext;
use crate::tool_error::ToolErrorKind;

/// A map of services by type, such as a workspace, an HTTP client or a store. Tools have no state of their own and use services
/// instead.
#[derive(Clone, Default)]
pub struct Services {
    offered: HashMap<TypeId, Service>,
    /// The host's reasons for services that it does not offer.
    absent: HashMap<TypeId, Arc<str>>,
}

#[derive(Clone)]
struct Service {
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
    /// Makes the service of a sub-agent. `None` if sub-agents share this one.
    for_sub_agent: Option<Arc<dyn Fn() -> Service + Send + Sync>>,
}

impl Service {
    fn from_arc<T: Send + Sync + 'static>(value: Arc<T>) -> Self {
        Self {
            type_name: type_name::<T>(),
            value,
            for_sub_agent: None,
        }
    }

    fn per_agent<T: Send + Sync + 'static>(value: Arc<T>, for_sub_agent: fn(&T) -> T) -> Self {
        let own = value.clone();
        Self {
            for_sub_agent: Some(Arc::new(move || {
                Self::per_agent(Arc::new(for_sub_agent(&own)), for_sub_agent)
            })),
            ..Self::from_arc(value)
        }
    }
}

impl Services {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a service and replaces an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, service: T) {
        self.insert_shared(Arc::new(service));
    }

    /// Adds a service that the host shares.
    pub fn insert_shared<T: Send + Sync + 'static>(&mut self, service: Arc<T>) {
        self.offered
            .insert(TypeId::of::<T>(), Service::from_arc(service));
    }

    /// Adds a service of which each sub-agent has its own, and replaces an earlier one of the same type. `for_sub_agent` makes it from that
    /// of the agent that starts the sub-agent. It is dropped when the sub-agent ends.
    pub fn insert_per_agent<T: Send + Sync + 'static>(
        &mut self,
        service: T,
        for_sub_agent: fn(&T) -> T,
    ) {
        self.offered.insert(
            TypeId::of::<T>(),
            Service::per_agent(Arc::new(service), for_sub_agent),
        );
    }

    /// Returns the services of a sub-agent: the same, except those that each agent has for itself.
    #[must_use]
    pub fn for_sub_agent(&self) -> Self {
        let mut services = self.clone();
        for service in services.offered.values_mut() {
            if let Some(made) = service.for_sub_agent.as_ref().map(|make| make()) {
                *service = made;
            }
        }
        services
    }

    /// Sets the reason that the host offers no service of this type, and the next step, such as a setting to write. Tools that need the
    /// service fail with this reason, and sessions skip them. Has no effect on a service that is offered.
    pub fn insert_absent<T: Send + Sync + 'static>(&mut self, reason: impl Into<Arc<str>>) {
        self.absent.insert(TypeId::of::<T>(), reason.into());
    }

    /// Returns the service of this type, or `None` if there is none.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.offered
            .get(&TypeId::of::<T>())?
            .value
            .clone()
            .downcast()
            .ok()
    }

    /// Returns the required services that the map lacks.
    pub fn unmet<'a>(&self, needs: &'a [Need]) -> Vec<&'a Need> {
        needs
            .iter()
            .filter(|need| !self.offered.contains_key(&need.id()))
            .collect()
    }

    /// Returns the host's reason for not offering a required service, or `None` if it gave none.
    pub fn absence(&self, need: &Need) -> Option<&str> {
        self.absent.get(&need.id()).map(|reason| &**reason)
    }

    /// Returns the error of a call whose host lacks these services.
    pub(crate) fn lack_of(&self, unmet: &[&Need]) -> ToolErrorKind {
        let mut reasons: Vec<_> = unmet
            .iter()
            .filter_map(|need| self.absence(need))
            .map(str::to_owned)
            .collect();
        let others = unmet.iter().filter(|need| self.absence(need).is_none());
        let others: Vec<_> = others.map(|need| need.type_name()).collect();
        if !others.is_empty() {
            let others = others.join(" and no ");
            reasons.push(format!(
                "the host offers no {others}; add it to the host with with_service"
            ));
        }
        ToolErrorKind::unavailable(reasons.join("; "))
    }
}

impl fmt::Debug for Services {
    /// Prints only the types, because services may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self
            .offered
            .values()
            .map(|service| service.type_name)
            .collect();
        names.sort_unstable();
        f.debug_set().entries(names).finish()
    }
}

/// The type of a service that a tool requires. Can be a constant, for static handlers.
#[derive(Clone, Copy)]
pub struct Need {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
}

impl Need {
    /// Creates the requirement of a service of type `T`.
    pub const fn new<T: Any + Send + Sync>() -> Self {
        Self {
            type_id: TypeId::of::<T>,
            type_name: type_name::<T>,
        }
    }

    /// Returns the id of the type.
    pub fn id(&self) -> TypeId {
        (self.type_id)()
    }

    /// Returns the path of the type, for messages.
    pub fn type_name(&self) -> &'static str {
        (self.type_name)()
    }
}

/// A field of a service whose value is part of a tool's targets, such as a base URL that the settings of a program name.
#[derive(Clone, Copy, Debug)]
pub struct ServiceField {
    /// The name in the templates of the tool, such as `Tracker.base_url`.
    pub name: &'static str,
    /// Returns the value as text, or `None` without the service.
    pub read: fn(&ToolContext) -> Option<String>,
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Need({})", self.type_name())
    }
}
