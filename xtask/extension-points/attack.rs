//! Tools that do not declare what they return.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::weakness::Weakness;

use crate::attack::{Attack, Hit, TargetView};

pub(super) struct UntypedResult;

static META: Meta = Meta {
    id: "untyped-result",
    aliases: &[],
    summary: "A tool does not declare the schema of its results",
    docs: "\
# What it does
Reads the listed tools and reports those without `outputSchema`. It calls nothing.

# Why it matters
Clients cannot distinguish a result from text that an attacker has put into it.

# What counts as proof
The listed tool. The finding is suspected: the schema is optional.

# Example
```yaml
redteam:
  plugins: [untyped-result]
```

# References
- CWE-20
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::Info, cwe: &[20], frameworks: &["MCP05"] };

impl Attack for UntypedResult {
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
        let untyped = view.tools().filter(|(_, tool)| tool.output_schema().is_none());
        let hit = |(server, name): (&str, &str)| {
            let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
            let what = "the tool is listed without `outputSchema`";
            Hit::suspected("Results without a declared schema", what).at(place).fault("schema")
        };
        untyped.filter_map(|(server, tool)| Some((server, tool.name()?))).map(hit).collect()
    }
}
