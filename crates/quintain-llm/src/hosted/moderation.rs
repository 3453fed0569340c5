//! Moderation in OpenAI's dialect.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use super::{Hosted, hosted_methods};
use crate::error::ModelError;
use crate::measures::{Category, Moderation};
use crate::model::{Ability, Model};
use crate::network::Network;

pub(crate) struct ModerationModel {
    hosted: Hosted,
    name: String,
}

impl ModerationModel {
    pub(crate) fn new(hosted: Hosted, name: &str) -> Self {
        Self { hosted, name: name.to_owned() }
    }

    async fn ask(&self, text: &str, network: &dyn Network) -> Result<Moderation, ModelError> {
        let body = json!({"model": self.name, "input": text});
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = connection.post(network, url.clone(), &body).await?;
        let Some(result) = answer.body.pointer("/results/0") else {
            return Err(ModelError::Empty("the answer has no results".to_owned()));
        };
        let categories = result.get("categories").and_then(Value::as_object);
        let category = |(name, flagged): (&String, &Value)| Category {
            name: name.clone(),
            flagged: flagged.as_bool().unwrap_or(false),
            score: result.get("category_scores").and_then(|scores| scores.get(name)?.as_f64()),
        };
        let categories: Vec<Category> = categories.into_iter().flatten().map(category).collect();
        let flagged = result.get("flagged").and_then(Value::as_bool);
        let flagged = flagged.unwrap_or_else(|| categories.iter().any(|category| category.flagged));
        Ok(Moderation { flagged, categories, raw: answer.raw, cached: false })
    }
}

impl Model for ModerationModel {
    hosted_methods!();

    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> Value {
        self.hosted.fingerprint(json!(self.name))
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Moderate]
    }

    fn moderate<'f>(
        &'f self,
        text: &'f str,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Moderation, ModelError>> {
        self.ask(text, network).boxed()
    }
}
