//! The servers of a trace and what they offered over time.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::call::CallKind;
use crate::surface::{Prompt, Resource, ResourceTemplate, Tool};

/// A server that the application was connected to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceServer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// In the order in which they took effect.
    #[serde(default, skip_serializing_if = "Listings::is_empty")]
    pub listings: Listings,
}

/// The listings of a server. Traces of one file often have the same servers, so a copy shares the lists until it is changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listings(Arc<Vec<Listing>>);

impl Listings {
    fn is_empty(listings: &Self) -> bool {
        listings.0.is_empty()
    }
}

impl Deref for Listings {
    type Target = Vec<Listing>;

    fn deref(&self) -> &Vec<Listing> {
        &self.0
    }
}

impl DerefMut for Listings {
    fn deref_mut(&mut self) -> &mut Vec<Listing> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Listing>> for Listings {
    fn from(listings: Vec<Listing>) -> Self {
        Self(Arc::new(listings))
    }
}

impl FromIterator<Listing> for Listings {
    fn from_iter<I: IntoIterator<Item = Listing>>(listings: I) -> Self {
        Self::from(listings.into_iter().collect::<Vec<_>>())
    }
}

impl<'l> IntoIterator for &'l Listings {
    type Item = &'l Listing;
    type IntoIter = std::slice::Iter<'l, Listing>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Serialize for Listings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Listings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

/// What a server listed from a step of the trace on. A list that is absent is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// The first step at which it holds.
    #[serde(default)]
    pub from: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Resource>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Vec<ResourceTemplate>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<Prompt>>,
    /// What the server announced to have changed: from here on it is not known until it is listed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<CallKind>,
}

impl TraceServer {
    /// The tools at a step; none if the server's tools are not known.
    pub fn tools_at(&self, step: usize) -> Option<&[Tool]> {
        self.at(step, CallKind::Tool, |listing| listing.tools.as_deref())
    }

    pub fn resources_at(&self, step: usize) -> Option<&[Resource]> {
        self.at(step, CallKind::Resource, |listing| listing.resources.as_deref())
    }

    pub fn templates_at(&self, step: usize) -> Option<&[ResourceTemplate]> {
        self.at(step, CallKind::Resource, |listing| listing.templates.as_deref())
    }

    pub fn prompts_at(&self, step: usize) -> Option<&[Prompt]> {
        self.at(step, CallKind::Prompt, |listing| listing.prompts.as_deref())
    }

    /// The newest list that was known at a step. A list that came only later is better than none: hosts list lazily.
    fn at<'t, T: ?Sized>(
        &'t self,
        step: usize,
        kind: CallKind,
        list: impl Fn(&'t Listing) -> Option<&'t T>,
    ) -> Option<&'t T> {
        for listing in self.listings.iter().rev().filter(|listing| listing.from <= step) {
            if let Some(found) = list(listing) {
                return Some(found);
            }
            if listing.outdated.contains(&kind) {
                return None;
            }
        }
        self.listings.iter().find_map(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announced_change_makes_a_list_unknown_until_the_next_one() {
        let list = |from, name: &str| Listing {
            from,
            tools: Some(vec![Tool(serde_json::json!({"name": name}))]),
            ..Listing::default()
        };
        let changed = Listing { from: 2, outdated: vec![CallKind::Tool], ..Listing::default() };
        let server = TraceServer {
            listings: vec![list(0, "a"), changed, list(4, "b")].into(),
            ..TraceServer::default()
        };
        let names = |step| server.tools_at(step).map(|tools| tools[0].name());
        assert_eq!(names(1), Some(Some("a")));
        assert_eq!(names(3), None);
        assert_eq!(names(4), Some(Some("b")));
    }
}
