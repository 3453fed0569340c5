//! Distances between embeddings, and how they are read from replies.

use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::failure::error;
use super::replies::Replies;

/// The vector in a reply.
pub(super) fn vector(replies: &Replies<'_>, at: usize) -> Result<Vec<f64>, Box<Verdict>> {
    let reply = replies.reply(at)?;
    let numbers = reply.output.as_array().filter(|items| !items.is_empty());
    let numbers = numbers.and_then(|items| items.iter().map(Value::as_f64).collect());
    numbers.map_or_else(|| replies.malformed("is not an embedding", &reply.text()), Ok)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> Result<f64, Box<Verdict>> {
    pairs(a, b).map(|pairs| pairs.map(|(a, b)| a * b).sum())
}

/// 0 if one of them has no length.
pub(super) fn cosine(a: &[f64], b: &[f64]) -> Result<f64, Box<Verdict>> {
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (dot, both) = (dot(a, b)?, length(a) * length(b));
    Ok(if both == 0.0 { 0.0 } else { dot / both })
}

pub(super) fn euclidean(a: &[f64], b: &[f64]) -> Result<f64, Box<Verdict>> {
    pairs(a, b).map(|pairs| pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt())
}

fn pairs<'a>(
    a: &'a [f64],
    b: &'a [f64],
) -> Result<impl Iterator<Item = (f64, f64)> + 'a, Box<Verdict>> {
    if a.len() != b.len() {
        let (a, b) = (a.len(), b.len());
        return error(format!("the embeddings have different lengths, {a} and {b}"));
    }
    Ok(a.iter().copied().zip(b.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_geometry() {
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found}");
        near(cosine(&[1.0, 0.0], &[1.0, 1.0]).unwrap(), 0.5_f64.sqrt());
        near(cosine(&[2.0, 0.0], &[-3.0, 0.0]).unwrap(), -1.0);
        near(cosine(&[0.0, 0.0], &[1.0, 1.0]).unwrap(), 0.0);
        near(dot(&[1.0, 2.0], &[3.0, 4.0]).unwrap(), 11.0);
        near(euclidean(&[0.0, 0.0], &[3.0, 4.0]).unwrap(), 5.0);
        assert!(cosine(&[1.0], &[1.0, 2.0]).is_err());
    }
}
