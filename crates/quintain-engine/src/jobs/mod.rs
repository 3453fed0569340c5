//! The entry point of the engine: [`Jobs`] prepares and starts an owned [`RunRequest`] and returns a [`RunHandle`].
//! The command line is one client. Two jobs share only the store and the limit of how many run concurrently.

mod case_metrics;
mod check_models;
mod environment;
mod eval;
mod events;
mod grade;
mod handle;
mod listener;
mod load_answers;
mod loading;
mod orders;
mod prepare;
mod redteam;
mod request;
mod slots;
mod target;
mod target_config;

pub use crate::metrics::{MetricRequest, RouterRequest};
pub use environment::{Jobs, LoadedSuite, Refusal, RequestNotice, load_suite};
pub use eval::Choices;
pub use events::{Cancel, StopLevel};
pub use handle::{RunError, RunHandle, RunOutcome};
pub use listener::EventListener;
pub use load_answers::LoadAnswers;
pub use orders::orders_of;
pub use prepare::{PreparedRun, SubmitError};
pub use quintain_evidence::reproduce::{quoted, reproduce, reproduced_by};
pub use redteam::chosen_target;
pub use request::{
    EvalWork, GradeWork, OrderRequest, Overrides, RedteamWork, RejudgeWork, ReplayWork, Resume,
    RunRequest, TargetRequest, TraceInput, Work,
};
pub use target::{ChosenTarget, adjust, choose, choose_attacked, plain};
pub use target_config::{config, target_label, text_config};
