//! Programs in front of real ones that write down what they are called with. A flag that arrives as
//! an argument of its own is proof, whatever the real program makes of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quintain_core::evidence::Observation;

/// Programs that servers like to start.
const PROGRAMS: [&str; 26] = [
    "git", "curl", "wget", "ssh", "scp", "rsync", "tar", "zip", "unzip", "find", "grep", "rg",
    "sort", "sed", "awk", "ffmpeg", "convert", "pandoc", "docker", "kubectl", "adb", "npm", "pip",
    "ping", "nmap", "psql",
];

/// The folder of shims, and what they wrote so far.
pub(super) struct Shims {
    folder: PathBuf,
    log: PathBuf,
    read: u64,
}

impl Shims {
    /// Writes shims for the programs that exist on this search path.
    pub(super) fn write(ground: &Path, search: &str) -> io::Result<Self> {
        let folder = ground.join("bin");
        fs::create_dir(&folder)?;
        let log = ground.join("programs.log");
        for program in PROGRAMS {
            let real = std::env::split_paths(search).map(|path| path.join(program));
            let Some(real) = real.into_iter().find(|path| path.is_file()) else { continue };
            // One record: the program and its arguments, each ended by a byte that arguments cannot
            // hold, and a line break.
            let script = format!(
                "#!/bin/sh\nprintf '%s\\036' {program} \"$@\" >> '{log}'\nprintf '\\035' >> '{log}'\nexec '{real}' \"$@\"\n",
                log = log.display(),
                real = real.display()
            );
            let shim = folder.join(program);
            fs::write(&shim, script)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&shim, fs::Permissions::from_mode(0o755))?;
            }
        }
        Ok(Self { folder, log, read: 0 })
    }

    /// The search path with the shims first.
    pub(super) fn before(&self, search: &str) -> String {
        format!("{}:{search}", self.folder.display())
    }

    /// Programs that were started since the last look.
    pub(super) fn look(&mut self) -> Vec<Observation> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut text = Vec::new();
        let read = fs::File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.take(1 << 20).read_to_end(&mut text)
        });
        if read.is_err() {
            return Vec::new();
        }
        // A record that is not finished yet is read the next time.
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
    use super::*;
    use std::process::Command;

    #[test]
    fn arguments_are_written_down_one_by_one() {
        let ground = tempfile::tempdir().unwrap();
        let search = std::env::var("PATH").unwrap();
        let mut shims = Shims::write(ground.path(), &search).unwrap();
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
}
