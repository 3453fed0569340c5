//! What every built-in says about itself. `list`, `explain`, the reference and the JSON schema are
//! made from it.

/// Describes one built-in.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Kebab case, as written in suites.
    pub id: &'static str,
    pub aliases: &'static [&'static str],
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: *What it does*, *Why it matters*, *What counts as proof*, *Example*, as far as
    /// they apply. Examples are YAML and compile.
    pub docs: &'static str,
    /// The version that brought it.
    pub since: &'static str,
}

impl Meta {
    pub fn answers_to(&self, name: &str) -> bool {
        self.id == name || self.aliases.contains(&name)
    }
}
