//! What the reader of suites leaves in `redteam:` for whoever reads that part, and what it asks back of it.

/// The key under which the content of a file stands beside the name of the file.
pub const DEFINITION: &str = "definition";

/// What an attack sends besides the target's own settings, for telling what it would do.
#[derive(Default)]
pub struct Carried {
    /// Texts in which variables of the environment may be named: credentials of identities, tokens.
    pub texts: Vec<String>,
    pub model: Option<CarriedModel>,
}

/// The model that proposes calls.
pub struct CarriedModel {
    pub name: String,
    pub url: String,
    /// Whether the suite names the address itself.
    pub is_own_url: bool,
    /// Headers, key and purpose.
    pub texts: Vec<String>,
    /// The variable that contains the key, if the suite gives none.
    pub key_variable: Option<String>,
}
