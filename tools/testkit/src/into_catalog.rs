//! [`IntoCatalog`]: the forms in which a test passes its tools.

use tools::{Catalog, RegisterError, Submission};

/// The tools of a test: a list of submissions, the `register` function of a crate, or a [`Catalog`].
pub trait IntoCatalog {
    /// Returns a catalog of the tools, and the errors of those that could not be registered.
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>);
}

impl IntoCatalog for Catalog {
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>) {
        (self, Vec::new())
    }
}

impl IntoCatalog for &Catalog {
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>) {
        self.clone().into_catalog()
    }
}

/// Submissions, such as `&[&COUNT_TOOL]`. One that cannot be registered does not affect the others.
impl IntoCatalog for &[&'static Submission] {
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>) {
        let mut catalog = Catalog::new();
        let errors = self
            .iter()
            .filter_map(|submission| catalog.submit(&[submission]).err())
            .collect();
        (catalog, errors)
    }
}

impl<const N: usize> IntoCatalog for &[&'static Submission; N] {
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>) {
        self.as_slice().into_catalog()
    }
}

/// The `register` function of a crate.
impl<F: FnOnce(&mut Catalog) -> Result<(), RegisterError>> IntoCatalog for F {
    fn into_catalog(self) -> (Catalog, Vec<RegisterError>) {
        let mut catalog = Catalog::new();
        let errors = self(&mut catalog).err().into_iter().collect();
        (catalog, errors)
    }
}
