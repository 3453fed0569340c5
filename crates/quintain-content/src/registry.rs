//! What every built-in says about itself. `list`, `explain`, the reference and the JSON schema are
//! made from it.

/// Describes one built-in.
pub type Meta = About<'static>;

/// Describes one entry of an extension point. What users define themselves lives as long as their
/// suite; hence the lifetime.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Kebab case, as written in suites.
    pub id: &'a str,
    pub aliases: &'a [&'a str],
    /// One line without a full stop.
    pub summary: &'a str,
    /// Markdown: *What it does*, *Why it matters*, *What counts as proof*, *Example*, as far as
    /// they apply. Examples are YAML and compile.
    pub docs: &'a str,
    /// The version that brought it.
    pub since: &'a str,
}

impl About<'_> {
    pub fn answers_to(&self, name: &str) -> bool {
        self.id == name || self.aliases.contains(&name)
    }
}
