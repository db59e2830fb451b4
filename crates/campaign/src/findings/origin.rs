//! Where a finding's test case comes from: enough to make it again.

use engines::Feedback;
use serde::{Deserialize, Deserializer, Serialize};

/// The origin of a test case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub rng_seed: u64,
    pub round: u64,
    pub step: usize,
    /// As the command line names it, with its transforms.
    pub engine: String,
    pub logic: String,
    /// Numbers of the solvers whose common operators were used.
    #[serde(alias = "company")]
    pub group: Vec<usize>,
    /// The tactic that was put into its checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tactic: Option<String>,
    /// Operators that new terms did without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    pub seeds: Vec<Ancestor>,
    /// What an earlier round had left to know about the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Of the test case's text in the standard dialect, before it was made smaller.
    pub script: String,
    /// What the engine did, in its own words.
    pub changes: Vec<String>,
    /// What the engine was told of the steps before, as far as it steers by it: a letter per flag, for steps that have
    /// any.
    #[serde(deserialize_with = "feedback")]
    pub feedback: Vec<StepFeedback>,
}

/// What an engine was told of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepFeedback {
    pub step: usize,
    /// [`Feedback::letters`].
    pub letters: String,
    /// All of it, for engines that steer by numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Feedback>,
    /// [`Feedback::seen`], where `numbers` do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// A seed of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    pub name: String,
    /// Of its text, which the campaign's store has; generated seeds come out of the round's stream again.
    pub hash: String,
    pub generated: bool,
}

impl Origin {
    /// What the engine was told of a step.
    pub fn told(&self, step: usize) -> Feedback {
        let place = self.feedback.binary_search_by_key(&step, |told| told.step);
        match place.ok().and_then(|place| self.feedback.get(place)) {
            Some(StepFeedback { numbers: Some(feedback), .. }) => feedback.clone(),
            Some(told) => Feedback { seen: told.seen.clone(), ..Feedback::from_letters(&told.letters) },
            None => Feedback::default(),
        }
    }
}

/// Earlier versions wrote one text per step.
fn feedback<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StepFeedback>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Sparse(Vec<StepFeedback>),
        EveryStep(Vec<String>),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Sparse(told) => told,
        Either::EveryStep(all) => {
            let told = all.into_iter().enumerate().map(|(step, letters)| StepFeedback {
                step,
                letters,
                numbers: None,
                seen: None,
            });
            told.filter(|told| !told.letters.is_empty()).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_versions_wrote_is_read() {
        let text = r#"{"rng_seed":1,"round":2,"step":3,"engine":"diver","logic":"QF_LIA","company":[0,1],"seeds":[],
            "script":"00","changes":[],"feedback":["","n","nh"]}"#;
        let origin: Origin = serde_json::from_str(text).expect("an origin");
        assert_eq!(origin.group, [0, 1]);
        let letters = [0, 1, 2, 9].map(|step| origin.told(step).letters());
        assert_eq!(letters, ["", "n", "nh", ""]);
        assert_eq!(origin.told(1).seen, None);
        let again: Origin =
            serde_json::from_str(&serde_json::to_string(&origin).expect("JSON")).expect("read");
        assert_eq!(again, origin);
    }

    #[test]
    fn what_an_engine_saw_in_a_model_is_told_again() {
        let seen = Some("tf-".to_owned());
        let told = StepFeedback { step: 3, letters: "n".to_owned(), numbers: None, seen: seen.clone() };
        let origin = Origin { feedback: vec![told], ..Origin::default() };
        let text = serde_json::to_string(&origin).expect("JSON");
        let again: Origin = serde_json::from_str(&text).expect("read");
        assert_eq!((again.told(3).seen, again.told(2).seen), (seen, None));
        assert_eq!(again.told(3).letters(), "n");
    }
}
