//! The servers of a trace and what they offered over time.

use serde::{Deserialize, Serialize};

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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listings: Vec<Listing>,
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
}

impl TraceServer {
    /// The tools at a step; none if the server's tools are not known.
    pub fn tools_at(&self, step: usize) -> Option<&[Tool]> {
        self.at(step, |listing| listing.tools.as_deref())
    }

    pub fn resources_at(&self, step: usize) -> Option<&[Resource]> {
        self.at(step, |listing| listing.resources.as_deref())
    }

    pub fn templates_at(&self, step: usize) -> Option<&[ResourceTemplate]> {
        self.at(step, |listing| listing.templates.as_deref())
    }

    pub fn prompts_at(&self, step: usize) -> Option<&[Prompt]> {
        self.at(step, |listing| listing.prompts.as_deref())
    }

    /// The newest list that was known at a step. A list that came only later is better than none: hosts list lazily.
    fn at<'t, T: ?Sized>(
        &'t self,
        step: usize,
        list: impl Fn(&'t Listing) -> Option<&'t T>,
    ) -> Option<&'t T> {
        let earlier = self.listings.iter().rev().filter(|listing| listing.from <= step);
        earlier.chain(&self.listings).find_map(list)
    }
}
