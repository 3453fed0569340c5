//! What a server offers: the registries, with the schemas compiled for validation.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::fixtures;
use crate::principal::Principal;
use crate::prompt::Prompt;
use crate::prompts::PROMPTS;
use crate::resource::ResourceKind;
use crate::resources::RESOURCES;
use crate::settings::Toolset;
use crate::tool::Tool;
use crate::tools::TOOLS;

/// Tools, prompts and resources of a server.
pub struct Catalogue {
    tools: Vec<Offered>,
    pub prompts: Vec<&'static dyn Prompt>,
    pub resources: Vec<&'static dyn ResourceKind>,
    /// Whether what the conformance suite asks for is served, too.
    pub is_for_conformance: bool,
}

/// A tool with its schemas.
pub struct Offered {
    pub tool: &'static dyn Tool,
    pub input_schema: Value,
    pub output_schema: Value,
    validator: OnceLock<Result<Validator, String>>,
}

impl Catalogue {
    /// The tools of the set, all prompts and all resources.
    pub fn of(toolset: Toolset) -> Self {
        let listed = |tool: &&&'static dyn Tool| toolset == Toolset::Full || tool.meta().core;
        let tools = TOOLS.iter().filter(listed).copied().map(Offered::new).collect();
        Self {
            tools,
            prompts: PROMPTS.to_vec(),
            resources: RESOURCES.to_vec(),
            is_for_conformance: false,
        }
    }

    /// The same with what tests of the protocol need.
    pub fn with_fixtures(toolset: Toolset) -> Self {
        let mut catalogue = Self::of(toolset);
        catalogue.tools.extend(fixtures::tools().map(Offered::new));
        catalogue.resources.extend(fixtures::resources());
        catalogue
    }

    /// Adds prompts; one with the name of another replaces it.
    pub fn add_prompts(&mut self, prompts: Vec<&'static dyn Prompt>) {
        for prompt in prompts {
            self.prompts.retain(|known| known.meta().name != prompt.meta().name);
            self.prompts.push(prompt);
        }
    }

    /// The tools that a principal may call.
    pub fn tools<'a>(&'a self, principal: &'a Principal) -> impl Iterator<Item = &'a Offered> + 'a {
        self.tools.iter().filter(|offered| principal.may(offered.tool.meta().scope))
    }

    pub fn tool(&self, name: &str) -> Option<&Offered> {
        self.tools.iter().find(|offered| offered.tool.meta().name == name)
    }

    pub fn prompt(&self, name: &str) -> Option<&'static dyn Prompt> {
        self.prompts.iter().copied().find(|prompt| prompt.meta().name == name)
    }
}

impl Offered {
    fn new(tool: &'static dyn Tool) -> Self {
        let (input_schema, output_schema) = (tool.input_schema(), tool.output_schema());
        Self { tool, input_schema, output_schema, validator: OnceLock::new() }
    }

    /// The compiled input schema.
    ///
    /// # Errors
    /// If the schema of the tool is invalid, which a test of the registry excludes.
    pub fn validator(&self) -> Result<&Validator, &str> {
        let compile = || {
            let options = jsonschema::options().should_validate_formats(true);
            options.build(&self.input_schema).map_err(|error| error.to_string())
        };
        self.validator.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}
