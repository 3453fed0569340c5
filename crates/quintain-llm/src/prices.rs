//! What tokens cost. The table of this crate is data with a date (`prices.json`); options of a model and a table of
//! the user replace it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::completion::Usage;
use crate::config::{Options, as_number};

const BUILT_IN: &str = include_str!("prices.json");
const MILLION: f64 = 1_000_000.0;

/// Options that this module reads.
pub(crate) const KEYS: &[&str] = &["cost", "inputCost", "outputCost"];

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Tokens that the provider had in its cache; the price of other tokens, if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Tokens that the provider put into its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Nothing, if the endpoint did not report the tokens.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let (prompt, completion) = (usage.prompt?, usage.completion.unwrap_or(0));
        let cached = usage.cached.unwrap_or(0).min(prompt);
        let written = usage.cache_write.unwrap_or(0).min(prompt - cached);
        let plain = prompt - cached - written;
        let dollars = plain as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + written as f64 * self.cache_write.unwrap_or(self.input)
            + completion as f64 * self.output;
        Some(dollars / MILLION)
    }
}

/// Where the price of a model comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pricing {
    /// The section of the table; models that run on the user's machine have none.
    pub provider: Option<&'static str>,
    /// The model, if its name at the endpoint is another one (`modelName`).
    pub model: Option<String>,
    /// Dollars per token, from the options of the model.
    pub input: Option<f64>,
    pub output: Option<f64>,
}

impl Pricing {
    pub(crate) fn read(options: &mut Options<'_>, provider: Option<&'static str>) -> Self {
        let both = options.number("cost");
        let input = options.number("inputCost").or(both);
        let output = options.number("outputCost").or(both);
        Self { provider, model: options.text("modelName"), input, output }
    }
}

/// Prices by provider and model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceTable {
    providers: BTreeMap<String, BTreeMap<String, Price>>,
    /// By name of the model, whatever its provider; these count first.
    own: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
struct File {
    providers: BTreeMap<String, BTreeMap<String, Price>>,
}

impl PriceTable {
    /// No prices at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The table of this crate.
    pub fn built_in() -> Self {
        static TABLE: OnceLock<PriceTable> = OnceLock::new();
        // A test parses the file, so it is never empty.
        let read = || match serde_json::from_str::<File>(BUILT_IN) {
            Ok(file) => PriceTable { providers: file.providers, own: BTreeMap::new() },
            Err(_) => PriceTable::default(),
        };
        TABLE.get_or_init(read).clone()
    }

    /// Adds prices of the user: `{MODEL: {input, output, cachedInput?}}`, in dollars per million tokens.
    ///
    /// # Errors
    /// Which entry is wrong.
    pub fn with(mut self, own: &Map<String, Value>) -> Result<Self, String> {
        for (model, price) in own {
            let price: Price = serde_json::from_value(price.clone())
                .map_err(|error| format!("the price of `{model}` is not valid: {error}"))?;
            self.own.insert(model.clone(), price);
        }
        Ok(self)
    }

    /// The price of a model, by its name, without a date at its end, or without the names of vendors before it.
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        let section = self.providers.get(provider);
        let find = |name: &str| {
            let own = self.own.get(name);
            own.or_else(|| section.and_then(|section| section.get(name))).copied()
        };
        let last = model.rsplit('/').next().unwrap_or(model);
        [model, undated(model), last, undated(last)].into_iter().find_map(find)
    }

    /// What a completion cost.
    pub fn cost(&self, pricing: &Pricing, model: &str, usage: &Usage) -> Option<f64> {
        let model = pricing.model.as_deref().unwrap_or(model);
        let listed = self.price(pricing.provider.unwrap_or_default(), model);
        let price = match (pricing.input, pricing.output) {
            (None, None) => listed?,
            (input, output) => Price {
                input: input.map_or(listed.map_or(0.0, |price| price.input), |cost| cost * MILLION),
                output: output
                    .map_or(listed.map_or(0.0, |price| price.output), |cost| cost * MILLION),
                cached_input: None,
                cache_write: None,
            },
        };
        price.cost(usage)
    }
}

/// A name without a date such as `-2024-08-06`, `-20240620` or `-latest`.
fn undated(model: &str) -> &str {
    let digits = |text: &str| text.len() >= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = model.strip_suffix("-latest") {
        return rest;
    }
    let parts: Vec<&str> = model.rsplitn(4, '-').collect();
    match parts.as_slice() {
        [day, month, year, rest]
            if day.len() == 2
                && month.len() == 2
                && year.len() == 4
                && digits(day)
                && digits(month)
                && digits(year) =>
        {
            rest
        }
        [date, ..] if date.len() == 8 && digits(date) => &model[..model.len() - 9],
        _ => model,
    }
}

/// Prices that an entry of the user may have; used to report mistakes early.
pub fn is_price(value: &Value) -> bool {
    let number = |key: &str| value.get(key).and_then(as_number).is_some_and(|number| number >= 0.0);
    number("input") && number("output")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> PriceTable {
        let providers =
            json!({"openai": {"gpt-4o": {"input": 2.5, "output": 10.0, "cachedInput": 1.25}}});
        PriceTable { providers: serde_json::from_value(providers).unwrap(), own: BTreeMap::new() }
    }

    fn usage(prompt: u64, completion: u64) -> Usage {
        Usage { prompt: Some(prompt), completion: Some(completion), ..Usage::default() }
    }

    #[test]
    fn names_are_found_with_dates_and_vendors() {
        for name in
            ["gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o", "gpt-4o-20240806", "gpt-4o-latest"]
        {
            assert!(table().price("openai", name).is_some(), "{name}");
        }
        assert!(table().price("openai", "gpt-4o-mini").is_none());
        assert!(table().price("ollama", "gpt-4o").is_none());
    }

    #[test]
    fn cost_counts_cached_tokens_and_options_come_first() {
        let pricing = Pricing { provider: Some("openai"), ..Pricing::default() };
        let cost = |pricing: &Pricing, usage| table().cost(pricing, "gpt-4o", &usage);
        assert_eq!(cost(&pricing, usage(1_000_000, 100_000)), Some(3.5));
        let cached = Usage { cached: Some(1_000_000), ..usage(1_000_000, 0) };
        assert_eq!(cost(&pricing, cached), Some(1.25));
        let own = Pricing { input: Some(0.001), output: Some(0.002), ..Pricing::default() };
        assert_eq!(cost(&own, usage(10, 10)), Some(0.03));
        assert_eq!(cost(&pricing, Usage::default()), None, "unknown tokens cost an unknown sum");
    }

    #[test]
    fn users_replace_prices() {
        let own = json!({"gpt-4o": {"input": 1.0, "output": 1.0}});
        let table = table().with(own.as_object().unwrap()).unwrap();
        let price = Price { input: 1.0, output: 1.0, cached_input: None, cache_write: None };
        assert_eq!(table.price("openai", "gpt-4o"), Some(price));
        let wrong = json!({"gpt-4o": {"input": "much"}});
        assert!(PriceTable::empty().with(wrong.as_object().unwrap()).is_err());
    }

    #[test]
    fn the_built_in_table_is_valid() {
        let file: File = serde_json::from_str(BUILT_IN).unwrap();
        for (provider, models) in &file.providers {
            for (model, price) in models {
                assert!(price.input >= 0.0 && price.output >= 0.0, "{provider} {model}");
                assert!(price.input < 1_000.0 && price.output < 1_000.0, "{provider} {model}");
            }
        }
        assert!(!PriceTable::built_in().providers.is_empty());
    }
}
