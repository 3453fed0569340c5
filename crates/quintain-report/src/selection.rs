//! Tool selection in numbers that people read: shares with their intervals, and a confusion matrix of bounded size.

use quintain_evidence::tool_selection::{ArgumentFigures, ConfusionMatrix, SelectionReport, Share};

use crate::text::line;

const MAX_LABEL: usize = 80;

/// `83.3 %: 10 of 12, 95 % interval 55.2 to 95.3 %`.
pub(crate) fn share_in_full(share: &Share) -> String {
    let Some(value) = share.value else { return "n/a".to_owned() };
    format!("{:.1} %: {}", value * 100.0, share_of(share))
}

/// `10 of 12, 95 % interval 55.2 to 95.3 %`.
pub(crate) fn share_of(share: &Share) -> String {
    let Share { count, of, .. } = share;
    let Some((low, high)) = share.interval else { return format!("{count} of {of}") };
    format!("{count} of {of}, 95 % interval {:.1} to {:.1} %", low * 100.0, high * 100.0)
}

/// `0.83 (10/12)`.
pub(crate) fn share(share: &Share) -> String {
    match share.value {
        Some(value) => format!("{value:.2} ({}/{})", share.count, share.of),
        None => "n/a".to_owned(),
    }
}

/// `0.55 to 0.95`; empty if there is none.
pub(crate) fn interval(share: &Share) -> String {
    share.interval.map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default()
}

pub(crate) fn f1(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.2}"))
}

/// The argument figures with what they count, in the order in which people read them.
pub(crate) fn figures(figures: &ArgumentFigures) -> [(&'static str, &Share); 4] {
    [
        ("with hallucinated names", &figures.hallucinated_names),
        ("all expected present", &figures.all_expected_present),
        ("all required present", &figures.all_required_present),
        ("values match", &figures.values_match),
    ]
}

/// The part of a confusion matrix that fits.
pub(crate) struct Matrix {
    pub(crate) labels: Vec<String>,
    /// One row for each expected tool.
    pub(crate) counts: Vec<Vec<u64>>,
    /// The number of labels that are not shown.
    pub(crate) more: usize,
}

impl Matrix {
    /// Keeps the labels with most mistakes and, among equals, with most calls. A label without any count, which can only
    /// be `(none)`, is left out.
    pub(crate) fn of(matrix: &ConfusionMatrix, max: usize) -> Self {
        let cell = |row: usize, column: usize| {
            matrix.counts.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0)
        };
        let size = matrix.labels.len();
        let weight = |at: usize| {
            let all: u64 = (0..size).map(|other| cell(at, other) + cell(other, at)).sum();
            (all - 2 * cell(at, at), all)
        };
        let mut kept: Vec<usize> = (0..size).filter(|at| weight(*at).1 > 0).collect();
        let more = kept.len().saturating_sub(max);
        if more > 0 {
            kept.sort_by_key(|at| std::cmp::Reverse(weight(*at)));
            kept.truncate(max);
            kept.sort_unstable();
        }
        Self {
            labels: kept.iter().map(|at| line(&matrix.labels[*at], MAX_LABEL)).collect(),
            counts: kept
                .iter()
                .map(|row| kept.iter().map(|column| cell(*row, *column)).collect())
                .collect(),
            more,
        }
    }

    pub(crate) fn highest(&self) -> u64 {
        self.counts.iter().flatten().copied().max().unwrap_or(0)
    }
}

/// The tools that were chosen worst, and how many are not among them.
pub(crate) fn tools(
    report: &SelectionReport,
    max: usize,
) -> (Vec<&quintain_evidence::tool_selection::ToolSelection>, usize) {
    let mut tools: Vec<_> = report.tools.iter().collect();
    let more = tools.len().saturating_sub(max);
    if more > 0 {
        tools.sort_by(|a, b| a.f1.unwrap_or(2.0).total_cmp(&b.f1.unwrap_or(2.0)));
        tools.truncate(max);
    }
    (tools, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(labels: &[&str], counts: &[&[u64]]) -> ConfusionMatrix {
        ConfusionMatrix {
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            counts: counts.iter().map(|row| row.to_vec()).collect(),
        }
    }

    #[test]
    fn a_large_matrix_keeps_the_tools_that_are_confused() {
        let whole = matrix(
            &["a", "b", "c", "(none)"],
            &[&[90, 0, 0, 0], &[0, 4, 2, 0], &[0, 0, 3, 0], &[0, 0, 0, 0]],
        );
        let shown = Matrix::of(&whole, 2);
        assert_eq!((shown.labels.as_slice(), shown.more), (["b".into(), "c".into()].as_slice(), 1));
        assert_eq!(shown.counts, [[4, 2], [0, 3]]);
        let all = Matrix::of(&whole, 9);
        assert_eq!((all.labels.len(), all.more, all.highest()), (3, 0, 90));
    }

    #[test]
    fn a_matrix_whose_rows_are_missing_is_shown_as_far_as_it_is_there() {
        let shown = Matrix::of(&matrix(&["a", "b"], &[&[1]]), 9);
        assert_eq!(shown.labels, ["a"]);
    }

    #[test]
    fn shares_say_of_what_and_how_sure() {
        let shown = share_in_full(&Share::new(8, 10));
        assert_eq!(shown, "80.0 %: 8 of 10, 95 % interval 49.0 to 94.3 %");
        assert_eq!(share(&Share::new(0, 0)), "n/a");
        assert_eq!(interval(&Share::new(8, 10)), "0.49 to 0.94");
    }
}
