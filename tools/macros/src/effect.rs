//! The check of declared effects and of a kept call against the parameters.

use syn::LitStr;

use crate::attribute::Attribute;
use crate::errors::Errors;
use crate::function::Function;
use crate::near::suggestion;
use crate::service_field::ServiceField;
use crate::template;

/// Reports missing effects, contradictory effects, and templates with unknown arguments.
///
/// Optional arguments are checked by the compiler, which knows their types, and their defaults at registration.
pub(crate) fn check(attribute: &Attribute, function: &Function, errors: &mut Errors) {
    let touches = attribute.open_world.is_some() || attribute.templates().next().is_some();
    match attribute.pure {
        Some(pure) if touches => {
            errors.at(pure, "`pure` contradicts the other effects of this tool; remove `pure`, or remove `reads`, `writes`, `destroys` and `open_world`");
        }
        None if !touches && !attribute.has_broken_effects => errors.on(
            &function.item.sig.ident,
            format_args!(
                "`{}` declares no effects; write `#[tool(pure)]` if a call touches nothing, otherwise `reads = \"fs:{{path}}\"`, \
                 `writes = \"…\"`, `destroys = \"…\"`, or `open_world` if the targets are not known beforehand",
                function.item.sig.ident
            ),
        ),
        _ => {}
    }
    let mut templates = attribute.templates();
    match (&attribute.targets, templates.find(|template| template::is_computed(&template.value()))) {
        (Some(path), None) => errors.on(
            path,
            "`targets` computes the targets of templates with `{*}`, and there is none; write one, such as `writes = \"exec:{*}\"`",
        ),
        (None, Some(template)) => {
            errors.at(template.span(), "a function computes the values of `{*}`; name it with `targets = function`");
        }
        _ => {}
    }
    let properties = function.properties();
    for template in attribute.templates() {
        match template::fields(&template.value()) {
            Ok(mut fields) => {
                fields.retain(|field| {
                    match ServiceField::from_name(field, template, &attribute.needs) {
                        None => return true,
                        Some(Ok(_)) => {}
                        Some(Err(message)) => errors.at(template.span(), message),
                    }
                    false
                });
                check_fields(template, &fields, properties.as_deref(), errors);
            }
            Err(message) => errors.at(template.span(), message),
        }
    }
    for field in attribute.keeps_call.iter().flatten() {
        check_fields(field, &[field.value()], properties.as_deref(), errors);
    }
}

/// Reports the fields of an attribute's text that are no arguments.
fn check_fields(
    attribute: &LitStr,
    fields: &[String],
    properties: Option<&[&str]>,
    errors: &mut Errors,
) {
    // The schema of an `#[args]` struct is known at registration, which checks the fields then.
    let Some(properties) = properties else { return };
    for field in fields
        .iter()
        .filter(|field| !properties.contains(&field.as_str()))
    {
        let repair = match properties {
            [] => "add this parameter".to_owned(),
            all => format!("write one of: {}", all.join(", ")),
        };
        let near = suggestion(field, properties.iter().copied());
        let text = attribute.value();
        errors.at(
            attribute.span(),
            format_args!(
                "{text:?} uses `{field}`, which is not an argument of this tool{near}; {repair}"
            ),
        );
    }
}
