//! A `not` goes where the service does not take it, or takes a looser form of it.

use serde_json::{Map, Value};

use super::boolean::is_false;
use crate::wire::schema::change::Rule;
use crate::wire::schema::rewriter::Rewriter;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, rewriter: &mut Rewriter<'_>) {
    // Alternatives that accept nothing go exactly, so that their `not` is no loss.
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
        && !rewriter.dialect.booleans
        && branches.iter().any(is_false)
        && !branches.iter().all(is_false)
    {
        branches.retain(|branch| !is_false(branch));
        rewriter.log.exact(Rule::Boolean);
    }
    let Some(refused) = keywords.remove("not") else { return };
    if rewriter.dialect.takes("not")
        && let Some(refused) = rewriter.guarded("not", &refused)
    {
        keywords.insert("not".to_owned(), refused);
        return;
    }
    rewriter.log.loosened(Rule::Negation);
}
