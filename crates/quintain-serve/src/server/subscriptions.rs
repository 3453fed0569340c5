//! Subscriptions to resources: which URIs a legacy session named, and how updates reach it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;

use super::resources::Address;
use crate::principal::Principal;
use crate::updates::{Update, Updates};

/// Subscriptions of one session.
const MOST: usize = 256;
/// How often a listener looks whether its session still exists.
const CHECK: Duration = Duration::from_secs(30);

/// What a legacy session subscribed to: the path, and the URI as it wrote it.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<HashMap<String, String>>>);

impl Subscriptions {
    /// Adds a subscription. Returns false if there are too many.
    pub(super) fn add(
        &self,
        uri: &str,
        path: &str,
        principal: &Principal,
        updates: &Updates,
        peer: &Peer<RoleServer>,
    ) -> bool {
        let mut wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.len() >= MOST {
            return false;
        }
        let is_first = wanted.is_empty();
        wanted.insert(path.to_owned(), uri.to_owned());
        drop(wanted);
        if is_first {
            let (wanted, principal) = (self.clone(), principal.clone());
            tokio::spawn(forward(wanted, principal, updates.clone(), peer.clone()));
        }
        true
    }

    pub(super) fn remove(&self, path: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn uri(&self, path: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

fn concerns(principal: &Principal, update: &Update) -> bool {
    update.owner == principal.owner || principal.is_admin()
}

/// Sends updates to a legacy session until it ends or has no subscription.
async fn forward(
    wanted: Subscriptions,
    principal: Principal,
    updates: Updates,
    peer: Peer<RoleServer>,
) {
    let mut listener = updates.listen();
    loop {
        let update = match tokio::time::timeout(CHECK, listener.recv()).await {
            Ok(Ok(update)) => Some(update),
            Ok(Err(RecvError::Closed)) => return,
            Ok(Err(RecvError::Lagged(_))) | Err(_) => None,
        };
        if peer.is_transport_closed() || wanted.is_empty() {
            return;
        }
        let update = update.filter(|update| concerns(&principal, update));
        if let Some(uri) = update.and_then(|update| wanted.uri(&update.path)) {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
    }
}

/// Serves `subscriptions/listen` of 2026-07-28 until the client ends it.
pub(super) async fn listen(context: SubscriptionContext, principal: Principal, updates: Updates) {
    let mut listener = updates.listen();
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    loop {
        let update = tokio::select! {
            update = listener.recv() => update,
            () = context.cancelled() => return,
        };
        let update = match update {
            Ok(update) if concerns(&principal, &update) => update,
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let is_named =
            |uri: &&String| Address::parse(uri).is_some_and(|own| own.path == update.path);
        for uri in uris.iter().filter(is_named) {
            if context.sink().notify_resource_updated(uri.clone()).await.is_err() {
                return;
            }
        }
    }
}
