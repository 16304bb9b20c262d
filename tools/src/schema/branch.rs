//! Which branch of `anyOf` or `oneOf` was meant, when none matched.

use std::cmp::Reverse;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

type Errors = [ValidationError<'static>];

/// What to tell about branches of which none matched.
pub(super) enum Nearest<'a> {
    /// The branches differ in one thing, and the value has none of their choices: one error of each.
    Choice(Vec<&'a ValidationError<'static>>),
    /// The branch that was meant.
    Branch {
        /// Its place.
        index: usize,
        /// Whether that is a guess among several.
        is_guess: bool,
    },
}

/// The branch whose kind and tag fit, or else the one with the fewest errors, or else the deepest ones; `at` is the pointer of
/// the value that all of them were tried on.
pub(super) fn nearest<'a>(branches: &'a [Vec<ValidationError<'static>>], at: &str) -> Nearest<'a> {
    let mut meant: Vec<usize> = (0..branches.len()).collect();
    if let Some(choice) = narrow(&mut meant, branches, |errors| kind_error(errors, at)) {
        return Nearest::Choice(choice);
    }
    if let Some(choice) = narrow(&mut meant, branches, |errors| tag_error(errors, at)) {
        return Nearest::Choice(choice);
    }
    let best = meant.iter().copied().min_by_key(|index| {
        let errors = &branches[*index];
        let deepest = errors.iter().map(depth).max();
        (errors.len(), Reverse(deepest))
    });
    Nearest::Branch { index: best.unwrap_or(0), is_guess: meant.len() > 1 }
}

/// Drops the branches that `mismatch` excludes. If that is all of them, and for the same place, they are a choice.
fn narrow<'a>(
    meant: &mut Vec<usize>,
    branches: &'a [Vec<ValidationError<'static>>],
    mismatch: impl Fn(&'a Errors) -> Option<&'a ValidationError<'static>>,
) -> Option<Vec<&'a ValidationError<'static>>> {
    let excluded: Vec<_> = meant.iter().filter_map(|index| mismatch(&branches[*index])).collect();
    if excluded.len() < meant.len() {
        meant.retain(|index| mismatch(&branches[*index]).is_none());
        return None;
    }
    let place = excluded.first()?.instance_path();
    excluded.iter().all(|error| error.instance_path() == place).then_some(excluded)
}

/// The error of a branch that is about another kind of value altogether.
fn kind_error<'a>(errors: &'a Errors, at: &str) -> Option<&'a ValidationError<'static>> {
    errors.iter().find(|error| {
        let decides = matches!(
            error.kind(),
            ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
        );
        decides && error.instance_path().as_str() == at
    })
}

/// The error of a branch that is for values with another tag: a property with few choices.
fn tag_error<'a>(errors: &'a Errors, at: &str) -> Option<&'a ValidationError<'static>> {
    errors.iter().find(|error| {
        let decides = matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. });
        let below = error.instance_path().as_str().strip_prefix(at).and_then(|path| path.strip_prefix('/'));
        decides && below.is_some_and(|path| !path.contains('/'))
    })
}

fn depth(error: &ValidationError<'static>) -> usize {
    error.instance_path().as_str().matches('/').count()
}
