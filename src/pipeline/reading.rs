//! Steps as tokenizer.json writes them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Pipeline;
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
    /// as they are in tokenizer.json, and `is_spelled`, whether symbols are bytes.
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
        Ok(Self {
            source: steps.to_owned(),
            normalizer: read(document.normalizer, "normalizer", "normalizers")?,
            pre_tokenizer: read(document.pre_tokenizer, "pre_tokenizer", "pretokenizers")?,
            is_spelled: document.is_spelled,
        })
    }
}

fn invalid(message: &dyn std::fmt::Display) -> Error {
    Error::InvalidSteps {
        message: message.to_string(),
    }
}

/// The steps in a JSON value; those of a sequence are under this key.
pub(crate) fn read_json<S: DeserializeOwned>(
    steps: &str,
    part: &str,
    members: &str,
) -> Result<Vec<S>> {
    let steps = serde_json::from_str(steps).map_err(|error| invalid(&error))?;
    read(steps, part, members)
}

/// The same in a value.
fn read<S: DeserializeOwned>(value: Value, part: &str, members: &str) -> Result<Vec<S>> {
    let mut steps = Vec::new();
    flatten(value, part, members, &mut steps)?;
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
