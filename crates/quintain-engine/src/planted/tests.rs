use super::*;
use std::fs;

const MARK: &str = "abcdefghijkl";

fn journal(home: &Path) -> Journal {
    let mut journal = Journal::create(Some(&home.join("state")), "test").unwrap();
    journal.mark(MARK).unwrap();
    journal
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
fn only_names_with_a_mark_and_empty_folders_of_ours_go() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("data");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("thesis.docx"), "years of work").unwrap();
    let mut journal = journal(home.path());
    journal.watched(&root, 4).unwrap();
    for folder in ["empty", "filled"] {
        journal.folder(&root.join(folder)).unwrap();
        fs::create_dir(root.join(folder)).unwrap();
    }
    fs::write(root.join("filled/theirs"), "x").unwrap();
    fs::create_dir_all(root.join(format!("src/quintain{MARK}/.git"))).unwrap();
    fs::write(root.join(format!("Quintain-{}.TXT", MARK.to_uppercase())), "x").unwrap();
    assert!(journal.planted(&root.join("thesis.docx")).is_err());
    let removal = journal.clear();
    assert_eq!(names(&root), ["filled", "src", "thesis.docx"]);
    assert_eq!(names(&root.join("src")), Vec::<String>::new());
    assert_eq!(removal.removed.len(), 3);
    assert!(removal.not_removed.is_empty());
}

#[cfg(unix)]
#[test]
fn links_go_and_what_they_point_to_stays() {
    let home = tempfile::tempdir().unwrap();
    let (root, precious) = (home.path().join("data"), home.path().join("precious"));
    for folder in [&root, &precious] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(precious.join(format!("{MARK}.txt")), "x").unwrap();
    let mut journal = journal(home.path());
    journal.watched(&root, 4).unwrap();
    let planted = root.join(format!("quintain-{MARK}"));
    journal.planted(&planted).unwrap();
    std::os::unix::fs::symlink(&precious, &planted).unwrap();
    std::os::unix::fs::symlink(&precious, root.join("unmarked")).unwrap();
    journal.clear();
    assert_eq!(names(&root), ["unmarked"]);
    assert_eq!(names(&precious), [format!("{MARK}.txt")]);
}

#[test]
fn the_state_directory_is_never_touched() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let mut journal = journal(home.path());
    journal.watched(home.path(), 4).unwrap();
    let kept = state.join(format!("{MARK}.db"));
    fs::write(&kept, "runs").unwrap();
    fs::write(home.path().join(format!("{MARK}.txt")), "x").unwrap();
    journal.planted(&kept).unwrap();
    journal.clear();
    assert!(kept.exists());
    assert_eq!(names(home.path()), ["state"]);
}

#[test]
fn a_run_that_was_killed_is_cleaned_up_by_the_next_start_and_one_that_goes_on_is_not() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let planted = home.path().join(format!("quintain-{MARK}.txt"));
    let mut journal = journal(home.path());
    journal.planted(&planted).unwrap();
    fs::write(&planted, "x").unwrap();
    assert_eq!(remove_leftovers(Some(&state)), Removal::default());
    assert!(planted.exists());
    // A kill releases the lock and leaves everything else.
    let path = journals(Some(&state)).into_iter().find(|path| path.starts_with(&state)).unwrap();
    let mut cut_off = fs::read(&path).unwrap();
    cut_off.extend(b"{\"plan");
    drop(journal);
    fs::write(&path, cut_off).unwrap();
    assert_eq!(remove_leftovers(Some(&state)).removed, std::slice::from_ref(&planted));
    assert!(!planted.exists() && !path.exists());
}

#[cfg(unix)]
#[test]
fn a_journal_that_others_could_have_written_is_not_believed() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    drop(journal(home.path()));
    let folder = state.join("planted");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(journals(Some(&state)).iter().all(|path| !path.starts_with(&state)));
}

#[test]
fn a_process_that_panics_removes_what_it_planted_itself() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let planted = home.path().join(format!("quintain-{MARK}.txt"));
    let mut journal = journal(home.path());
    journal.planted(&planted).unwrap();
    fs::write(&planted, "x").unwrap();
    remove_own(Some(&state));
    assert!(!planted.exists());
    assert!(names(&state.join("planted")).is_empty());
}

#[test]
fn what_is_older_than_the_run_stays_even_under_a_name_of_ours() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("data");
    fs::create_dir_all(root.join("photos/2020")).unwrap();
    fs::write(root.join("photos/2020/1.jpg"), "pic").unwrap();
    fs::write(root.join("user.txt"), "mine").unwrap();
    std::thread::sleep(Duration::from_millis(120));
    let mut journal = journal(home.path());
    journal.watched(&root, 4).unwrap();
    // A target moves a user's file to a name that an attempt chose.
    fs::rename(root.join("user.txt"), root.join(format!("quintain-{MARK}.new.txt"))).unwrap();
    let folder = root.join(format!("quintain-{MARK}.folder"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("theirs"), "made in the run").unwrap();
    fs::rename(root.join("photos"), folder.join("photos")).unwrap();
    let removal = journal.clear();
    assert_eq!(fs::read_to_string(folder.join("photos/2020/1.jpg")).unwrap(), "pic");
    assert_eq!(fs::read_to_string(root.join(format!("quintain-{MARK}.new.txt"))).unwrap(), "mine");
    assert!(!folder.join("theirs").exists());
    assert_eq!(removal.not_removed.len(), 2, "{removal:?}");
    assert!(removal.not_removed[0].1.contains("older than the run"));
}
