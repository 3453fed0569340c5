//! One campaign against one target: what `redteam run`, `replay` and `demo` share.

use quintain_engine::World;
use quintain_engine::redteam::{Campaign, Outcome, Past, RedteamError, execute};
use quintain_engine::store::Writer;
use quintain_evidence::connection::McpTarget;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::probe::Step;
use quintain_redteam::orders::Orders;

use super::again;
use super::run::info;
use crate::cli::Desk;

pub(in crate::cli) struct Assault<'a> {
    pub(in crate::cli) target: &'a McpTarget,
    /// What reports call it.
    pub(in crate::cli) name: &'a str,
    pub(in crate::cli) world: &'a World,
    pub(in crate::cli) orders: &'a Orders,
    /// How a command line names the target.
    pub(in crate::cli) again: &'a str,
}

impl Assault<'_> {
    /// Attacks until it is done, or until the user or a budget ends it.
    pub(super) async fn execute(
        &self,
        past: Option<&Past>,
        info: impl FnOnce(usize) -> RunInfo,
        store: impl FnOnce(&RunInfo) -> Option<Writer>,
        listen: &mut dyn FnMut(Event),
        desk: &Desk,
    ) -> Result<Outcome, RedteamError> {
        let Self { target, name, world, orders, again } = *self;
        let reproduce = |step: &Step| Some(again::call(step, again));
        let campaign = Campaign { target, name, world, orders, reproduce: &reproduce, past };
        Box::pin(execute(&campaign, info, desk.stop.clone(), store, listen)).await
    }

    /// The same without a place in the store.
    pub(in crate::cli) async fn unkept(
        &self,
        listen: &mut dyn FnMut(Event),
        desk: &Desk,
    ) -> Result<Outcome, RedteamError> {
        let info = |planned| info(self.name, self.orders, planned, desk);
        self.execute(None, info, |_| None, listen, desk).await
    }
}
