//! A red-team run: what the user orders, and what came of it.

mod again;
mod coverage;
pub(crate) mod defined;
mod destructive;
mod entries;
mod fitting;
mod generated;
mod groups;
mod identities;
mod insight;
mod intent;
mod merge;
mod orders;
mod plugins;
mod policy;
mod provider;
mod regression;
mod risk;
mod schema;
mod suppress;
mod written;

pub use again::bout_of;
pub use coverage::{described, summed_up};
pub use defined::{Defined, Reading};
pub use destructive::Destructive;
pub use fitting::{Fit, fitting};
pub use generated::{Draft as TestDraft, generated};
pub use identities::IdentityOrder;
pub use insight::insight;
pub use intent::proposed;
pub use merge::merge as merge_places;
pub(crate) use orders::IGNORED;
pub use orders::{Orders, PluginOrder};
pub use plugins::{
    Unavailable, all_unavailable, collection_names, collections, known_names, unavailable,
};
pub use provider::ModelOrder;
pub(crate) use provider::ignored as provider_options;
pub use regression::{Ground as RegressionGround, Left, Regression, regression};
pub use risk::{interval, risk};
pub use schema::schema;
pub use suppress::{Suppression, part as part_suppressed, read as read_suppressions, unused};
pub use written::{written_identity, written_target};
