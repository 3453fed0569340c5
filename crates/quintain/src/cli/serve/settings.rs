//! The settings of `quintain serve`: the file, the environment, and the flags last.

use std::path::PathBuf;

use quintain_serve::settings::Effective;
use quintain_source::{Diagnostics, Node, SourceFile, Sources, read_settings};
use serde_json::{Map, Value, json};

use super::Options;
use crate::cli::{App, suite};
use crate::exit::Exit;

/// Files that are read without `-c`, if they exist.
const FILES: [&str; 2] = ["quintain.yaml", "quintain.yml"];

/// The name of the file, and its `serve:` section.
type Section = (String, Map<String, Value>);

pub(super) fn read(options: &Options, app: &App) -> Result<Effective, Exit> {
    let section = section(options.config.as_ref(), app)?;
    let section = section.as_ref().map(|(file, section)| (file.as_str(), section));
    let mut effective = Effective::read(section, &app.context.env).map_err(|wrong| {
        for invalid in wrong {
            app.console.error(&invalid.to_string(), None);
        }
        Exit::Usage
    })?;
    let path = |path: &PathBuf| json!(app.context.cwd.join(path).to_string_lossy());
    let flags = [
        ("transport", "--stdio", options.stdio.then(|| json!("stdio"))),
        ("transport", "--http", options.http.map(|_| json!("http"))),
        ("address", "--http", options.http.map(|address| json!(address.to_string()))),
        ("toolset", "--toolset", options.toolset.as_ref().map(|word| json!(word))),
        ("publicUrl", "--public-url", options.public_url.as_ref().map(|url| json!(url))),
        ("tlsCert", "--tls-cert", options.tls_cert.as_ref().map(path)),
        ("tlsKey", "--tls-key", options.tls_key.as_ref().map(path)),
    ];
    for (key, flag, value) in flags {
        let Some(value) = value else { continue };
        if let Err(invalid) = effective.set_flag(key, flag, &value) {
            app.console.error(&invalid.to_string(), None);
            return Err(Exit::Usage);
        }
    }
    Ok(effective)
}

/// The file and its `serve:` section. A file that the user named must exist.
fn section(named: Option<&PathBuf>, app: &App) -> Result<Option<Section>, Exit> {
    let found = match named {
        Some(file) => Some(file.clone()),
        None => FILES.iter().map(PathBuf::from).find(|file| app.context.cwd.join(file).is_file()),
    };
    let Some(file) = found else { return Ok(None) };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(app.context.cwd.join(&file)).map_err(|error| {
        app.console.error(&format!("cannot read {name}: {error}"), None);
        Exit::Usage
    })?;
    let mut sources = Sources::default();
    let id = sources.add(SourceFile::new(name.clone(), text));
    let mut diagnostics = Diagnostics::default();
    let root = read_settings(&sources, id, &mut diagnostics);
    let Some(root) = root.filter(|_| !diagnostics.has_errors()) else {
        suite::show(&sources, &diagnostics, app);
        return Err(Exit::Usage);
    };
    match root.get("serve").map(Node::to_json) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(section)) => Ok(Some((name, section))),
        Some(_) => {
            app.console.error(&format!("`serve` in {name} must be a map of settings"), None);
            Err(Exit::Usage)
        }
    }
}
