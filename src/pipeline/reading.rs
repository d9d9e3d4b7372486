//! Steps as tokenizer.json writes them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Normalizing, Pipeline, SentencePiece};
use crate::error::{Error, Result};

/// All steps of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    is_spelled: bool,
}

impl Pipeline {
    /// The steps in a JSON object: `normalizer` and `pre_tokenizer`, each a step or a list of them
    /// as they are in tokenizer.json, and `is_spelled`, whether symbols are bytes. Instead of other
    /// steps a normalizer may be that of a model of `SentencePiece`.
    ///
    /// ```
    /// use mergewise::pipeline::Pipeline;
    ///
    /// let pipeline = Pipeline::from_json(r#"{"normalizer": [{"type": "Lowercase"}]}"#)?;
    /// assert_eq!(pipeline.normalized("ÀB")?, "àb");
    /// assert!(Pipeline::from_json(r#"{"normalizer": [{"type": "Shout"}]}"#).is_err());
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn from_json(steps: &str) -> Result<Self> {
        let document: Document = serde_json::from_str(steps).map_err(|error| invalid(&error))?;
        let cuts = listed(document.pre_tokenizer, "pre_tokenizer", "pretokenizers")?;
        Ok(Self {
            source: steps.to_owned(),
            normalizer: normalizing(document.normalizer)?,
            pre_tokenizer: parsed(cuts, "pre_tokenizer")?,
            is_spelled: document.is_spelled,
        })
    }
}

fn invalid(message: &dyn std::fmt::Display) -> Error {
    Error::InvalidSteps {
        message: message.to_string(),
    }
}

/// The steps in JSON; those of a sequence are under the key `members`.
pub(crate) fn read_json<S: DeserializeOwned>(
    steps: &str,
    part: &str,
    members: &str,
) -> Result<Vec<S>> {
    let steps = serde_json::from_str(steps).map_err(|error| invalid(&error))?;
    parsed(listed(steps, part, members)?, part)
}

/// The normalizer of a model of `SentencePiece`, beside the steps of tokenizer.json.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Model {
    SentencePiece(Box<SentencePiece>),
}

fn normalizing(value: Value) -> Result<Normalizing> {
    let steps = listed(value, "normalizer", "normalizers")?;
    match &steps[..] {
        [step] if step["type"] == "SentencePiece" => {}
        _ => return Ok(Normalizing::Steps(parsed(steps, "normalizer")?)),
    }
    let models = parsed(steps, "normalizer")?.into_iter();
    let mut models = models.map(|Model::SentencePiece(step)| Normalizing::SentencePiece(step));
    Ok(models.next().unwrap_or(Normalizing::Steps(Vec::new())))
}

/// The steps in a value; those of a sequence are under the key `members`.
fn listed(value: Value, part: &str, members: &str) -> Result<Vec<Value>> {
    let mut steps = Vec::new();
    flatten(value, part, members, &mut steps)?;
    Ok(steps)
}

/// What steps are of which the core knows the types.
fn parsed<S: DeserializeOwned>(steps: Vec<Value>, part: &str) -> Result<Vec<S>> {
    let steps = steps.into_iter().enumerate();
    steps
        .map(|(index, step)| {
            let kind = step["type"].as_str().map(str::to_owned);
            serde_json::from_value(step).map_err(|error| {
                let number = index + 1;
                let kind = kind.as_deref().unwrap_or("without a type");
                // What a field says is wrong with it ends with where its text was: nowhere here.
                let message = error.to_string();
                let reason = match message.strip_prefix(&format!("unknown variant `{kind}`, ")) {
                    Some(expected) => format!("no step of this name; {expected}"),
                    None => message.replace("unknown variant", "unknown value"),
                };
                invalid(&format!("{part} step {number} ({kind}): {reason}"))
            })
        })
        .collect()
}

/// Collect the steps in a value: none, one, a list, or those of a sequence.
fn flatten(value: Value, part: &str, members: &str, steps: &mut Vec<Value>) -> Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Array(values) => values
            .into_iter()
            .try_for_each(|value| flatten(value, part, members, steps)),
        Value::Object(mut fields) if fields.get("type") == Some(&"Sequence".into()) => {
            match fields.remove(members) {
                Some(values @ Value::Array(_)) => flatten(values, part, members, steps),
                _ => Err(invalid(&format!("{part}: a Sequence without {members}"))),
            }
        }
        Value::Object(_) => {
            steps.push(value);
            Ok(())
        }
        other => Err(invalid(&format!("{part}: {other} is no step"))),
    }
}
