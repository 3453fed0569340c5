//! A red-team run: what the user orders, and what came of it.

mod insight;
mod fitting;
mod orders;
mod plugins;
mod record;
mod regression;
mod report;
mod risk;
mod suppress;
mod written;

pub use insight::{Chain, Gift, Insight};
pub use fitting::{Fit, fitting};
pub use orders::{IdentityOrder, Orders, PluginOrder};
pub use plugins::{Unavailable, collections, known_names, unavailable};
pub use record::{BoutKey, BoutRecord};
pub use regression::{Ground as RegressionGround, Left, Regression, regression};
pub use report::{AttackReport, NotRun, PhaseTime, RedteamReport, ToolCoverage};
pub use risk::{Level, Risk, interval, risk};
pub use suppress::{Suppression, part as part_suppressed, read as read_suppressions};
pub use written::{written_identity, written_target};
