//! The contract of a tool, by its own words: running the input may be its purpose.

use quintain_evidence::finding::Place;
use quintain_evidence::surface::Prompt;

use crate::attack::{Aim, Kind, TargetView};
use crate::knowledge::{Sense, words};

/// Words with which a tool promises to limit what it runs.
const LIMITS: [&str; 20] = [
    "allowed",
    "allowlist",
    "allowlisted",
    "approved",
    "arithmetic",
    "blacklist",
    "blocked",
    "calculator",
    "denied",
    "forbidden",
    "mathematical",
    "permitted",
    "readonly",
    "restricted",
    "safe",
    "safely",
    "sanitized",
    "validated",
    "whitelist",
    "whitelisted",
];

/// Why running the commands in an argument is by design; none if it is not.
pub(super) fn of_commands(view: &TargetView<'_>, aim: &Aim) -> Option<String> {
    const ARGUMENTS: [&str; 9] =
        ["command", "commands", "cmd", "cmds", "commandline", "line", "script", "shell", "input"];
    const VERBS: [&str; 4] = ["run", "exec", "execute", "start"];
    const THINGS: [&str; 10] = [
        "bash",
        "cmd",
        "command",
        "commands",
        "console",
        "powershell",
        "script",
        "shell",
        "ssh",
        "terminal",
    ];
    let tool_words = ToolWords::of(view, aim)?;
    let runs =
        tool_words.names(&THINGS) || (tool_words.names(&VERBS) && tool_words.describes(&THINGS));
    (tool_words.argument_is(&ARGUMENTS) && runs && !tool_words.limits())
        .then(|| "running commands is the purpose of the tool".to_owned())
}

/// Why running the code in an argument is by design; none if it is not.
pub(super) fn of_code(view: &TargetView<'_>, aim: &Aim) -> Option<String> {
    const ARGUMENTS: [&str; 8] =
        ["code", "script", "source", "snippet", "program", "javascript", "python", "function"];
    const VERBS: [&str; 8] =
        ["run", "exec", "execute", "eval", "evaluate", "interpret", "repl", "sandbox"];
    const THINGS: [&str; 8] =
        ["code", "script", "javascript", "python", "js", "snippet", "program", "repl"];
    let tool_words = ToolWords::of(view, aim)?;
    let runs = (tool_words.names(&VERBS) || tool_words.describes(&VERBS))
        && (tool_words.names(&THINGS) || tool_words.describes(&THINGS));
    (tool_words.argument_is(&ARGUMENTS) && runs && !tool_words.limits())
        .then(|| "running code is the purpose of the tool".to_owned())
}

/// Why rendering the template in an argument is by design; none if it is not.
pub(super) fn of_templates(view: &TargetView<'_>, aim: &Aim) -> Option<String> {
    let tool_words = ToolWords::of(view, aim)?;
    tool_words
        .argument_is(&["template", "templates"])
        .then(|| "rendering templates is the purpose of the tool".to_owned())
}

/// Whether an argument is supposed to be a query or a clause of a query.
pub(super) fn is_query(view: &TargetView<'_>, aim: &Aim) -> bool {
    const LANGUAGES: [&str; 14] = [
        "sql", "cypher", "kql", "kusto", "graphql", "sparql", "promql", "soql", "jql", "gremlin",
        "aql", "logql", "mongo", "mongodb",
    ];
    const ARGUMENTS: [&str; 8] =
        ["query", "queries", "sql", "statement", "statements", "where", "clause", "expression"];
    if aim.kinds.first() == Some(&Kind::Query) {
        return true;
    }
    let Some(tool_words) = ToolWords::of(view, aim) else { return false };
    let speaks = |words: &[String]| words.iter().any(|word| LANGUAGES.contains(&word.as_str()));
    speaks(&tool_words.argument_text)
        || (tool_words.argument_is(&ARGUMENTS)
            && (speaks(&tool_words.name) || speaks(&tool_words.description)))
}

/// Whether the name of a tool suggests that it changes every row that matches a condition.
pub(super) fn changes_data(aim: &Aim) -> bool {
    let tool = words(aim.place.tool().unwrap_or_default());
    Sense::UpdatesRows.is_in(&tool)
}

/// The words of a tool and of one of its arguments.
struct ToolWords {
    name: Vec<String>,
    description: Vec<String>,
    argument: Vec<String>,
    argument_text: Vec<String>,
}

impl ToolWords {
    fn of(view: &TargetView<'_>, aim: &Aim) -> Option<Self> {
        let (name, description) = if let Place::PromptArgument { server, prompt, .. } = &aim.place {
            let (_, surface) = view.surfaces.iter().find(|(of, _)| of == server)?;
            (prompt.as_str(), surface.prompt(prompt).and_then(Prompt::description))
        } else {
            let tool = view.tool_of(aim)?;
            (tool.name()?, tool.description())
        };
        let argument = aim.place.argument()?;
        // An item of a list has the name of the list.
        let mut parts = argument.rsplit('/').filter(|part| part.parse::<usize>().is_err());
        let described = aim.schema.get("description").and_then(|text| text.as_str());
        Some(Self {
            name: words(name),
            description: words(description.unwrap_or_default()),
            argument: words(parts.next().unwrap_or_default()),
            argument_text: words(described.unwrap_or_default()),
        })
    }

    fn argument_is(&self, known: &[&str]) -> bool {
        self.argument.last().is_some_and(|word| known.contains(&word.as_str()))
    }

    fn names(&self, known: &[&str]) -> bool {
        self.name.iter().any(|word| known.contains(&word.as_str()))
    }

    fn describes(&self, known: &[&str]) -> bool {
        self.description.iter().any(|word| known.contains(&word.as_str()))
    }

    fn limits(&self) -> bool {
        let mut all = self.description.iter().chain(&self.argument_text).chain(&self.name);
        all.any(|word| LIMITS.contains(&word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::TestTarget;

    fn room(tool: &str, description: &str, argument: &str, about: &str) -> TestTarget {
        let property = json!({"type": "string", "description": about});
        let schema = json!({"type": "object", "properties": {argument: property}});
        TestTarget::of_tools(&[
            json!({"name": tool, "description": description, "inputSchema": schema}),
        ])
    }

    fn asked<T>(room: &TestTarget, ask: impl Fn(&TargetView<'_>, &Aim) -> T) -> T {
        ask(&room.view(), &room.knowledge.aims[0])
    }

    #[test]
    fn a_shell_is_one_by_its_name_unless_it_promises_limits() {
        let shell = room("run_command", "Run a command", "command", "");
        assert!(asked(&shell, of_commands).is_some());
        let limited = room("run_command", "Run one of the allowed commands", "command", "");
        assert!(asked(&limited, of_commands).is_none());
        let ping = room("ping", "Ping a host", "host", "");
        assert!(asked(&ping, of_commands).is_none());
    }

    #[test]
    fn a_prompt_says_what_it_is_for_as_a_tool_does() {
        let mut room = TestTarget::of_tools(&[]);
        let arguments = json!([{"name": "command"}]);
        let prompt = json!({"name": "run_command", "arguments": arguments});
        room.surfaces[0].1.prompts = vec![Prompt(prompt)];
        room.knowledge.aims = crate::knowledge::aims(&room.surfaces, &room.knowledge);
        assert!(asked(&room, of_commands).is_some());
    }

    #[test]
    fn code_is_run_by_contract_only_where_the_tool_says_so() {
        let python = room("run_python", "Execute Python code", "code", "");
        assert!(asked(&python, of_code).is_some());
        let calculator = room("calculate", "Evaluate an expression", "expression", "");
        assert!(asked(&calculator, of_code).is_none());
        let country = room("lookup", "Look up a country", "code", "");
        assert!(asked(&country, of_code).is_none());
    }

    #[test]
    fn queries_are_told_from_search_words() {
        assert!(asked(&room("read", "Run a SQL query", "query", ""), is_query));
        assert!(asked(&room("rows", "Rows of a table", "filter", "SQL WHERE clause"), is_query));
        assert!(!asked(&room("search", "Search the products", "query", "Words"), is_query));
    }
}
