//! All wordings of one solver, looked for together: most output holds none of them, and one pass over it tells.

use std::sync::{Arc, OnceLock};

use regex::RegexSet;

use crate::adapter::{Adapter, Message};
use crate::version::Version;

/// The wordings of a release: its own first, then those of any program.
#[derive(Debug, Clone)]
pub struct Wordings {
    messages: Vec<Message>,
    /// Made when it is first needed; `None` inside if the patterns are too large together.
    together: Arc<OnceLock<Option<RegexSet>>>,
}

impl Wordings {
    /// What an adapter says about a release, and what any program may print.
    pub fn new(adapter: &Adapter, version: Option<&Version>, common: &[Message]) -> Self {
        let messages = adapter.messages_of(version).chain(common).cloned().collect();
        Wordings { messages, together: Arc::default() }
    }

    /// The messages whose wording occurs in a text, in order.
    pub fn in_text<'w>(&'w self, text: &str) -> Vec<&'w Message> {
        match self.together() {
            Some(set) => set.matches(text).into_iter().map(|index| &self.messages[index]).collect(),
            None => self.messages.iter().filter(|message| message.pattern.is_match(text)).collect(),
        }
    }

    fn together(&self) -> Option<&RegexSet> {
        let sources = || self.messages.iter().map(|message| message.pattern.source());
        self.together.get_or_init(|| RegexSet::new(sources()).ok()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use crate::adapter::Adapters;

    use super::*;

    #[test]
    fn together_the_wordings_of_every_adapter_find_what_each_finds_alone() {
        let adapters = Adapters::built_in();
        let texts = [
            "(error \"line 8 column 10: model is not available\")\n",
            "ASSERTION VIOLATION\nFile: a.cpp\nLine: 3\nx\n",
            "Segmentation fault\nterminate called after throwing\ntimeout\n",
            "Fatal failure within void f() at b.cpp:7\nCheck failure\n\n  x\n",
            "AddressSanitizer: heap-use-after-free\nout of memory\n",
            "nothing of the kind",
        ];
        for adapter in adapters.iter() {
            let wordings = Wordings::new(adapter, None, adapters.common_messages());
            assert!(wordings.together().is_some(), "{}", adapter.name);
            for text in texts {
                let alone: Vec<&str> = wordings
                    .messages
                    .iter()
                    .filter(|message| message.pattern.is_match(text))
                    .map(|message| message.pattern.source())
                    .collect();
                let together: Vec<&str> =
                    wordings.in_text(text).iter().map(|message| message.pattern.source()).collect();
                assert_eq!(together, alone, "{} on {text}", adapter.name);
            }
        }
    }
}
