//! The findings that this process knows of, and those that nobody wants.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Face, Signature};
use crate::store::{KnownFinding, Unwanted};

/// Findings by the hash of their signature: those of the store, those about to be claimed, and unwanted ones.
#[derive(Default)]
pub struct KnownFindings {
    known: BTreeMap<String, FindingEntry>,
    found_since: u64,
    unwanted: Unwanted,
    /// The faces among them, read.
    unwanted_faces: Vec<Face>,
    /// Hashes of signatures that turned out to be unwanted.
    suppressed: BTreeSet<String>,
    /// Hashes of signatures that triage is about to claim.
    expected: BTreeSet<String>,
}

/// A finding that is known, as the store has it and with its signature where this process has seen it.
struct FindingEntry {
    finding: KnownFinding,
    signature: Option<Signature>,
    culprit: Option<Culprit>,
}

/// What a bug is blamed on most, and the solver that has it.
pub type Culprit = (String, String);

impl KnownFindings {
    /// Those of the store, none of which is news.
    pub fn new(findings: Vec<KnownFinding>, unwanted: Unwanted) -> KnownFindings {
        let unwanted_faces = faces(&unwanted);
        let mut all = KnownFindings { unwanted, unwanted_faces, ..KnownFindings::default() };
        for finding in findings {
            all.know(finding, None);
        }
        all.found_since = 0;
        all
    }

    /// A finding with this signature is known.
    pub fn knows(&self, signature: &Signature) -> bool {
        self.known.contains_key(&signature.hash())
    }

    /// A finding with this signature is about to be claimed: further ones are duplicates.
    pub fn expect(&mut self, signature: &Signature) {
        self.expected.insert(signature.hash());
    }

    pub fn expects(&self, signature: &Signature) -> bool {
        self.expected.contains(&signature.hash())
    }

    /// Its claim has been decided.
    pub fn expect_no_more(&mut self, signature: &Signature) {
        self.expected.remove(&signature.hash());
    }

    /// Bugs that have become known since the last call, whoever found them.
    pub fn take_found(&mut self) -> u64 {
        std::mem::take(&mut self.found_since)
    }

    /// How often a known finding was found again.
    pub fn duplicates(&self, signature: &Signature) -> u64 {
        self.known.get(&signature.hash()).map_or(0, |known| known.finding.duplicates)
    }

    pub fn know(&mut self, finding: KnownFinding, signature: Option<&Signature>) {
        let before = self.known.remove(&finding.hash);
        // Another face of a known bug is no news.
        self.found_since += u64::from(before.is_none() && finding.leads());
        let signature = signature.cloned().or(before.and_then(|known| known.signature));
        let culprit = culprit(&finding.face);
        self.known.insert(finding.hash.clone(), FindingEntry { finding, signature, culprit });
    }

    /// These are all findings there are.
    pub fn know_all(&mut self, findings: Vec<KnownFinding>) {
        let there: BTreeSet<&str> = findings.iter().map(|finding| finding.hash.as_str()).collect();
        self.known.retain(|hash, _| there.contains(hash.as_str()));
        for finding in findings {
            self.know(finding, None);
        }
    }

    /// The signature of a known finding that this one may be, seen through more constructs.
    pub fn resembling(&self, signature: &Signature) -> Option<Signature> {
        let known = self.known.values().filter_map(|known| known.signature.as_ref());
        known.into_iter().find(|known| known.is_part_of(signature)).cloned()
    }

    /// May this be a bug that nobody wants to hear of, seen through more constructs?
    pub fn resembles_unwanted(&self, signature: &Signature) -> bool {
        self.unwanted_faces.iter().any(|face| signature.may_show(face))
    }

    /// What known bugs are blamed on, those of earlier campaigns included, each by its most suspicious construct.
    pub fn culprits(&self) -> BTreeSet<Culprit> {
        let unwanted = self.unwanted_faces.iter().filter_map(culprit_of);
        self.known.values().filter_map(|known| known.culprit.clone()).chain(unwanted).collect()
    }

    pub fn all(&self) -> Vec<KnownFinding> {
        self.known.values().map(|known| known.finding.clone()).collect()
    }

    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Does the user not want to hear of it?
    pub fn is_suppressed(&self, signature: &Signature) -> bool {
        let unwanted = &self.unwanted.signatures;
        let hash = signature.hash();
        unwanted.contains(&hash)
            || self.suppressed.contains(&hash)
            || unwanted.iter().any(|line| signature.is_named_by(line))
    }

    /// From now on nobody wants to hear of it.
    pub fn suppress(&mut self, signature: &Signature) {
        self.suppressed.insert(signature.hash());
    }

    /// What findings of earlier campaigns show whose bugs nobody wants to hear of.
    pub fn unwanted_faces(&self) -> &[Face] {
        &self.unwanted_faces
    }

    /// Somebody has named others: these are all that nobody wants to hear of.
    pub fn replace_unwanted(&mut self, unwanted: Unwanted) {
        if self.unwanted != unwanted {
            self.unwanted_faces = faces(&unwanted);
            self.unwanted = unwanted;
            self.suppressed.clear();
        }
    }
}

fn culprit(face: &str) -> Option<Culprit> {
    culprit_of(&Face::from_text(face)?)
}

fn culprit_of(face: &Face) -> Option<Culprit> {
    Some((face.culprit()?.to_owned(), face.solver.clone()))
}

/// Those that can be read.
fn faces(unwanted: &Unwanted) -> Vec<Face> {
    unwanted.faces.iter().filter_map(|face| Face::from_text(face)).collect()
}
