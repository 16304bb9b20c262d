//! Tests of the expansion of `#[tool]`, without a compiler.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::expand;

/// Returns the messages of the compile errors, in order.
fn errors(attribute: TokenStream, item: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expand(attribute, item)).unwrap();
    file.items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Macro(item)
                if item.mac.path.segments.last().unwrap().ident == "compile_error" =>
            {
                Some(item.mac.parse_body::<syn::LitStr>().unwrap().value())
            }
            _ => None,
        })
        .collect()
}

/// Returns the errors of a valid function with these attributes.
fn errors_with(attribute: TokenStream) -> Vec<String> {
    errors(
        attribute,
        quote! { #[doc = "A."] fn f(#[doc = "B."] path: String) {} },
    )
}

fn assert_error(found: &[String], expected: &str) {
    assert!(
        matches!(found, [one] if one.contains(expected)),
        "expected one error with {expected:?}, found {found:#?}"
    );
}

#[test]
fn every_attribute_is_understood() {
    let all = quote! {
        name = "fs.read", was = ["fs.cat", "cat"], title = "Read", reads = "fs:{path}", writes = ["fs:{path}", "x:{*}",], destroys = "fs:a", reads = "b:c",
        reads = "net:{A.url|host}", writes = "net:{b::B<C,D>.url}", open_world, idempotent, audit, blocking, timeout = "30s", max_output = "64KiB", delegates, keeps_call = ["path", "path"], tags = ["a", "b"], needs(A, b::B<C, D>),
        targets = a::c, check = a::d, concerns = a::e, preview = a::b,
        example({"path": "a"} => [1, 2]), example({}), crate = ::cribs,
    };
    assert_eq!(errors_with(all), [""; 0]);
    assert_eq!(
        errors_with(quote! { pure, crate = "crate::x", needs = A, max_output = 1_000, tags = "a" }),
        [""; 0]
    );
}

#[test]
fn an_error_names_the_attribute_and_its_repair() {
    for (attribute, expected) in [
        (
            quote! { reads = "net:{Tracker.base_url|host}" },
            "add `needs(Tracker)`",
        ),
        (
            quote! { reads = "net:{a::Tracker.}", needs(a::Tracker) },
            "is no field of a struct",
        ),
        (
            quote! { pure, raeds = "x:y" },
            "unknown attribute `raeds` (did you mean `reads`?); write one of: pure, reads",
        ),
        (quote! { pure, pure }, "`pure` is repeated"),
        (quote! { pure, "name" }, "expected the name of an attribute"),
        (quote! { pure idempotent }, "takes no value"),
        (quote! { pure = true }, "`pure` takes no value"),
        (quote! { pure, name }, "`name` needs a value"),
        (quote! { pure, name = 3 }, "write `name = "),
        (quote! { pure, name = "" }, "cannot be empty"),
        (quote! { pure, name = "a b" }, "has ' '"),
        (quote! { pure, was = "a b" }, "has ' '"),
        (quote! { pure, was = ["a", "b", "a"] }, "\"a\" is repeated"),
        (quote! { pure, was = "f" }, "this is the present name"),
        (quote! { pure, title = "a" "b" }, "expected a comma"),
        (quote! { pure, title = " " }, "`title` is blank"),
        (quote! { pure, tags = [] }, "`tags` is empty"),
        (quote! { pure, tags = [""] }, "this text is blank"),
        (quote! { pure, timeout = 30 }, "such as `timeout = \"30s\"`"),
        (quote! { pure, timeout = "30" }, "is not a duration"),
        (quote! { pure, max_output = 0 }, "above 0"),
        (quote! { pure, max_output = "64KB" }, "is not a size"),
        (quote! { pure, needs() }, "`needs` is empty"),
        (
            quote! { pure, crate = "a b" },
            "write the path of the crate",
        ),
        (
            quote! { writes = "exec:{*}" },
            "name it with `targets = function`",
        ),
        (
            quote! { writes = "exec:ls", targets = a },
            "such as `writes = \"exec:{*}\"`",
        ),
        (
            quote! { pure, keeps_call = ["path"] },
            "write two arguments of this tool",
        ),
        (
            quote! { pure, keeps_call = ["path", "pat"] },
            "uses `pat`, which is not an argument of this tool",
        ),
        (quote! { pure, check = 3 }, "write the name of a function"),
        (
            quote! { pure, concerns = 3 },
            "write the name of a function",
        ),
        (quote! { pure, preview }, "`preview` needs a value"),
        (quote! { pure, preview = 3 }, "write the name of a function"),
        (
            quote! { pure, preview = a, preview = b },
            "`preview` is repeated",
        ),
        (
            quote! { pure, example([1]) },
            "the arguments of an example must be an object",
        ),
        (
            quote! { pure, example({} =>) },
            "with or without `=> result`",
        ),
        (quote! { pure, example = 1 }, "write `example("),
        (quote! { reads = "fs:{path" }, "an unmatched `{`"),
        (
            quote! { reads = "fs:{pat}" },
            "uses `pat`, which is not an argument of this tool (did you mean `path`?); write one of: path",
        ),
        (quote! { reads = 1 }, "write `reads = "),
        (quote! { pure, open_world }, "`pure` contradicts"),
        (quote! { idempotent }, "declares no effects"),
    ] {
        assert_error(&errors_with(attribute), expected);
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let found = errors(
        quote! { timeout = "1", colour, pure, pure },
        quote! { unsafe fn f<T>(a: &str, (b, c): T) {} },
    );
    assert_eq!(found.len(), 8, "{found:#?}");
}

#[test]
fn the_function_is_returned_even_if_it_is_not_a_tool() {
    let given = expand(
        quote! {},
        quote! { fn f(#[doc = "B."] path: &str) -> usize { path.len() } },
    );
    let file: syn::File = syn::parse2(given).unwrap();
    let original: syn::Item = syn::parse_quote! { fn f(path: &str) -> usize { path.len() } };
    assert_eq!(file.items.first(), Some(&original));
}

#[test]
fn a_template_may_use_the_name_in_the_schema() {
    let renamed = quote! { #[doc = "A."] fn f(#[doc = "B."] #[serde(default = "x", rename = "file-path")] path: String) {} };
    assert_eq!(
        errors(quote! { reads = "fs:{file-path}" }, renamed.clone()),
        [""; 0]
    );
    assert_error(
        &errors(quote! { reads = "fs:{path}" }, renamed),
        "write one of: file-path",
    );
    let raw = quote! { #[doc = "A."] fn f(#[doc = "B."] r#type: String) {} };
    assert_eq!(errors(quote! { reads = "x:{type}" }, raw), [""; 0]);
}

#[test]
fn the_fields_of_a_struct_are_not_guessed() {
    let args = quote! { #[doc = "A."] fn f(#[args] Search { query, .. }: Search, _: &tools::ToolContext) {} };
    assert_eq!(errors(quote! { reads = "fs:{anything}" }, args), [""; 0]);
}

#[test]
fn a_parameter_that_no_json_can_fill_is_refused() {
    for (ty, expected) in [
        (quote! { &str }, "write `String`"),
        (quote! { &[u8] }, "write `Vec<u8>`"),
        (quote! { &std::path::Path }, "write `String`"),
        (quote! { &mut Thing }, "write `Thing`"),
        (quote! { impl Into<String> }, "not `impl Trait`"),
        (quote! { Vec<impl Into<String>> }, "not `impl Trait`"),
        (quote! { Option<&'static str> }, "cannot borrow"),
        (quote! { Cow<'_, str> }, "cannot borrow"),
        (quote! { &mut ToolContext }, "take it as `&ToolContext`"),
        (quote! { &'static ToolContext }, "take it as `&ToolContext`"),
    ] {
        assert_error(
            &errors(
                quote! { pure },
                quote! { #[doc = "A."] fn f(#[doc = "B."] a: #ty) {} },
            ),
            expected,
        );
    }
}

#[test]
fn a_function_that_a_model_cannot_call_is_refused() {
    let found = errors(
        quote! { pure },
        quote! { #[doc = "A."] const unsafe extern "C" fn f(#[doc = "B."] a: u8, ...) {} },
    );
    for (found, expected) in found
        .iter()
        .zip(["`const`", "`unsafe`", "`extern`", "variadic"])
    {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(found.len(), 4);
}

#[test]
fn a_result_that_borrows_is_refused() {
    for (ty, expected) in [
        (quote! { &str }, false),
        (quote! { Cow<'_, str> }, false),
        (quote! { &'static str }, true),
    ] {
        let found = errors(
            quote! { pure },
            quote! { #[doc = "A."] fn f(cx: &ToolContext) -> #ty { "" } },
        );
        assert_eq!(found.is_empty(), expected, "{ty}: {found:?}");
    }
}
