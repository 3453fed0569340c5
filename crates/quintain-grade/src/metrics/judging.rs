//! What metrics with a judge share: their options, their prompts, and how opinions become scores.

pub(super) mod calls;
pub(super) mod case;
pub(super) mod criteria;
pub(super) mod grades;
pub(super) mod params;
pub(super) mod plan;
pub(super) mod scorer;
pub(super) mod settings;
pub(super) mod transcript;
pub(super) mod units;
pub(super) mod verdicts;

pub(super) use self::grades::{Grade, Scale};
pub(super) use self::scorer::{Judge, Judging, Stop, judged, judged_or};
pub(super) use self::settings::JudgeSettings;
