//! The charts of the page as plain SVG: pass rate and latency per target, a histogram of latency.

use std::io::{self, Write};

use quintain_evidence::event::RunInfo;
use quintain_evidence::tally::{Latency, Summary};

use super::escape;
use crate::text::{duration, fit, line};

/// Maximum number of targets for a readable chart.
const MAX_BARS: usize = 24;
const WIDTH: f64 = 560.0;
const LABEL: f64 = 170.0;
const STEP: f64 = 30.0;

pub(super) fn write(
    out: &mut impl Write,
    run: &RunInfo,
    summary: &Summary,
    latencies: &[Vec<f64>],
) -> io::Result<()> {
    if summary.total() == 0 {
        return Ok(());
    }
    writeln!(out, "<section class=\"charts\" aria-label=\"Charts\">")?;
    let labels = labels(run);
    pass_rates(out, &labels, summary)?;
    histogram(out, latencies)?;
    if labels.len() > 1 {
        spans(out, &labels, latencies)?;
    }
    writeln!(out, "</section>")
}

fn labels(run: &RunInfo) -> Vec<String> {
    let many = run.columns.iter().any(|column| column.label != run.columns[0].label);
    let labels = run.columns.iter().take(MAX_BARS).map(|column| {
        let target = line(column.target.name(), 40);
        if many { format!("{target} · {}", line(&column.label, 40)) } else { target }
    });
    labels.map(|label| fit(&label, 26).into_owned()).collect()
}

fn open(out: &mut impl Write, title: &str, height: f64, says: &str) -> io::Result<()> {
    writeln!(out, "<div class=\"panel\"><h2>{title}</h2>")?;
    let says = escape(says);
    writeln!(out, "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{says}\">")
}

fn pass_rates(out: &mut impl Write, labels: &[String], summary: &Summary) -> io::Result<()> {
    let says = format!("{} of {} cases passed", summary.passed, summary.total());
    open(out, "Pass rate", labels.len() as f64 * STEP, &says)?;
    let room = WIDTH - LABEL - 60.0;
    for (at, (label, tally)) in labels.iter().zip(&summary.columns).enumerate() {
        let y = at as f64 * STEP;
        let total = tally.total().max(1) as f64;
        name(out, label, y)?;
        writeln!(
            out,
            "<rect class=\"f-missing\" x=\"{LABEL}\" y=\"{:.1}\" width=\"{room:.1}\" height=\"12\" rx=\"3\"/>",
            y + 8.0
        )?;
        let mut x = LABEL;
        for (number, class) in
            [(tally.passed, "f-pass"), (tally.failed, "f-fail"), (tally.errored, "f-error")]
        {
            let width = number as f64 / total * room;
            if number > 0 {
                writeln!(
                    out,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\" rx=\"2\"/>",
                    y + 8.0
                )?;
            }
            x += width;
        }
        let rate = (tally.passed as f64 / total * 100.0).floor();
        value(out, &format!("{rate:.0}%"), y)?;
    }
    writeln!(out, "</svg><p class=\"legend\"><span class=\"pass\">passed</span>")?;
    writeln!(out, "<span class=\"fail\">failed</span><span class=\"error\">errors</span></p></div>")
}

fn name(out: &mut impl Write, label: &str, y: f64) -> io::Result<()> {
    let (y, label) = (y + 18.0, escape(label));
    writeln!(out, "<text class=\"name\" x=\"0\" y=\"{y:.1}\">{label}</text>")
}

fn value(out: &mut impl Write, text: &str, y: f64) -> io::Result<()> {
    let y = y + 18.0;
    writeln!(out, "<text x=\"{WIDTH}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>")
}

/// Borders of the bins: 1, 2, 5 of every power of ten, in milliseconds.
fn borders(min: f64, max: f64) -> Vec<f64> {
    let steps = (-2..7).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
    let steps: Vec<f64> = steps.collect();
    let first = steps.iter().rposition(|step| *step <= min).unwrap_or(0);
    let last = steps.iter().position(|step| *step > max).unwrap_or(steps.len() - 1);
    steps[first..=last.max(first + 1).min(steps.len() - 1)].to_vec()
}

fn histogram(out: &mut impl Write, latencies: &[Vec<f64>]) -> io::Result<()> {
    let all = || latencies.iter().flatten().copied().filter(|millis| millis.is_finite());
    let (min, max) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if !min.is_finite() {
        return Ok(());
    }
    let borders = borders(min, max);
    let mut bins = vec![0_usize; borders.len().saturating_sub(1).max(1)];
    for millis in all() {
        let above = borders.iter().position(|border| *border > millis).unwrap_or(borders.len());
        let bin = above.saturating_sub(1).min(bins.len() - 1);
        bins[bin] += 1;
    }
    let says = format!("Latency from {} to {}", duration(min), duration(max));
    open(out, "Latency of all cases", 190.0, &says)?;
    let highest = bins.iter().copied().max().unwrap_or(1).max(1) as f64;
    let step = WIDTH / bins.len() as f64;
    writeln!(out, "<line class=\"s-line\" x1=\"0\" y1=\"160\" x2=\"{WIDTH}\" y2=\"160\"/>")?;
    for (at, number) in bins.iter().enumerate() {
        let x = at as f64 * step;
        let middle = x + step / 2.0;
        let height = *number as f64 / highest * 136.0;
        if *number > 0 {
            let (y, width) = (160.0 - height.max(1.0), (step - 6.0).max(2.0));
            writeln!(
                out,
                "<rect class=\"f-accent\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\"/>\
                 <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{number}</text>",
                x + 3.0,
                height.max(1.0),
                y - 5.0
            )?;
        }
        let from = bin_label(borders[at]);
        writeln!(out, "<text x=\"{middle:.1}\" y=\"178\" text-anchor=\"middle\">{from}</text>")?;
    }
    writeln!(out, "</svg><p class=\"legend\">labels show the lower bound of each bar</p></div>")
}

fn bin_label(millis: f64) -> String {
    if millis >= 1_000.0 { format!("{}s", millis / 1e3) } else { format!("{millis}ms") }
}

fn spans(out: &mut impl Write, labels: &[String], latencies: &[Vec<f64>]) -> io::Result<()> {
    let measured: Vec<_> = latencies.iter().map(|column| Latency::of(column)).collect();
    let highest = measured.iter().flatten().map(|latency| latency.p95).fold(0.0, f64::max);
    if highest <= 0.0 || !highest.is_finite() {
        return Ok(());
    }
    let says = "Median and 95th percentile of latency per target";
    open(out, "Latency per target", labels.len() as f64 * STEP, says)?;
    let room = WIDTH - LABEL - 110.0;
    for (at, (label, latency)) in labels.iter().zip(&measured).enumerate() {
        let y = at as f64 * STEP;
        name(out, label, y)?;
        let Some(latency) = latency else { continue };
        for (millis, class) in [(latency.p95, "f-soft"), (latency.p50, "f-accent")] {
            let width = (millis / highest * room).max(1.0);
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{LABEL}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\" rx=\"2\"/>",
                y + 8.0
            )?;
        }
        value(out, &format!("{} / {}", duration(latency.p50), duration(latency.p95)), y)?;
    }
    writeln!(out, "</svg><p class=\"legend\">median / 95th percentile</p></div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_what_was_measured() {
        assert_eq!(borders(1.5, 30.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(borders(3.0, 3.0), [2.0, 5.0]);
        for (min, max) in [(0.0, 0.0), (0.0, 1e12), (1e12, 1e12), (0.001, 0.002)] {
            assert!(borders(min, max).len() > 1 || min > 1e6, "{min} {max}");
        }
        assert_eq!(bin_label(2_000.0), "2s");
        assert_eq!(bin_label(0.5), "0.5ms");
    }
}
