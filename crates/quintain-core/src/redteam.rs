//! A red-team run: what the user orders, and what came of it.

mod insight;
pub(crate) mod defined;
mod entries;
mod identities;
mod intent;
mod orders;
mod plugins;
mod policy;
mod record;
mod report;
mod risk;
mod suppress;

pub use insight::{Chain, Gift, Insight};
pub use defined::{Defined, Reading};
pub(crate) use entries::DEFINITION;
pub use identities::IdentityOrder;
pub use orders::{Orders, PluginOrder};
pub use plugins::{Unavailable, collections, known_names, unavailable};
pub use record::{BoutKey, BoutRecord};
pub use report::{AttackReport, DefinedAttack, NotRun, PhaseTime, RedteamReport, ToolCoverage};
pub use risk::{Level, Risk, interval, risk};
pub use suppress::{Suppression, part as part_suppressed, read as read_suppressions};
