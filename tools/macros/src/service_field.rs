//! [`ServiceField`]: a field of a service in a template, such as `{Tracker.base_url|host}`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, LitStr, Type};

use crate::attribute::Attribute;
use crate::span::at;
use crate::template;

/// A field of a service whose value is part of the targets.
pub(crate) struct ServiceField {
    /// The name in templates, such as `Tracker.base_url`.
    name: LitStr,
    service: Type,
    field: Ident,
}

impl ServiceField {
    /// Reads a name from a template. Returns `None` if it names no service.
    ///
    /// # Errors
    /// Returns a message with the repair if the tool does not need the service, or if the field has no valid name.
    pub(crate) fn from_name(
        name: &str,
        template: &LitStr,
        needs: &[Type],
    ) -> Option<Result<Self, String>> {
        let (service, field) = name.rsplit_once('.')?;
        let is_named = |need: &&Type| {
            let path = need.to_token_stream().to_string().replace(' ', "");
            path == service || path.rsplit("::").next() == Some(service)
        };
        let Some(need) = needs.iter().find(is_named) else {
            return Some(Err(format!(
                "{:?} uses the service `{service}`, which this tool does not need; add `needs({service})`",
                template.value()
            )));
        };
        let Ok(field) = syn::parse_str::<Ident>(field) else {
            return Some(Err(format!(
                "`{field}` is no field of a struct; write `{{{service}.base_url}}`"
            )));
        };
        Some(Ok(Self {
            name: LitStr::new(name, template.span()),
            service: need.clone(),
            field: Ident::new(&field.to_string(), template.span()),
        }))
    }
}

/// Returns the values of the fields of services in the templates.
pub(crate) fn quote_service_fields(attribute: &Attribute) -> TokenStream {
    let mut all: Vec<ServiceField> = Vec::new();
    for template in attribute.templates() {
        for name in template::fields(&template.value()).unwrap_or_default() {
            let field = ServiceField::from_name(&name, template, &attribute.needs);
            if let Some(Ok(field)) = field
                && all.iter().all(|other| other.name.value() != name)
            {
                all.push(field);
            }
        }
    }
    let fields = all.iter().map(
        |ServiceField {
             name,
             service,
             field,
         }| {
            quote_spanned! {at(field.span())=>
                __toolcrib::ServiceField {
                    name: #name,
                    read: |__cx| {
                        let __service = __cx.service::<#service>();
                        __service.map(|__service| ::std::string::ToString::to_string(&__service.#field))
                    },
                }
            }
        },
    );
    quote! { &[#(#fields),*] }
}
