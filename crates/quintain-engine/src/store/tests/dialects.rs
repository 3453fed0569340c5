//! Every statement is valid in SQLite and PostgreSQL, and all statements are in the tested files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sqlx::Executor as _;

use super::*;
use crate::store::tests::upgrade::{VERSION_2, VERSION_3};

#[test]
fn statements_are_in_their_files_only() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let homes = ["sql.rs", "schema.rs", "migration.rs", "sqlite.rs"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if homes.contains(&name.as_str()) || !path.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "PRAGMA", "Sqlite"] {
            assert!(!text.contains(word), "`{word}` in {name}: statements are in {homes:?}");
        }
    }
}

#[tokio::test]
async fn sqlite_understands_every_statement() {
    let (store, _directory) = store().await;
    let mut connection = store.pool.acquire().await.unwrap();
    for (name, statement) in sql::ALL {
        let prepared = connection.prepare(sqlx::SqlSafeStr::into_sql_str(*statement)).await;
        assert!(prepared.is_ok(), "{name}: {}", prepared.err().unwrap());
    }
}

/// Values for statements that insert. All other statements run with nulls.
const VALUES: &[(&str, &str)] = &[
    ("INSERT_RUN", "1, 'eval-a', '2026-01-01T00:00:00Z', 'd', 'eval', 'local', 'running', 'w', 0"),
    ("INSERT_DETAILS", "1, '\\x00'"),
    ("INSERT_TAG", "1, 'team', 'a'"),
    ("INSERT_SUITE_TEXT", "1, 0, 'suite.yaml', '/', '\\x00'"),
    ("PUT_SURFACES", "1, 'shop', '\\x00'"),
    ("PUT_CASE", "1, 0, 0, 0, 0, 'shop', 'passed', 1.0, 1.5, 'd', 'p', 7, '\\x00', '\\x00'"),
    ("PUT_KNOWLEDGE", "1, '\\x00'"),
    ("PUT_TRIAL", "1, 'sql-injection', 'p', 0, '\\x00'"),
    ("INSERT_FINDING", "1, 0, false, 'abcd', 'r', 'high', 'confirmed', 't', '\\x00'"),
    ("INSERT_FINGERPRINT", "1, 0, 'abcd'"),
    ("PUT_ANSWER", "1, -1, 'k', 'model', NULL, 0.5, 1.0, '\\x00'"),
    ("PUT_TRACE", "1, 0, 'n', NULL, 2"),
    ("PUT_SCORE", "1, 0, 'm', NULL, true"),
    ("PUT_EVENT", "1, 0, '\\x00'"),
    ("INSERT_ENTITY", "'o', 'generator', 'gen_1', 'n', 1, '\\x00', '2026-01-01T00:00:00Z'"),
];

/// A script that creates the tables, then prepares and runs every statement; upserts run twice.
fn several_cases() -> String {
    let row =
        |n| format!("{n}, {n}, 0, 0, 'shop', 'passed', 1.0, 1.5, 'd', 'p', 7, '\\x00', '\\x00'");
    let rows: Vec<String> = (0..sql::CASES_AT_ONCE).map(row).collect();
    format!("1, {}", rows.join(", "))
}

/// A script that makes the tables, then prepares and runs every statement, upserts twice.
fn script(tables: &[&[&str]]) -> String {
    let mut script = String::from("BEGIN;\n");
    for statement in tables.iter().copied().flatten() {
        script += statement;
        script += ";\n";
    }
    for (name, statement) in sql::ALL {
        script += &["PREPARE s_", name, " AS ", statement, ";\n"].concat();
        let count = (1..200).take_while(|n| statement.contains(&format!("${n}"))).count();
        let known = VALUES.iter().find(|(of, _)| of == name);
        let known = known.map(|(_, values)| (*values).to_owned());
        let known = known.or_else(|| (*name == "PUT_CASES").then(several_cases));
        assert!(known.is_some() || !statement.starts_with("INSERT"), "write values for {name}");
        // Deleting comes last, since other statements need the run.
        if *name == "DELETE_RUN" {
            continue;
        }
        let values = known.unwrap_or_else(|| vec!["NULL"; count].join(", "));
        let values = if values.is_empty() { values } else { format!("({values})") };
        // SET_VERSION runs at the end with a value, since its column does not accept null.
        for _ in 0..if name.starts_with("PUT") { 2 } else { 1 } {
            if *name != "SET_VERSION" {
                script += &["EXECUTE s_", name, " ", &values, ";\n"].concat();
            }
        }
    }
    script.push_str("EXECUTE s_SET_VERSION (3);\nEXECUTE s_DELETE_RUN (1);\nCOMMIT;\n");
    script
}

#[test]
fn postgresql_understands_every_statement_and_the_migration() {
    let Some(server) = Postgres::start() else {
        assert!(std::env::var_os("CI").is_none(), "PostgreSQL is not installed, and this is CI");
        // Written around the test harness, which would swallow it.
        let _ = std::io::stderr().write_all(
            b"SKIPPED: PostgreSQL is not installed, statements were not tested on it; `cargo xtask peers` installs it\n",
        );
        return;
    };
    server.run("fresh", &script(&[schema::TABLES, schema::THIRD, schema::FOURTH, schema::FIFTH]));
    let upgraded = [VERSION_2, migration::RENAME, schema::THIRD, schema::FOURTH, schema::FIFTH];
    server.run("upgraded", &script(&upgraded));
    let third = [schema::TABLES, schema::THIRD, schema::FOURTH, schema::FIFTH, VERSION_3];
    let fourth = [migration::REPLACE, schema::FOURTH, migration::REFILL, schema::FIFTH];
    server.run("upgraded_from_3", &script(&[&third[..], &fourth[..]].concat()));
}

/// A temporary PostgreSQL server that listens on a socket in a folder.
struct Postgres {
    programs: PathBuf,
    folder: TempDir,
}

impl Postgres {
    fn start() -> Option<Self> {
        let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let installed = installed.map(|version| version.path().join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path).chain(installed);
        let programs = folders
            .find(|folder| folder.join("createdb").is_file() && folder.join("initdb").is_file())?;
        let server = Self { programs, folder: tempfile::tempdir().unwrap() };
        let folder = server.folder.path().display().to_string();
        if is_root() {
            // PostgreSQL refuses to run as root.
            let given = Command::new("chown").args(["postgres", &folder]).status().ok()?;
            given.success().then_some(())?;
        }
        let data = format!("{folder}/data");
        server.program("initdb", &["-D", &data, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"]);
        let options = format!("-c listen_addresses= -c unix_socket_directories={folder}");
        let log = format!("{folder}/log");
        server.program("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "start"]);
        Some(server)
    }

    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path()).stdout(Stdio::null());
        command
    }

    fn program(&self, program: &str, arguments: &[&str]) {
        let status = self.command(program).args(arguments).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}");
    }

    /// Runs a script in a new database and stops at the first error.
    fn run(&self, database: &str, script: &str) {
        let host = self.folder.path().display().to_string();
        self.program("createdb", &["-h", &host, database]);
        let mut command = self.command("psql");
        command.args(["-h", &host, "-d", database, "-v", "ON_ERROR_STOP=1", "-q", "-f", "-"]);
        let mut psql = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        psql.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = psql.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{database}: {said}");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let _ =
            self.command("pg_ctl").arg("-D").arg(data).args(["-m", "immediate", "stop"]).status();
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
