//! What two policies both allow. Whoever runs jobs has one, and each request brings its own.

use std::path::{Path, PathBuf};

use quintain_wire::destination::Destination;

use super::{Access, Policy, real_path};

impl Policy {
    /// What both policies allow, and nothing else. Programs have to be written the same way in both.
    #[must_use]
    pub fn narrowed_by(&self, other: &Self) -> Self {
        fn same<T: PartialEq + Clone>(one: &T, other: &T) -> Option<T> {
            (one == other).then(|| one.clone())
        }
        Self {
            files: self.files.narrowed_by(&other.files, |one, other| deeper(one, other)),
            variables: self.variables.narrowed_by(&other.variables, same),
            commands: self.commands.narrowed_by(&other.commands, same),
            interpreters: self.interpreters.narrowed_by(&other.interpreters, same),
            addresses: self.addresses.narrowed_by(&other.addresses, Destination::narrowed_by),
            logins: self.logins && other.logins,
            hidden: [self.hidden.clone(), other.hidden.clone()].concat(),
        }
    }
}

impl<T: Clone> Access<T> {
    /// What both allow; `common` is what two entries both name.
    fn narrowed_by(&self, other: &Self, common: impl Fn(&T, &T) -> Option<T>) -> Self {
        let (one, other) = match (self, other) {
            (Self::Everything, only) | (only, Self::Everything) => return only.clone(),
            (Self::Only(one), Self::Only(other)) => (one, other),
        };
        let pairs = one.iter().flat_map(|entry| other.iter().map(move |other| (entry, other)));
        Self::Only(pairs.filter_map(|(entry, other)| common(entry, other)).collect())
    }
}

/// Of a folder and something below it, the latter.
fn deeper(one: &Path, other: &Path) -> Option<PathBuf> {
    let real = (real_path(one)?, real_path(other)?);
    if real.0.starts_with(&real.1) {
        return Some(one.to_owned());
    }
    real.1.starts_with(&real.0).then(|| other.to_owned())
}

#[cfg(test)]
mod tests {
    use quintain_evidence::code::Language;

    use super::*;

    #[test]
    fn only_what_both_allow_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a/deep", "b"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let policy = |files: &[&str], addresses: &[&str], names: &[&str]| Policy {
            files: Access::Only(files.iter().map(|name| root.join(name)).collect()),
            addresses: Access::Only(addresses.iter().map(|text| text.parse().unwrap()).collect()),
            variables: Access::Only(names.iter().map(|name| (*name).to_owned()).collect()),
            interpreters: Access::Only(vec![Language::Ruby]),
            ..Policy::everything()
        };
        let one = policy(&["a", "b"], &["loopback:80", "*.example.com"], &["X", "Y"]);
        let other = policy(&["a/deep", "c"], &["127.0.0.1", "a.example.com:443", "*:80"], &["Y"]);
        let both = one.narrowed_by(&other);
        assert_eq!(both, {
            let addresses =
                ["127.0.0.1:80", "loopback:80", "a.example.com:443", "*.example.com:80"];
            policy(&["a/deep"], &addresses, &["Y"])
        });
        let back = other.narrowed_by(&one);
        for path in ["a/deep/x", "a/x", "b/x", "c/x"] {
            let path = root.join(path);
            assert_eq!(both.file(&path).is_ok(), back.file(&path).is_ok(), "{path:?}");
        }
        assert_eq!(Policy::everything().narrowed_by(&one), one);
        assert_eq!(one.narrowed_by(&Policy::everything()), one);
        assert_eq!(one.narrowed_by(&Policy::nothing()), Policy::nothing());
    }
}
