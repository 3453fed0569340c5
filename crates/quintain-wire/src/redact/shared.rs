//! Masked values that the store and several listeners share. Nobody has to search them again unless more secrets are
//! known by then.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Masked, Redactor};

/// A shared value without any secret that its redactor knew when it was masked. Only a [`Redactor`] makes one.
#[derive(Debug)]
pub struct SharedMasked<T> {
    value: Arc<T>,
    /// The redactor that masked it.
    redactor: Redactor,
    /// Number of needles that it knew, at least.
    known: usize,
}

impl<T> Clone for SharedMasked<T> {
    fn clone(&self) -> Self {
        let Self { value, redactor, known } = self;
        Self { value: value.clone(), redactor: redactor.clone(), known: *known }
    }
}

impl<T> Deref for SharedMasked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> SharedMasked<T> {
    /// A part of it, or the same in another form.
    pub fn part<'a, U: Clone>(&'a self, make: impl FnOnce(&'a T) -> U) -> Masked<'a, U> {
        Masked(Cow::Owned(make(&self.value)))
    }

    /// The value itself.
    pub fn into_inner(self) -> Arc<T> {
        self.value
    }
}

impl Redactor {
    /// Masks a value that is to be shared; `stand_in` replaces what cannot be masked, as in
    /// [`Redactor::masked_or`].
    pub fn share_masked<T>(&self, value: Arc<T>, stand_in: impl FnOnce(&T) -> T) -> SharedMasked<T>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        // Read before the search, so that what is learned meanwhile counts as unknown.
        let known = self.count();
        let masked = match self.masked(&*value) {
            Ok(masked) => masked.into_changed(),
            Err(_) => Some(stand_in(&value)),
        };
        let value = masked.map_or(value, Arc::new);
        SharedMasked { value, redactor: self.clone(), known }
    }

    /// The same value if this redactor masked it and has learned nothing since; otherwise it is masked again.
    pub fn share_again<T>(
        &self,
        shared: &SharedMasked<T>,
        stand_in: impl FnOnce(&T) -> T,
    ) -> SharedMasked<T>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        if Arc::ptr_eq(&self.shared, &shared.redactor.shared) && self.count() == shared.known {
            return shared.clone();
        }
        self.share_masked(shared.value.clone(), stand_in)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn mask(redactor: &Redactor, text: &str) -> SharedMasked<String> {
        redactor.share_masked(Arc::new(text.to_owned()), |_| String::new())
    }

    fn again(redactor: &Redactor, shared: &SharedMasked<String>) -> SharedMasked<String> {
        redactor.share_again(shared, |_| String::new())
    }

    #[test]
    fn what_is_masked_is_shared_until_more_is_known() {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from("first-secret"));
        let one = mask(&redactor, "first-secret, second-secret");
        assert_eq!(*one, "***, second-secret");
        let two = again(&redactor.clone(), &one);
        assert!(Arc::ptr_eq(&one.value, &two.value));
        redactor.learn(&SecretString::from("second-secret"));
        assert_eq!(*again(&redactor, &two), "***, ***");
    }

    #[test]
    fn what_another_redactor_masked_is_masked_again() {
        let (ours, other) = (Redactor::default(), Redactor::default());
        ours.learn(&SecretString::from("our-secret"));
        other.learn(&SecretString::from("other-secret"));
        let masked = mask(&other, "our-secret");
        assert_eq!(*masked, "our-secret");
        assert_eq!(*again(&ours, &masked), "***");
    }

    #[test]
    fn nothing_is_copied_where_nothing_is_known() {
        let value = Arc::new("text".to_owned());
        let shared = Redactor::default().share_masked(value.clone(), |_| String::new());
        assert!(Arc::ptr_eq(&value, &shared.into_inner()));
    }
}
