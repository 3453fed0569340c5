//! A red-team run: what the user orders, and what came of it.

mod insight;
mod orders;
mod plugins;
mod record;
mod report;
mod risk;
mod suppress;

pub use insight::{Chain, Gift, Insight};
pub use orders::{IdentityOrder, Orders, PluginOrder};
pub use plugins::{Unavailable, collections, known_names, unavailable};
pub use record::{BoutKey, BoutRecord};
pub use report::{AttackReport, NotRun, PhaseTime, RedteamReport, ToolCoverage};
pub use risk::{Level, Risk, interval, risk};
pub use suppress::{Suppression, part as part_suppressed, read as read_suppressions};
