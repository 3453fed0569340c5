//! Containers that are let out of their box.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{base, container, effective};
use super::{Concern, LaunchCheck, Scene};

pub(super) static CONTAINER_POWERS: LaunchCheck = LaunchCheck {
    meta: Meta {
        id: "container-powers",
        aliases: &["privileged-container"],
        summary: "A container is started with the powers of the host",
        docs: "\
# What it does
Looks at `docker run` (and `podman`, `nerdctl`): `--privileged`, far-reaching capabilities, the namespaces of the host, mounts of `/`, of the home
folders, of system folders and of the socket of the container engine.

# Why it matters
People put servers into containers in order not to have to trust them. With one of these options the server owns the host all the same.

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
    },
    weakness: Weakness {
        severity: Severity::High,
        cwe: &[250, 269],
        frameworks: &["MCP02", "ASI05"],
    },
    look,
};

const CAPABILITIES: [&str; 6] =
    ["ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "DAC_READ_SEARCH", "SYS_RAWIO"];
const SOCKETS: [&str; 4] = ["docker.sock", "containerd.sock", "podman.sock", "crio.sock"];
/// Folders whose owner owns the machine.
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
        "--privileged" if value != "false" => Some(
            Concern::new(part, "The container is privileged", "`--privileged` gives it the host")
                .help(
                    "take the flag away; add single capabilities with `--cap-add` if it needs any",
                ),
        ),
        "--cap-add" if CAPABILITIES.contains(&upper.trim_start_matches("CAP_")) => Some(
            Concern::new(
                part,
                "The container has a capability that amounts to root on the host",
                format!("`--cap-add {value}`"),
            )
            .help("take it away"),
        ),
        "--pid" | "--ipc" | "--userns" | "--uts" if value == "host" => Some(
            Concern::new(
                part,
                "The container shares a namespace with the host",
                format!("`{name}=host`"),
            )
            .help("take the option away"),
        ),
        "--network" | "--net" if value == "host" => Some(
            Concern::new(
                part,
                "The container shares the network of the host",
                format!("`{name}=host` lets it reach everything that listens on this machine"),
            )
            .help("name the ports that it needs with `-p`")
            .severity(Severity::Medium),
        ),
        "--security-opt" if value.contains("unconfined") => Some(
            Concern::new(part, "The confinement of the container is off", format!("`{value}`"))
                .help("take the option away"),
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
        let what = format!("`{source}` starts other containers, with any powers");
        let title = "The container is given the socket of the engine";
        return Some(Concern::new(part, title, what).help("take the mount away"));
    }
    let home = ["~", "$home", "${home}", "%userprofile%"].contains(&path);
    let drive = path.len() == 2 && path.ends_with(':');
    if !home && !drive && !SYSTEM.contains(&path) {
        return None;
    }
    let concern = Concern::new(
        part,
        "The container is given a folder of the system or a whole home",
        format!("`{source}` is mounted"),
    )
    .help("mount the one folder that the server is for, read-only if that will do (`:ro`)");
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
