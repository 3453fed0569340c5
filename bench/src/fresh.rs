//! Builds and starts the programs to measure, so that no stale binary is measured.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Failure;

pub struct Programs {
    pub echo_stdio: PathBuf,
    echo_http: PathBuf,
    /// The product, if requested: it takes long to build.
    pub quintain: Option<PathBuf>,
}

impl Programs {
    pub fn build(with_quintain: bool) -> Result<Self, Failure> {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        Ok(Self {
            echo_stdio: build(&bench, &["--bin", "echo-stdio"], "echo-stdio")?,
            echo_http: build(&bench, &["--bin", "echo-http"], "echo-http")?,
            quintain: with_quintain
                .then(|| build(&root, &["--bin", "quintain"], "quintain"))
                .transpose()?,
        })
    }

    pub fn serve_http(&self) -> Result<Server, Failure> {
        serve(&mut Command::new(&self.echo_http))
    }
}

/// A model that gives its one opinion after a delay.
pub fn serve_judge(delay: Duration) -> Result<Server, Failure> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let program = build(&bench, &["--bin", "judge-http"], "judge-http")?;
    serve(Command::new(program).arg(delay.as_millis().to_string()))
}

fn serve(command: &mut Command) -> Result<Server, Failure> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("no stdout")?;
    let mut server = Server { child, port: 0 };
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    server.port = line.trim().parse()?;
    Ok(server)
}

/// A running HTTP server. It stops when this value is dropped.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It exits when its stdin closes.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// An example of the product's workspace.
pub fn build_example(name: &str) -> Result<PathBuf, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    build(&root, &["--workspace", "--example", name], name)
}

/// The path comes from cargo, which alone knows where the target folder is.
fn build(manifest: &Path, what: &[&str], binary: &str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--message-format=json-render-diagnostics"])
        .args(what)
        .arg("--manifest-path")
        .arg(manifest)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let built = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == binary)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    built.filter(|_| output.status.success()).ok_or_else(|| format!("no `{binary}` built").into())
}
