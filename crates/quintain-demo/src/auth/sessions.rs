//! Which user opened which HTTP session.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::identity::Caller;

#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Caller>>);

impl Sessions {
    pub(crate) fn open(&self, id: &str, caller: Caller) {
        self.all().insert(id.to_owned(), caller);
    }

    pub(crate) fn close(&self, id: &str) {
        self.all().remove(id);
    }

    pub(crate) fn owner(&self, id: &str) -> Option<Caller> {
        self.all().get(id).cloned()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Caller>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
