//! The cost of a response.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static COST: Builtin = Builtin {
    meta: &Meta {
        id: "cost",
        aliases: &[],
        summary: "The response costs at most a given amount",
        docs: r"# What it does
Passes if the cost that the target reports for its response is at most `threshold`, in the unit of the
target (usually dollars). MCP servers report no cost; the result is then an error.

# Example
```yaml
- type: cost
  threshold: 0.002
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let threshold = spec.required_threshold("Cost assertion must have a threshold");
    judging(move |scene| {
        let threshold = threshold.clone()?;
        let Some(cost) = scene.response.cost else {
            let why = "Cost assertion does not support providers that do not return cost";
            return Ok(Verdict::error(why));
        };
        let relation = if negated { "less than or equal to" } else { "greater than" };
        Ok(Verdict::met((cost <= threshold) != negated, || {
            let (cost, threshold) = (js::to_precision(cost, 2), js::number(threshold));
            format!("Cost {cost} is {relation} threshold {threshold}")
        }))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::response::Response;
    use quintain_evidence::verdict::Status;

    use crate::testing::{TestScene, flaw};

    fn costs(cost: f64) -> TestScene {
        TestScene {
            response: Response { cost: Some(cost), ..Response::text("x") },
            ..TestScene::default()
        }
    }

    #[test]
    fn the_threshold_is_still_cheap() {
        assert!(costs(0.5).judge("[{type: cost, threshold: 0.5}]").passed());
        let verdict = costs(0.00123).judge("[{type: cost, threshold: 0.001}]");
        assert_eq!(verdict.reason, "Cost 0.0012 is greater than threshold 0.001");
        let verdict = costs(0.0).judge("[{type: not-cost, threshold: 0}]");
        assert_eq!(verdict.reason, "Cost 0.0 is less than or equal to threshold 0");
    }

    #[test]
    fn unknown_cost_is_no_pass() {
        let verdict = TestScene::output("x").judge("[{type: cost, threshold: 1}]");
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(flaw("[{type: cost}]", "x"), "Cost assertion must have a threshold");
    }
}
