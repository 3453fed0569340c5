//! The change of a client's configuration.

use std::fs;
use std::path::Path;
use std::process::Output;

use libtest_mimic::{Failed, Trial};

use super::{ensure, folder};
use crate::budgets::quintain;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("record::install_shows_and_writes_only_after_consent", consent),
        Trial::test("record::install_shows_files_that_it_cannot_edit", shown),
        Trial::test("record::install_explains_wrong_requests", wrong),
        Trial::test("record::install_shows_control_characters_visibly", visible),
    ]
}

const CURSOR: &str = "{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"files\": { \"command\": \"npx\", \"args\": [\"-y\", \"files\", \"--token=abc123secret456\"], \"env\": {\"API_KEY\": \"canary-1234\"} },\n\t\t\"web\": {\"url\": \"https://h.example/mcp\"},\n\t}\n}\n";

fn configured(place: &Path) -> Result<(), Failed> {
    fs::create_dir_all(place.join(".cursor"))?;
    Ok(fs::write(place.join(".cursor/mcp.json"), CURSOR)?)
}

fn install(place: &Path, args: &[&str]) -> Result<(Output, String), Failed> {
    let all: Vec<&str> = ["record", "--install"].iter().chain(args).copied().collect();
    let output = quintain(place, &all).output()?;
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Ok((output, String::from_utf8_lossy(&text).into_owned()))
}

fn consent() -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    configured(place)?;
    let file = place.join(".cursor/mcp.json");
    let (output, text) = install(place, &["cursor", "--server", "files"])?;
    ensure(output.status.success() && text.contains("not written"), &text)?;
    ensure(text.contains("\"record\"") && !text.contains("canary-1234"), &text)?;
    ensure(!text.contains("abc123secret456"), &text)?;
    ensure(fs::read_to_string(&file)? == CURSOR, "the file was changed")?;
    let (output, text) =
        install(place, &["cursor", "--server", "files", "--yes", "-o", "c.jsonl"])?;
    ensure(output.status.success(), &text)?;
    let changed = fs::read_to_string(&file)?;
    let program = env!("CARGO_BIN_EXE_quintain");
    let capture = place.join("c.jsonl");
    let front = format!("[\"record\", \"-o\", \"{}\", \"--\", \"npx\", \"-y\"", capture.display());
    let expected = CURSOR.replace("\"npx\"", &format!("{program:?}")).replace("[\"-y\"", &front);
    ensure(changed == expected, (changed, expected))?;
    ensure(fs::read_to_string(place.join(".cursor/mcp.json.before-record"))? == CURSOR, "no copy")?;
    let (output, text) = install(place, &["cursor", "--server", "files", "--yes"])?;
    ensure(output.status.code() == Some(2) && text.contains("recorded already"), text)
}

fn shown() -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    fs::create_dir_all(place.join(".codex"))?;
    let toml = "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\n";
    fs::write(place.join(".codex/config.toml"), toml)?;
    let (output, text) = install(place, &["codex", "--yes"])?;
    ensure(output.status.success() && text.contains("not written: TOML"), &text)?;
    ensure(text.contains("\"--\", \"x\", \"y\"]"), &text)?;
    ensure(fs::read_to_string(place.join(".codex/config.toml"))? == toml, "the file was changed")
}

fn visible() -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    fs::create_dir_all(place.join(".cursor"))?;
    let entry =
        "{\"mcpServers\": {\"a\": {\"command\": \"srv\\u001b[2J\u{202e}x\\u202e\", \"args\": []}}}";
    fs::write(place.join(".cursor/mcp.json"), entry)?;
    let (output, text) = install(place, &["cursor"])?;
    ensure(output.status.success() && text.contains("recorded:"), &text)?;
    ensure(!text.contains(['\u{202e}', '\u{1b}']), text)
}

fn wrong() -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    configured(place)?;
    for (args, why) in [
        (&["curso"][..], "did you mean `cursor`?"),
        (&["cursor"], "files, web"),
        (&["cursor", "--server", "other"], "known servers: files, web"),
        (&["cursor", "--server", "web"], "--listen"),
        (&["zed"], "has no MCP server"),
    ] {
        let (output, text) = install(place, args)?;
        ensure(output.status.code() == Some(2) && text.contains(why), (args, text))?;
    }
    Ok(())
}
