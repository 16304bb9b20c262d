//! What a tool says it touches, held against its parameters.

use syn::LitStr;

use crate::attribute::Attribute;
use crate::fault::Faults;
use crate::function::Function;
use crate::near::suggestion;
use crate::template;

/// Reports effects that are missing, contradict each other, or name arguments that do not exist.
///
/// Whether an argument that is named may be left out depends on defaults that only the schema tells; registration looks
/// at that.
pub(crate) fn check(attribute: &Attribute, function: &Function, faults: &mut Faults) {
    let templates = || attribute.reads.iter().chain(&attribute.writes).chain(&attribute.destroys);
    let touches = attribute.open_world.is_some() || templates().next().is_some();
    match attribute.pure {
        Some(pure) if touches => {
            faults.at(pure, "a tool that is `pure` touches nothing; take `pure` away, or what contradicts it (reads, writes, destroys, open_world)");
        }
        None if !touches && !attribute.has_broken_effects => faults.on(
            &function.item.sig.ident,
            format_args!(
                "`{}` does not say what it touches; write `#[tool(pure)]` if nothing, or what: `reads = \"fs:{{path}}\"`, \
                 `writes = \"…\"`, `destroys = \"…\"`, or `open_world` if it cannot be listed",
                function.item.sig.ident
            ),
        ),
        _ => {}
    }
    let properties = function.properties();
    for template in templates() {
        check_template(template, properties.as_deref(), faults);
    }
}

fn check_template(template: &LitStr, properties: Option<&[&str]>, faults: &mut Faults) {
    let text = template.value();
    let fields = match template::fields(&text) {
        Ok(fields) => fields,
        Err(fault) => return faults.at(template.span(), fault),
    };
    let Some(properties) = properties else { return };
    for field in fields.iter().filter(|field| !properties.contains(&field.as_str())) {
        let there_are = match properties {
            [] => "it has none".to_owned(),
            all => format!("there are: {}", all.join(", ")),
        };
        let near = suggestion(field, properties.iter().copied());
        faults.at(
            template.span(),
            format_args!("{text:?} names `{field}`, which is not an argument of this tool{near}; {there_are}"),
        );
    }
}
