//! Containers whose options remove their isolation from the host.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{base, container, effective};
use super::{Concern, LaunchCheck, Scene};

pub(super) static CONTAINER_POWERS: LaunchCheck = LaunchCheck { meta: Meta {
    id: "container-powers",
    aliases: &["privileged-container"],
    summary: "A container has host privileges",
    docs: "\
# What it does
Checks the options of `docker run` (and `podman`, `nerdctl`): `--privileged`, powerful capabilities, namespaces of the host, mounts
of `/`, of home folders, of system folders and of the container engine's socket.

# Why it matters
Containers isolate untrusted servers; these options remove the isolation.

# What counts as proof
The option precedes the image.

# Example
```json
{\"mcpServers\": {\"ops\": {\"command\": \"docker\", \"args\": [\"run\", \"-i\", \"-v\", \"/var/run/docker.sock:/var/run/docker.sock\", \"example/ops:1.4\"]}}}
```

# References
- CWE-250, CWE-269, OWASP MCP02
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::High, cwe: &[250, 269], frameworks: &["MCP02", "ASI05"] }, look };

const CAPABILITIES: [&str; 6] =
    ["ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "DAC_READ_SEARCH", "SYS_RAWIO"];
const SOCKETS: [&str; 4] = ["docker.sock", "containerd.sock", "podman.sock", "crio.sock"];
/// Write access to one of these folders is control over the machine.
const SYSTEM: [&str; 9] =
    ["/", "/etc", "/root", "/home", "/users", "/var/run", "/run", "/proc", "/sys"];

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let words = effective(scene.launch);
    let [program, run, rest @ ..] = &words[..] else { return Vec::new() };
    let engine = matches!(base(&program.text).as_str(), "docker" | "podman" | "nerdctl");
    if !engine || run.text != "run" {
        return Vec::new();
    }
    let (options, _) = container(rest);
    let told = options.iter().filter_map(|(word, name, value)| concern(&word.part, name, value));
    told.collect()
}

fn concern(part: &str, name: &str, value: &str) -> Option<Concern> {
    let upper = value.to_ascii_uppercase();
    match name {
        "--privileged" if value != "false" => {
            let what = "`--privileged` gives the container full access to the host";
            let help =
                "remove the flag; add the capabilities that the server needs with `--cap-add`";
            Some(Concern::new(part, "The container is privileged", what).help(help))
        }
        "--cap-add" if CAPABILITIES.contains(&upper.trim_start_matches("CAP_")) => Some(
            Concern::new(
                part,
                "The container has a capability equivalent to root on the host",
                format!("`--cap-add {value}`"),
            )
            .help("remove the capability"),
        ),
        "--pid" | "--ipc" | "--userns" | "--uts" if value == "host" => Some(
            Concern::new(
                part,
                "The container shares a namespace with the host",
                format!("`{name}=host`"),
            )
            .help("remove the option"),
        ),
        "--network" | "--net" if value == "host" => Some(
            Concern::new(
                part,
                "The container shares the host's network",
                format!("`{name}=host` lets the container reach every local service"),
            )
            .help("publish the ports that the server needs with `-p`")
            .severity(Severity::Medium),
        ),
        "--security-opt" if value.contains("unconfined") => Some(
            Concern::new(
                part,
                "The container runs without security confinement",
                format!("`{value}`"),
            )
            .help("remove the option"),
        ),
        "-v" | "--volume" => mount(part, value.split(':').next()?, value.ends_with(":ro")),
        "--mount" => {
            let mut fields = value.split(',');
            let source = fields.find_map(|field| {
                let (key, path) = field.split_once('=')?;
                matches!(key, "source" | "src").then_some(path)
            })?;
            let readonly = value.split(',').any(|field| field == "readonly" || field == "ro");
            mount(part, source, readonly)
        }
        _ => None,
    }
}

fn mount(part: &str, source: &str, readonly: bool) -> Option<Concern> {
    let path = source.trim_end_matches('/').to_ascii_lowercase();
    let path = if path.is_empty() && source.starts_with('/') { "/" } else { path.as_str() };
    if SOCKETS.iter().any(|socket| path.ends_with(socket)) {
        let what = format!("`{source}` can start other containers with any privileges");
        let title = "The container mounts the socket of the container engine";
        return Some(Concern::new(part, title, what).help("remove the mount"));
    }
    let home = ["~", "$home", "${home}", "%userprofile%"].contains(&path);
    let drive = path.len() == 2 && path.ends_with(':');
    if !home && !drive && !SYSTEM.contains(&path) {
        return None;
    }
    let concern = Concern::new(
        part,
        "The container mounts a system or home folder",
        format!("`{source}` is mounted"),
    )
    .help("mount only the folder that the server needs, read-only if possible (`:ro`)");
    Some(if readonly { concern.severity(Severity::Medium) } else { concern })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::parts;

    #[test]
    fn powers_of_the_host_are_told() {
        let told =
            |options: &str| parts(&CONTAINER_POWERS, &format!("docker run -i {options} a:1"));
        for options in [
            "--privileged",
            "--cap-add=SYS_ADMIN",
            "--cap-add CAP_ALL",
            "--pid=host",
            "--network host",
            "-v /:/host",
            "-v /:/host:ro",
            "-v /var/run/docker.sock:/var/run/docker.sock",
            "--mount type=bind,src=/etc,dst=/etc",
            "--volume=$HOME:/h",
            "--security-opt seccomp=unconfined",
        ] {
            assert_eq!(told(options), ["args[2]"], "{options}");
        }
        for options in [
            "--rm",
            "-e A=b",
            "-v /srv/data:/data",
            "--cap-add NET_BIND_SERVICE",
            "--mount type=volume,src=x,dst=/x",
        ] {
            assert_eq!(told(options), [""; 0], "{options}");
        }
    }

    #[test]
    fn what_stands_behind_the_image_is_for_the_server() {
        assert_eq!(parts(&CONTAINER_POWERS, "docker run a:1 --privileged"), [""; 0]);
        assert_eq!(parts(&CONTAINER_POWERS, "npx a --privileged"), [""; 0]);
    }
}
