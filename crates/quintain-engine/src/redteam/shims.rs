//! Shims: programs that come before the real ones in `PATH` and record their arguments. A flag that arrives as a
//! separate argument is proof, whatever the real program does with it.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use quintain_evidence::evidence::Observation;
use quintain_redteam::knowledge::missing_programs;

use crate::confined::Folder;

/// Programs that servers often start.
const PROGRAMS: [&str; 26] = [
    "git", "curl", "wget", "tar", "zip", "unzip", "find", "grep", "rg", "sort", "sed", "awk",
    "convert", "npm", "npx", "pip", "pip3", "ping", "make", "cargo", "go", "dotnet", "java",
    "open", "xdg-open", "magick",
];
/// Programs that servers are built around. A server does nothing useful without them, so they get a stand-in even if
/// they are not installed.
const CENTRAL: [&str; 27] = [
    "adb",
    "ansible-playbook",
    "aws",
    "az",
    "docker",
    "ffmpeg",
    "gcloud",
    "gh",
    "godot",
    "helm",
    "idb",
    "kubectl",
    "nmap",
    "osascript",
    "pandoc",
    "psql",
    "rsync",
    "scp",
    "semgrep",
    "ssh",
    "terraform",
    "tshark",
    "xcodebuild",
    "xcrun",
    "yt-dlp",
    "mysql",
    "whois",
];

/// Programs that a server can replace if they are missing. They get no stand-in.
const DECIDING: [&str; 8] = ["rg", "fd", "bat", "podman", "pnpm", "yarn", "uv", "which"];
/// The version that a stand-in reports.
const STAND_IN: &str = "99.0.0";
/// Program, shell pattern of its arguments, and the output of its stand-in. A server that finds no device, for
/// example, does nothing further.
const REPORTS: [(&str, &str, &str); 5] = [
    ("adb", "*' devices '*", r"List of devices attached\nemulator-5554\tdevice\n"),
    ("adb", "*' wm size '*", r"Physical size: 1080x1920\n"),
    ("kubectl", "*json*", r#"{"apiVersion":"v1","kind":"List","items":[]}\n"#),
    (
        "xcrun",
        "*' simctl list '*json*|*' simctl list '*' -j '*",
        r#"{"devices":{"iOS-17-0":[{"udid":"6F2C1C5E-3B52-4D39-9B47-0A3A9A6E1C11","name":"iPhone 15","state":"Booted","isAvailable":true}]}}\n"#,
    ),
    (
        "xcrun",
        "*' simctl list '*",
        r"== Devices ==\n-- iOS 17.0 --\n    iPhone 15 (6F2C1C5E-3B52-4D39-9B47-0A3A9A6E1C11) (Booted)\n",
    ),
];

/// The shims, and the position up to which their log was read.
pub(super) struct Shims {
    shim_folder: ShimFolder,
    read: u64,
}

/// Where shims are written.
#[derive(Debug, Clone)]
pub(super) struct ShimFolder {
    folder: PathBuf,
    log: PathBuf,
    /// `PATH` of the real programs.
    search: String,
}

impl ShimFolder {
    /// Writes a shim for a program. If the program is missing, the shim pretends to succeed, so that the server's next
    /// steps can be observed.
    fn put(&self, program: &str) -> io::Result<()> {
        let then = match self.real(program) {
            Some(real) => format!("exec '{}' \"$@\"", real.display()),
            None => stand_in(program),
        };
        // One record: the program and its arguments, each followed by a record separator byte, then a group separator byte.
        let script = format!(
            "#!/bin/sh\nprintf '%s\\036' {program} \"$@\" >> '{log}'\nprintf '\\035' >> '{log}'\n{then}\n",
            log = self.log.display()
        );
        // The target may already run when a stand-in is added, and may have created a file or link there.
        let folder = Folder::open(&self.folder).map_err(io::Error::other)?;
        let mut shim = folder.create_new(program.as_ref()).map_err(io::Error::other)?;
        shim.write_all(script.as_bytes())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            shim.set_permissions(fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    fn open_log(&self) -> io::Result<fs::File> {
        let folder = self.log.parent().unwrap_or(&self.folder);
        let file = Folder::open(folder).and_then(|folder| folder.open_file(&self.log));
        file.map_err(io::Error::other)
    }

    fn real(&self, program: &str) -> Option<PathBuf> {
        let mut real = std::env::split_paths(&self.search).map(|path| path.join(program));
        real.find(|path| path.is_file())
    }

    /// Adds stand-ins for programs that an answer reports as missing.
    pub(super) fn stand_in(&self, said: &str) {
        for program in missing_programs(said) {
            let is_there = self.folder.join(program).exists() || self.real(program).is_some();
            if !is_there && !DECIDING.contains(&program) {
                // If this fails, the answer does not change.
                let _ = self.put(program);
            }
        }
    }
}

/// The script of a stand-in: prints its version or a canned output, and otherwise succeeds without output.
fn stand_in(program: &str) -> String {
    let mut cases = String::new();
    for (_, asked, report) in REPORTS.iter().filter(|(of, _, _)| *of == program) {
        cases.extend([*asked, ") printf '", *report, "'; exit;;\n"]);
    }
    format!(
        "case \" $* \" in\n{cases}' -v '*|' -V '*|' version '*|' --version '*) echo '{program} {STAND_IN}';;\nesac"
    )
}

impl Shims {
    /// Writes shims for the programs in this search path, and for all programs in `CENTRAL`.
    pub(super) fn write(canary_folder: &Path, search: &str) -> io::Result<Self> {
        let folder = canary_folder.join("bin");
        fs::create_dir(&folder)?;
        let log = canary_folder.join("programs.log");
        let shim_folder = ShimFolder { folder, log, search: search.to_owned() };
        for program in PROGRAMS.into_iter().chain(CENTRAL) {
            if shim_folder.real(program).is_some() || CENTRAL.contains(&program) {
                shim_folder.put(program)?;
            }
        }
        Ok(Self { shim_folder, read: 0 })
    }

    pub(super) fn shim_folder(&self) -> &ShimFolder {
        &self.shim_folder
    }

    /// The search path with the shims first.
    pub(super) fn before(&self, search: &str) -> String {
        format!("{}:{search}", self.shim_folder.folder.display())
    }

    /// Programs that were started since the last call.
    pub(super) fn look(&mut self) -> Vec<Observation> {
        let mut text = Vec::new();
        let read = self.shim_folder.open_log().and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.take(1 << 20).read_to_end(&mut text)
        });
        if read.is_err() {
            return Vec::new();
        }
        // An incomplete record is read the next time.
        let whole = text.iter().rposition(|byte| *byte == 0o35).map_or(0, |at| at + 1);
        self.read += whole as u64;
        let records = text[..whole].split(|byte| *byte == 0o35).filter(|record| !record.is_empty());
        let observations = records.map(|record| {
            let record = String::from_utf8_lossy(record).into_owned();
            let mut parts = record.split('\u{1e}').map(str::to_owned);
            let program = parts.next().unwrap_or_default();
            let mut arguments: Vec<String> = parts.collect();
            arguments.pop();
            Observation::Program { program, arguments }
        });
        observations.collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn arguments_are_written_down_one_by_one() {
        let canary_folder = tempfile::tempdir().unwrap();
        let search = std::env::var("PATH").unwrap();
        let mut shims = Shims::write(canary_folder.path(), &search).unwrap();
        let path = shims.before(&search);
        let output = Command::new("sh")
            .args([
                "-c",
                "printf 'b\\na\\n' | sort --reverse 'x y' - 2>/dev/null; printf c | sort -",
            ])
            .env("PATH", path)
            .output()
            .unwrap();
        assert_eq!(output.stdout, b"c\n");
        let seen = shims.look();
        assert_eq!(
            seen[0],
            Observation::Program {
                program: "sort".into(),
                arguments: vec!["--reverse".into(), "x y".into(), "-".into()]
            }
        );
        assert_eq!(seen.len(), 2);
        assert!(shims.look().is_empty());
    }

    #[test]
    fn a_stand_in_reports_what_there_is() {
        let canary_folder = tempfile::tempdir().unwrap();
        Shims::write(canary_folder.path(), "/nowhere").unwrap();
        let says = |program: &str, args: &[&str]| {
            let shim = canary_folder.path().join("bin").join(program);
            let output = Command::new(shim).args(args).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(says("adb", &["devices"]), "List of devices attached\nemulator-5554\tdevice\n");
        assert_eq!(says("adb", &["-s", "x", "shell", "input", "tap"]), "");
        assert_eq!(says("adb", &["version"]), "adb 99.0.0\n");
        assert!(says("xcrun", &["simctl", "list", "devices", "-j"]).starts_with("{\"devices\""));
        assert!(says("xcrun", &["simctl", "list", "devices"]).contains("(Booted)"));
        assert_eq!(says("kubectl", &["describe", "pod"]), "");
    }

    #[test]
    fn a_program_that_is_missing_gets_a_stand_in() {
        let canary_folder = tempfile::tempdir().unwrap();
        let mut shims = Shims::write(canary_folder.path(), "/nowhere").unwrap();
        shims.shim_folder().stand_in("Command failed: frobn -v\n/bin/sh: 1: frobn: not found\n");
        let shim = canary_folder.path().join("bin/frobn");
        let output = Command::new(&shim).arg("--version").output().unwrap();
        assert_eq!(output.stdout, b"frobn 99.0.0\n");
        assert!(Command::new(shim).args(["do", "-x"]).status().unwrap().success());
        let last = shims.look().pop().unwrap();
        let arguments = vec!["do".into(), "-x".into()];
        assert_eq!(last, Observation::Program { program: "frobn".into(), arguments });
    }
}
