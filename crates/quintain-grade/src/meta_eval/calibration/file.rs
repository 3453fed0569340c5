//! Calibrations of metrics as a file: written by a meta-evaluation, read when traces are graded.

use std::collections::BTreeMap;

use quintain_evidence::graded::MetricScore;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Calibrated, Calibration, Curve};

const FORMAT: &str = "quintain-calibration";
const VERSION: u32 = 1;

/// Calibrations by the names of metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationFile {
    format: String,
    version: u32,
    /// The judge that gave the scores, if one did; its scores say nothing about another judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
    pub metrics: BTreeMap<String, Calibration>,
}

/// Why a file is not a calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationFileError {
    #[error("not a calibration file: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "not a calibration file: expected format `{FORMAT}` of version {VERSION}, not `{format}` of version {version}"
    )]
    Format { format: String, version: u32 },
    #[error("the calibration of `{0}` is damaged")]
    Curve(String),
}

impl CalibrationFile {
    pub fn new(metrics: BTreeMap<String, Calibration>) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, judge: None, metrics }
    }

    /// # Errors
    /// If the text is not such a file, or of another version.
    pub fn read(text: &str) -> Result<Self, CalibrationFileError> {
        let file: Self = serde_json::from_str(text)?;
        if file.format != FORMAT || file.version != VERSION {
            let Self { format, version, .. } = file;
            return Err(CalibrationFileError::Format { format, version });
        }
        for (name, calibration) in &file.metrics {
            let is_valid = match &calibration.curve {
                Curve::Isotonic(steps) => steps.is_valid(),
                Curve::Platt(curve) => curve.is_valid(),
            };
            if !is_valid {
                return Err(CalibrationFileError::Curve(name.clone()));
            }
        }
        Ok(file)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Adds probability, expected accuracy, ECE and n to a score, in `details.calibration`. Scores of other metrics stay as
    /// they are.
    pub fn apply(&self, score: &mut MetricScore) {
        let calibrated =
            score.score.and_then(|value| Some(self.metrics.get(&score.name)?.calibrated(value)));
        if let Some(calibrated) = calibrated {
            if let Some(reason) = &mut score.reason {
                let Calibrated { probability, expected_accuracy, ece, n } = calibrated;
                let figures = format!(
                    "probability of success {probability:.2} (expected accuracy {expected_accuracy:.2}, ECE {ece:.2}, n = {n})"
                );
                *reason = format!("{reason}; {figures}");
            }
            score.details.insert("calibration".to_owned(), json!(calibrated));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::meta_eval::calibration::{LabelledScore, Method};

    fn file() -> CalibrationFile {
        let samples: Vec<LabelledScore> = (0..40_u8)
            .map(|at| LabelledScore {
                score: f64::from(at) / 40.0,
                is_success: at % 3 != 0 && at > 9,
            })
            .collect();
        let fit = Calibration::fit(&samples, Method::Auto).unwrap();
        CalibrationFile::new(BTreeMap::from([("g-eval".to_owned(), fit)]))
    }

    #[test]
    fn figures_are_added_to_scores() {
        let mut score = MetricScore {
            name: "g-eval".to_owned(),
            score: Some(0.9),
            success: Some(true),
            threshold: 0.5,
            reason: None,
            findings: Vec::new(),
            details: Map::new(),
            judge: None,
            error: None,
        };
        let file = CalibrationFile::read(&file().text()).unwrap();
        file.apply(&mut score);
        let beside = &score.details["calibration"];
        assert_eq!(beside["n"], json!(40));
        assert!(beside["probability"].as_f64().unwrap() > 0.5, "{beside}");
        assert!(beside["expectedAccuracy"].is_f64() && beside["ece"].is_f64());
        let mut undefined = MetricScore { score: None, details: Map::new(), ..score.clone() };
        file.apply(&mut undefined);
        let mut other = MetricScore { name: "bias".into(), details: Map::new(), ..score };
        file.apply(&mut other);
        assert!(undefined.details.is_empty() && other.details.is_empty());
    }

    #[test]
    fn other_files_are_refused() {
        assert!(CalibrationFile::read("{").is_err());
        assert!(CalibrationFile::read("{}").is_err());
        let text = file().text();
        let newer = text.replace("\"version\": 1", "\"version\": 2");
        let error = CalibrationFile::read(&newer).unwrap_err().to_string();
        assert!(error.contains("version 2"), "{error}");
        let mut damaged: Value = serde_json::from_str(&text).unwrap();
        damaged["metrics"]["g-eval"]["curve"] =
            json!({"method": "isotonic", "points": [[0.5, 0.9], [0.6, 0.1]]});
        assert!(CalibrationFile::read(&damaged.to_string()).is_err());
    }
}
