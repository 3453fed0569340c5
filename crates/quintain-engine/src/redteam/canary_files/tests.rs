use super::*;
use std::path::Path;

struct Home {
    folder: tempfile::TempDir,
    key: MarkKey,
}

impl Home {
    fn new() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), key: MarkKey::new(bytes) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn data(&self) -> PathBuf {
        let data = self.path().join("home/data");
        fs::create_dir_all(&data).unwrap();
        data
    }

    fn plant(&self, root: &Path) -> PlantedFiles {
        PlantedFiles::new(
            &[root.to_owned()],
            &self.key,
            Some(&self.path().join("state")),
            Some("git".as_ref()),
        )
        .unwrap()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn canary_files_are_removed_completely() {
    let home = Home::new();
    let root = home.data();
    let mut planted = home.plant(&root);
    let canaries = planted.canaries.clone();
    assert_eq!(
        fs::read_to_string(&canaries.links[&root]).unwrap().trim_end(),
        canaries.canary_text
    );
    assert!(canaries.siblings[&root].starts_with(root.parent().unwrap()));
    let mut hints = Hints::default();
    planted.hint(std::slice::from_ref(&root), &mut hints);
    assert!(hints.files[0].exists() && hints.spare[0].exists() && !hints.fresh[0].exists());
    assert_eq!(hints.files.len(), ENDINGS.len());
    drop(planted);
    assert!(!canaries.root.exists());
    assert_eq!(names(root.parent().unwrap()), ["data"]);
    assert!(names(&root).is_empty());
    assert!(names(&home.path().join("state/planted")).is_empty());
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_canary_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let planted = home.plant(&home.data());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&planted.canaries.root), 0o700);
    assert_eq!(mode(&home.path().join("state/planted")), 0o700);
}

#[test]
fn what_a_target_created_of_our_marks_goes_and_everything_else_stays() {
    let home = Home::new();
    let root = home.data();
    fs::write(root.join("old"), "x").unwrap();
    let mut planted = home.plant(&root);
    let mark = home.key.marks("attempt").mark();
    planted.sent(&mark, &[], &serde_json::json!({"path": "src/b.txt", "kind": "thesis.docx"}));
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/b.txt"), "the user's new file").unwrap();
    fs::write(root.join("thesis.docx"), "the user's new file").unwrap();
    fs::write(root.join(format!("src/{mark}.txt")), "y").unwrap();
    drop(planted);
    assert_eq!(names(&root), ["old", "src", "thesis.docx"]);
    assert_eq!(names(&root.join("src")), ["b.txt"]);
}

#[test]
fn what_a_target_created_of_a_payload_goes() {
    let home = Home::new();
    let root = home.data();
    let mut planted = home.plant(&root);
    let mark = home.key.marks("attempt").mark();
    let drop_ = planted.canaries.drop.display().to_string();
    let drawn = [mark.to_string(), "12345".into(), "67890".into()];
    let (first, second) = mark.as_str().split_at(6);
    for payload in [
        format!("--output={drop_}/{mark}"),
        format!("f(['{second}','{first}'])"),
        "{{12345*67890}}".to_owned(),
        format!("{}/!!python/{mark}", root.display()),
    ] {
        planted.sent(&mark, &drawn, &serde_json::json!({ "path": payload }));
        fs::create_dir_all(root.join(payload)).unwrap();
    }
    // An empty folder of the user stays, even if an attempt was to create a file in it.
    planted.sent(&mark, &drawn, &serde_json::json!(["constant", format!("new/{mark}.txt")]));
    fs::create_dir_all(root.join("new")).unwrap();
    planted.sent(&mark, &drawn, &serde_json::json!("src/thesis.docx"));
    fs::create_dir_all(root.join("constant")).unwrap();
    fs::create_dir_all(root.join("src/thesis.docx")).unwrap();
    drop(planted);
    assert_eq!(names(&root), ["constant", "new", "src"]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_somebody_prepared() {
    let home = Home::new();
    let root = home.data();
    let precious = home.path().join("authorized_keys");
    fs::write(&precious, "ssh-ed25519 mine").unwrap();
    // The attacker knows the mark, which a real one cannot.
    let mark = home.plant(&root).mark().clone();
    for ending in ["", "-link", ".txt", ".spare.txt", ".new.txt", "-door", "-sink.txt"] {
        let link = root.join(format!("quintain-{mark}{ending}"));
        std::os::unix::fs::symlink(&precious, link).unwrap();
    }
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.with_file_name(format!("data-quintain-{mark}")))
        .unwrap();
    let mut planted = home.plant(&root);
    planted.hint(std::slice::from_ref(&root), &mut Hints::default());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "ssh-ed25519 mine");
    assert!(names(&outside).is_empty());
}

#[test]
fn paths_that_contain_commands_go_with_their_attempt() {
    let home = Home::new();
    let root = home.data();
    fs::create_dir(root.join("empty")).unwrap();
    let mut planted = home.plant(&root);
    let before = names(&root);
    let drop = planted.canaries.drop.display().to_string();
    let mut marks = home.key.marks("attempt");
    let marks = [marks.mark(), marks.mark()];
    let path = |mark: &Nonce| format!("{}/empty;touch {drop}/{mark}", root.display());
    for mark in &marks {
        planted.sent(mark, &[], &serde_json::json!(path(mark)));
        assert!(Path::new(&path(mark)).is_dir());
    }
    planted.remove_command_paths(&marks[0]);
    assert!(!Path::new(&path(&marks[0])).exists() && Path::new(&path(&marks[1])).is_dir());
    planted.remove_command_paths(&marks[1]);
    assert_eq!(names(&root), before);
}

#[cfg(unix)]
#[test]
fn no_path_is_created_through_a_link() {
    let home = Home::new();
    let root = home.data();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("q;touch ")).unwrap();
    let mut planted = home.plant(&root);
    let drop = planted.canaries.drop.display().to_string();
    let mark = home.key.marks("attempt").mark();
    planted.sent(
        &mark,
        &[],
        &serde_json::json!(format!("{}/q;touch {drop}/{mark}", root.display())),
    );
    assert!(names(&outside).is_empty());
}

#[test]
fn files_that_a_target_creates_next_to_its_folder_are_removed() {
    let home = Home::new();
    let root = home.data();
    let above = root.parent().unwrap().to_owned();
    fs::create_dir(above.join("data-of-theirs")).unwrap();
    let mut planted = home.plant(&root);
    let mark = home.key.marks("attempt").mark();
    for tail in [format!(";id /x/{mark}"), "-of-theirs/y".into(), format!("/inside-{mark}")] {
        let path = format!("{}{tail}", root.display());
        planted.sent(&mark, &[], &serde_json::json!({ "path": path }));
        fs::create_dir_all(path).unwrap();
    }
    drop(planted);
    assert_eq!(names(&above), ["data", "data-of-theirs"]);
    assert!(above.join("data-of-theirs/y").exists() && names(&root).is_empty());
}

#[test]
fn a_path_that_contains_a_command_exists_until_the_end() {
    let home = Home::new();
    let root = home.data();
    let mut planted = home.plant(&root);
    let drop_ = planted.canaries.drop.display().to_string();
    let mark = home.key.marks("attempt").mark();
    let inside = format!("{}/q$(touch {drop_}/{mark})", root.display());
    let elsewhere = format!("/elsewhere/q;touch {mark}");
    planted.sent(&mark, &[], &serde_json::json!([inside, format!("{inside}.txt"), elsewhere]));
    assert!(Path::new(&inside).is_dir() && Path::new(&format!("{inside}.txt")).is_file());
    let up = format!("{}/../q$(touch {drop_}/{mark})", root.display());
    planted.sent(&mark, &[], &serde_json::json!(up));
    assert!(!root.with_file_name("q$(touch ").exists());
    drop(planted);
    assert!(names(&root).is_empty());
}

#[test]
fn nothing_is_planted_in_the_state_directory() {
    let home = Home::new();
    let state = home.path().join("state");
    fs::create_dir_all(state.join("runs")).unwrap();
    let mut planted = home.plant(&state.join("runs"));
    planted.hint(&[state.join("runs")], &mut Hints::default());
    assert!(names(&state.join("runs")).is_empty());
    assert_eq!(names(&state), ["planted", "runs"]);
}

#[test]
fn what_appears_is_seen_once() {
    let home = Home::new();
    let mut planted = home.plant(&home.data());
    assert!(planted.look().is_empty());
    fs::write(planted.canaries.drop.join("marked"), "x").unwrap();
    assert!(matches!(&planted.look()[..], [Observation::File { content, .. }] if content == "x"));
    assert!(planted.look().is_empty());
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_the_canary_folder_are_not_read() {
    let home = Home::new();
    let mut planted = home.plant(&home.data());
    let secret = home.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key"), "private").unwrap();
    let drop = planted.canaries.drop.clone();
    std::os::unix::fs::symlink(secret.join("key"), drop.join("link")).unwrap();
    assert!(planted.look().is_empty());
    fs::remove_dir_all(&drop).unwrap();
    std::os::unix::fs::symlink(&secret, &drop).unwrap();
    assert!(planted.look().is_empty());
}
