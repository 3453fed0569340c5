//! Replaces text that differs from run to run, so that outputs can be compared.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns and their replacements, applied in this order.
static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "[timestamp]"),
        (r"\b(eval|rejudge|demo|redteam|grade)-([a-z2-9]{3}-)?\[timestamp\]", "[run]"),
        (r"\b\d{1,2}:\d\d:\d\d [AP]M\b", "[time of day]"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[uuid]"),
        // YAML quotes ids that look like numbers.
        (r#"(?m)^(\s*id: )"\[uuid\]"$"#, "$1[uuid]"),
        (r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+", "$1:[port]"),
        (r"\b(pid|PID)([ =:]+)\d+", "$1$2[pid]"),
        (r"\b(quintain[/ ]v?)\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", "$1[version]"),
        (r"\b\d+(\.\d+)?( ?)(ns|µs|us|ms|s|min)\b", "[time]"),
        (r#"("(took_ms|ms)": |took_ms=)\d+(\.\d+)?(e-\d+)?"#, "$1[time]"),
        // Times are aligned right, on a separate line or at the end of a row.
        (r"(?m)^ +\[time\]", "[time]"),
        (r"(?m) {2,}\[time\]$", "  [time]"),
        // Reports: times are numbers in JSON and YAML, attributes in XML, the sixth field of a row in HTML.
        (
            r#"("?(latencyMs|totalLatencyMs|durationMs|evaluationDurationMs|millis|took_ms|p5|p25|p50|p75|p90|p95|p99|median)"?: ?)\d+(\.\d+)?(e-\d+)?"#,
            "$1[time]",
        ),
        // Only with a fraction: whole numbers come from targets.
        (r#"("(latency_ms|total_latency_ms|duration_ms)": ?)\d+\.\d+(e-\d+)?"#, "$1[time]"),
        (r#""min": ?[\d.]+,(\s*)"mean"(: ?)[\d.]+"#, r#""min"$2[time],$1"mean"$2[time]"#),
        (r#"("max": ?)\d+(\.\d+)?(\s*\})"#, "$1[time]$3"),
        (r#"(?s)(aria-label="Latency from [^"]*">).*?</svg>"#, "$1[chart]</svg>"),
        (r"(?m)^(    (min|mean|max): )\d+(\.\d+)?$", "$1[time]"),
        (r"\b(median|p95) \d+\.\d →", "$1 [time] →"),
        (r#"\btime="\d+\.\d+""#, r#"time="[time]""#),
        (r#"(?m)^(\[\d+,\d+,\d+,\d,"(?:[^"\\]|\\.)*",)\d+(\.\d+)?"#, "$1[time]"),
        // Constant parts of reports would hide the changes.
        (r"(?s)<style>.*?</style>", "<style>[style]</style>"),
        (r#"(?s)<script>"use strict";.*?</script>"#, "<script>[script]</script>"),
        // Also in JSON inside a string of other JSON.
        (
            r#"(quintainVersion"?: ?"|quintain"?: ?\{?\s*"?version"?: ?")\d+\.\d+\.\d+"#,
            "$1[version]",
        ),
        (r"\b(Quintain )\d+\.\d+\.\d+", "$1[version]"),
        (r#"((platform|arch)"?: ?"?)\w+"#, "$1[platform]"),
        (r#"(quintain\\?"(,|: \{)\s*\\?"version\\?": ?\\?")\d+\.\d+\.\d+"#, "$1[version]"),
        (r#"(techmart-payments( |.{1,60}version\\?": ?\\?"))\d+\.\d+\.\d+"#, "$1[version]"),
        (
            r#"("name": "techmart-payments",\s*("title": "[^"]*",\s*)?"version": ")\d+\.\d+\.\d+"#,
            "$1[version]",
        ),
        (r"\b(BaseHTTP|Python)/\d+\.\d+(\.\d+)?", "$1/[version]"),
        (r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b", "[day]"),
        (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "[date]"),
        (r"\b[0-9a-f]{32}\b", "[id]"),
        (r"\b(quintain-(canary|bait)-|quintain-)[a-z]{12}\b", "$1[mark]"),
    ];
    let compile = |(pattern, stand_in)| (Regex::new(pattern).expect("a valid pattern"), stand_in);
    rules.map(compile).into()
});

/// Replaces literal texts (paths, longest first), then the patterns.
pub(crate) fn normalise(text: &str, places: &[(String, String)]) -> String {
    let mut text = text.replace("\r\n", "\n");
    for (place, stand_in) in places {
        text = text.replace(place, stand_in);
    }
    for (pattern, stand_in) in RULES.iter() {
        text = pattern.replace_all(&text, *stand_in).into_owned();
    }
    text
}
