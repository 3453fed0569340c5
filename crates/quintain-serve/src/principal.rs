//! Who calls the server, and what they may do. Every list, id, cache entry and run belongs to one principal.

use std::collections::BTreeSet;

/// A caller that was authenticated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The owner of everything that the principal creates: the owner of runs in the store.
    pub owner: String,
    /// The owner of this machine, over stdio or with a token made without `--scope`. An operator may name loopback
    /// targets, files of the workspace and permitted commands; what everybody else sends is data.
    pub operator: bool,
    pub scopes: BTreeSet<Scope>,
}

/// A right that a token can carry, by group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    pub group: Group,
    pub access: Access,
}

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    Generators,
    Datasets,
    /// Converters and scorers.
    Texts,
    Orchestrators,
    Results,
    Traces,
    /// Everything of every principal.
    Admin,
}

/// Reading, or also creating, changing, running and deleting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    Read,
    Write,
}

impl Group {
    pub const ALL: [Self; 7] = [
        Self::Generators,
        Self::Datasets,
        Self::Texts,
        Self::Orchestrators,
        Self::Results,
        Self::Traces,
        Self::Admin,
    ];

    /// The name in scopes and documentation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Generators => "generators",
            Self::Datasets => "datasets",
            Self::Texts => "texts",
            Self::Orchestrators => "orchestrators",
            Self::Results => "results",
            Self::Traces => "traces",
            Self::Admin => "admin",
        }
    }
}

impl Scope {
    pub const fn new(group: Group, access: Access) -> Self {
        Self { group, access }
    }

    /// Reads a scope as tokens write it: `datasets:read`, `admin`.
    pub fn parse(text: &str) -> Option<Self> {
        // Only `admin` alone means everything; every other group names the access.
        let alone = (text == "admin").then_some((text, "write"));
        let (group, access) = text.split_once(':').or(alone)?;
        let group = Group::ALL.into_iter().find(|known| known.word() == group)?;
        match access {
            "read" => Some(Self::new(group, Access::Read)),
            "write" => Some(Self::new(group, Access::Write)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let access = match self.access {
            Access::Read => "read",
            Access::Write => "write",
        };
        write!(out, "{}:{access}", self.group.word())
    }
}

impl Principal {
    /// The user of this machine over stdio.
    pub fn local(owner: &str) -> Self {
        let every = |group| Scope::new(group, Access::Write);
        let scopes = Group::ALL.into_iter().map(every).collect();
        Self { owner: owner.to_owned(), operator: true, scopes }
    }

    /// Whether the principal has a right. Writing includes reading, and the admin scope includes everything.
    pub fn may(&self, scope: Scope) -> bool {
        let has = |group, access| self.scopes.contains(&Scope::new(group, access));
        self.is_admin()
            || has(scope.group, Access::Write)
            || scope.access == Access::Read && has(scope.group, Access::Read)
    }

    /// Whether the principal may see what belongs to others.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::new(Group::Admin, Access::Write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_are_shown() {
        for group in Group::ALL {
            for access in [Access::Read, Access::Write] {
                let scope = Scope::new(group, access);
                assert_eq!(Scope::parse(&scope.to_string()), Some(scope));
            }
        }
        assert_eq!(Scope::parse("admin"), Some(Scope::new(Group::Admin, Access::Write)));
        assert_eq!(Scope::parse("datasets:delete"), None);
        assert_eq!(Scope::parse("nothing"), None);
        assert_eq!(Scope::parse("datasets"), None);
    }

    #[test]
    fn writing_includes_reading_and_only_in_its_group() {
        let scopes = [Scope::new(Group::Datasets, Access::Write)].into();
        let principal = Principal { owner: "a".into(), operator: false, scopes };
        assert!(principal.may(Scope::new(Group::Datasets, Access::Read)));
        assert!(!principal.may(Scope::new(Group::Results, Access::Read)));
        assert!(!principal.is_admin());
    }
}
