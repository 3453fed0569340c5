//! The registry of resources.

mod config;
mod datasets;
mod docs;
mod findings;
mod results;
mod status;
mod transcript;

use crate::resource::ResourceKind;

/// Every entry, in the order of lists.
pub static RESOURCES: &[&dyn ResourceKind] = &[
    &datasets::Datasets,
    &config::Config,
    &results::Results,
    &findings::Findings,
    &transcript::Transcripts,
    &status::Status,
    &docs::Docs,
];

/// JSON contents whose version is a digest of the text.
fn json_contents(value: &serde_json::Value) -> crate::resource::Contents {
    text_contents("application/json", value.to_string())
}

fn text_contents(mime_type: &str, text: String) -> crate::resource::Contents {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(&text);
    let version = crate::random::hexadecimal(&digest[..8]);
    crate::resource::Contents { mime_type: mime_type.to_owned(), text, version }
}

/// `None` if the error says that there is nothing.
fn found<T>(
    result: Result<T, crate::error::ToolError>,
) -> Result<Option<T>, crate::error::ToolError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code == crate::error::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
