//! Which models the assertions of a test ask.

use super::{AskedModel, Assert, ModelTask, NamedModel, Rule, Test, WrittenModel};

impl Test {
    /// The model for an assertion: its own, that of the options of the test (with those of `defaultTest`), or
    /// `provider` of `defaultTest`. None for the default of the run.
    ///
    /// # Errors
    /// If the one that counts names no model for the task.
    pub fn model(
        &self,
        own: Option<&WrittenModel>,
        kind: ModelTask,
    ) -> Result<Option<NamedModel>, String> {
        let options = &self.options;
        let written = own.or(options.judge.as_ref()).or(options.fallback_judge.as_ref());
        written.map(|written| written.pick(kind)).transpose()
    }

    /// The models that its assertions ask.
    pub fn models(&self) -> Vec<AskedModel> {
        let mut asked = Vec::new();
        self.asserts.iter().for_each(|assert| self.asked_by(assert, &mut asked));
        asked
    }

    fn asked_by(&self, assert: &Assert, asked: &mut Vec<AskedModel>) {
        match &assert.rule {
            Rule::Set { asserts, .. } => asserts.iter().for_each(|one| self.asked_by(one, asked)),
            Rule::Check(check) => {
                let own = check.models();
                asked.extend(check.model_tasks().iter().map(|kind| AskedModel {
                    asked_by: assert.kind.clone(),
                    kind: *kind,
                    model: match own.iter().find(|own| own.kind == *kind) {
                        Some(own) => Ok(Some(own.clone())),
                        None => self.model(check.written_model(), *kind),
                    },
                    lacks_rubric: check.lacks_rubric(self),
                    span: assert.span,
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_source::Span;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::compile;

    fn written(value: Value) -> WrittenModel {
        WrittenModel { value, span: Span::default() }
    }

    #[test]
    fn models_of_assertions_options_and_defaults_are_listed() {
        let mut test = Test::default();
        let asserts = "[{type: llm-rubric, value: x, provider: own}, {type: answer-relevance}, \
                        {type: contains, value: x}, {type: assert-set, assert: [{type: similar, value: x}]}]";
        test.asserts = compile(asserts).into_iter().map(std::sync::Arc::new).collect();
        let models = |test: &Test| -> Vec<(String, ModelTask, Option<Value>)> {
            let asked = test.models().into_iter();
            asked.map(|one| (one.asked_by, one.kind, one.model.unwrap().map(|m| m.value))).collect()
        };
        let defaults = models(&test);
        assert_eq!(defaults[0], ("llm-rubric".into(), ModelTask::Text, Some(json!("own"))));
        assert_eq!(defaults[1], ("answer-relevance".into(), ModelTask::Text, None));
        assert_eq!(defaults[2], ("answer-relevance".into(), ModelTask::Embedding, None));
        assert_eq!(defaults[3], ("similar".into(), ModelTask::Embedding, None));
        test.options.fallback_judge = Some(written(json!("fallback")));
        assert_eq!(models(&test)[3].2, Some(json!("fallback")));
        test.options.judge = Some(written(json!({"text": "t", "embedding": "e"})));
        assert_eq!(models(&test)[1].2, Some(json!("t")));
        assert_eq!(models(&test)[3].2, Some(json!("e")));
        test.options.judge = Some(written(json!({"text": "t"})));
        assert!(test.models()[3].model.is_err());
    }
}
