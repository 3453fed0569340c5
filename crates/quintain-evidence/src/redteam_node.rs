//! What the suite reader adds to the `redteam:` node, and what it needs to know about that node.

use serde_json::Value;

/// The key of a file's content, next to the name of the file.
pub const DEFINITION: &str = "definition";

/// What an attack sends in addition to the target's settings; used to list its effects.
#[derive(Default)]
pub struct Carried {
    /// Texts that may refer to environment variables: credentials of identities, tokens.
    pub texts: Vec<String>,
    pub model: Option<CarriedModel>,
    /// The judge and other models, as the suite names them, each with its purpose.
    pub others: Vec<(String, Value)>,
}

/// The model that proposes calls.
pub struct CarriedModel {
    pub name: String,
    pub url: String,
    /// Whether the suite sets the address.
    pub is_own_url: bool,
    /// Headers, key and purpose.
    pub texts: Vec<String>,
    /// The variable that contains the key, if the suite gives none.
    pub key_variable: Option<String>,
    /// The file that contains the key, if the suite names one.
    pub key_file: Option<String>,
}
