//! Tools that together give a model private data, untrusted text and a way to send data out.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::surface::Tool;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value};

use super::tool_access;
use crate::attack::{Attack, Hit, Kind, TargetView};
use crate::knowledge::{Sense, classify, words};

pub(super) struct ToxicFlow;

static META: Meta = Meta {
    id: "toxic-flow",
    aliases: &["lethal-trifecta", "mcp:toxic-flow"],
    summary: "Tools combine private data, untrusted text and a way to send data out",
    docs: "\
# What it does
Classifies the tools of all servers by their words, arguments and annotations: which read private data, which return text that strangers
can write (pages, mails, issues, comments), and which send data to a destination that the caller chooses. If all three exist, the finding
names the path through them. No tool is called.

# Why it matters
Text from a stranger can make a model read private data and send it out, without a fault in any single tool.

# What counts as proof
The finding rests only on the names and descriptions of the tools, so it is suspected. Decide whether one of the three can be removed.

# Example
```yaml
redteam:
  plugins: [toxic-flow]
```

# References
- CWE-200, OWASP MCP06, OWASP MCP10, MITRE ATLAS AML.T0086
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Medium,
    cwe: &[200],
    frameworks: &["MCP06", "MCP10", "ASI01", "ASI02", "LLM01", "LLM06", "AML.T0086"],
};

/// Words for private data.
const PRIVATE: &str = "\
    mail mails email emails inbox message messages chat chats file files document documents \
    note notes calendar event events contact contacts customer customers user users account \
    accounts patient patients invoice invoices payment payments secret secrets credential \
    credentials env environment database table tables row rows record records report reports \
    memory memories history transcript drive sql";

/// Words for text that strangers can write.
const FOREIGN: &str = "\
    mail mails email emails inbox message messages chat page pages web website webpage internet \
    url html issue issues comment comments review reviews feedback ticket tickets post posts \
    feed feeds rss tweet tweets news thread threads replies history";

/// Words for content that is prepared but not sent.
const HOLDING: &str = "draft preview compose template validate";

/// Words of arguments that name a destination.
const WHERE: &str = "\
    to recipient recipients url uri endpoint webhook address email channel host destination \
    target phone chat user repo owner bucket cc";

/// Words for objects that other people see as soon as they exist.
const SHOWN: &str = "issue comment gist pull tweet post review release";

/// Words for data that the server writes about itself.
const NEUTRAL: &str = "console log logs error errors schema schemas type types";

impl Attack for ToxicFlow {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&self, view: &TargetView<'_>) -> Vec<Hit> {
        let several = view.surfaces.len() > 1;
        let pick = |is: fn(&Tool) -> bool| -> Vec<String> {
            let found = view.tools().filter(|(_, tool)| is(tool));
            let name = |(server, tool): (&str, &Tool)| {
                let name = tool.name()?;
                Some(if several { format!("{server}/{name}") } else { name.to_owned() })
            };
            found.filter_map(name).collect()
        };
        let (foreign, private, outward) = (pick(brings_in), pick(is_private), pick(sends_out));
        // A tool with only one of the three properties makes the clearest example.
        let best = |all: &[String], others: [&[String]; 2]| {
            let alone = |name: &&String| others.iter().all(|other| !other.contains(name));
            all.iter().find(alone).or(all.first()).cloned()
        };
        let steps = [
            best(&foreign, [&private, &outward]),
            best(&private, [&foreign, &outward]),
            best(&outward, [&foreign, &private]),
        ];
        let [Some(from), Some(what), Some(to)] = steps else { return Vec::new() };
        let mut path = vec![from, what, to];
        path.dedup();
        if path.len() < 2 {
            return Vec::new();
        }
        let title = format!("Toxic flow can leak private data: {}", path.join(" → "));
        let told = format!(
            "untrusted text: {}; private data: {}; sends data out: {}",
            some(&foreign),
            some(&private),
            some(&outward)
        );
        vec![Hit::suspected(title, told).at(Place::Flow { steps: path }).fault("flow")]
    }
}

fn some(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(4).map(String::as_str).collect();
    let more = names.len().saturating_sub(shown.len());
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}

fn name_words(tool: &Tool) -> Vec<String> {
    words(tool.name().unwrap_or_default())
}

fn has(found: &[String], known: &str) -> bool {
    found.iter().any(|word| tool_access::has(known, word))
}

fn properties(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    tool.properties().unwrap_or(&NONE).iter()
}

/// Whether the caller can choose any value.
fn is_open(schema: &Value) -> bool {
    schema.get("enum").is_none() && schema.get("const").is_none()
}

/// Whether an argument is a web URL, not the URI of a resource or file.
fn is_of_web(name: &str, schema: &Value) -> bool {
    let says = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or("http");
    let web = has(&words(name), "url urls link website webpage webhook endpoint href")
        || says.contains("http");
    web && pattern.contains("http") && classify(name, None, schema).contains(&Kind::Url)
}

/// Whether a tool requires a URL that the caller chooses.
fn takes_any_url(tool: &Tool) -> bool {
    let required = tool.required_args();
    properties(tool).any(|(name, schema)| {
        let only = properties(tool).count() == 1;
        is_open(schema) && (only || required.contains(&name.as_str())) && is_of_web(name, schema)
    })
}

fn is_private(tool: &Tool) -> bool {
    let found = name_words(tool);
    tool_access::is_reader(tool)
        && has(&found, PRIVATE)
        && !has(&found, HOLDING)
        && !has(&found, NEUTRAL)
}

fn brings_in(tool: &Tool) -> bool {
    let found = name_words(tool);
    let open_world = tool.hint("openWorldHint") == Some(true);
    let reads = tool_access::is_reader(tool);
    let foreign = has(&found, FOREIGN) && !has(&found, NEUTRAL);
    let fetches = takes_any_url(tool) && !Sense::Sends.is_in(&found);
    (reads && (foreign || (open_world && has(&found, "search fetch browse"))))
        || (fetches && (reads || has(&found, "navigate scrape crawl goto visit")))
}

fn sends_out(tool: &Tool) -> bool {
    let found = name_words(tool);
    if has(&found, HOLDING) || tool.hint("openWorldHint") == Some(false) {
        return false;
    }
    // A URL that the caller chooses can carry data, even if the tool only fetches it.
    if takes_any_url(tool) && tool.hint("readOnlyHint") != Some(true) {
        return true;
    }
    let verb = found.iter().position(|word| Sense::Publishes.is(word));
    let makes = verb.is_some_and(|at| has(&found[at + 1..], SHOWN)) && tool_access::is_writer(tool);
    let sends = found.first().is_some_and(|word| Sense::Sends.is(word))
        || (Sense::Sends.is_in(&found) && tool_access::is_writer(tool));
    if (tool_access::is_reader(tool) && !tool_access::is_writer(tool)) || !(sends || makes) {
        return false;
    }
    let mut places = properties(tool).filter(|(name, _)| has(&words(name), WHERE)).peekable();
    (places.peek().is_none() && makes) || places.any(|(_, schema)| is_open(schema))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::TestTarget;

    fn tool(name: &str, args: &[&str]) -> Value {
        let properties: Map<String, Value> =
            args.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
    }

    fn hits(tools: &[Value]) -> Vec<Hit> {
        ToxicFlow.inspect(&TestTarget::of_tools(tools).view())
    }

    #[test]
    fn the_path_is_named() {
        let found = hits(&[
            tool("read_file", &["path"]),
            tool("get_issue", &["number"]),
            tool("send_message", &["to", "text"]),
        ]);
        assert_eq!(found.len(), 1);
        let place = found[0].place.as_ref().unwrap().to_string();
        assert_eq!(place, "get_issue → read_file → send_message");
    }

    #[test]
    fn mail_and_sending_mail_are_enough() {
        let found = hits(&[tool("read_mail", &["id"]), tool("send_mail", &["to", "body"])]);
        assert_eq!(found[0].place.as_ref().unwrap().to_string(), "read_mail → send_mail");
    }

    #[test]
    fn a_fetcher_beside_files_is_a_way_out() {
        assert_eq!(hits(&[tool("read_file", &["path"]), tool("fetch", &["url"])]).len(), 1);
    }

    #[test]
    fn history_of_a_channel_is_private_and_of_strangers() {
        let found = hits(&[
            tool("chat_get_channel_history", &["id"]),
            tool("chat_post_message", &["channel_id", "text"]),
        ]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn one_of_the_three_may_be_missing() {
        for tools in [
            vec![tool("read_file", &["path"]), tool("write_file", &["path", "content"])],
            vec![tool("fetch", &["url"])],
            vec![tool("read_mail", &["id"]), tool("draft_message", &["to", "text"])],
            vec![tool("get_weather", &["city"]), tool("send_message", &["to", "text"])],
            vec![tool("create_entities", &["entities"]), tool("read_graph", &[])],
            vec![tool("read_document", &["name"]), tool("read_by_uri", &["uri"])],
            vec![tool("echo", &["message"]), tool("add", &["a", "b"])],
            vec![tool("get_console_messages", &[]), tool("navigate", &["url"])],
            vec![
                tool("API-get-users", &[]),
                tool("API-get-page", &["id"]),
                tool("API-post-search", &["query"]),
            ],
            vec![
                tool("get_event", &["id"]),
                tool("get_issue", &["id"]),
                tool("find_teams", &["org", "regionUrl"]),
            ],
        ] {
            assert!(hits(&tools).is_empty(), "{tools:?}");
        }
    }

    #[test]
    fn closed_lists_of_places_are_no_way_out() {
        let closed = json!({"name": "upload_report", "inputSchema": {"properties":
            {"target": {"enum": ["archive", "backup"]}}}});
        let tools = [tool("read_report", &["name"]), tool("read_feedback", &[]), closed];
        assert!(hits(&tools).is_empty());
        let tools = [
            tool("read_report", &["name"]),
            tool("read_feedback", &[]),
            tool("upload_report", &["url"]),
        ];
        assert_eq!(hits(&tools).len(), 1);
    }
}
