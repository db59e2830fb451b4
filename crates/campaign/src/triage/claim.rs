//! Findings told apart: a signature is claimed, and the finding is a bug of its own or another face of a known one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::queue::{Triage, Waiting};
use super::reduction::ReducedFinding;
use super::share::work_left;
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::findings::{Face, Finding, Group, Membership, Rarity, Small, Stage, group_of, is_alike_any};
use crate::seeds::SeedText;
use crate::shared::{LogLine, lock};
use crate::store::{Claim, KnownFinding, Totals, Work};

/// Findings that are known at most: beyond that a campaign drowns its user and the disk.
const FINDINGS: usize = 5_000;

/// Faces of one bug that have a folder each; further ones only if they are clearer.
const FACES: usize = 4;

impl Triage<'_> {
    /// Further findings with this input are no part of this one any more. Where the same came again meanwhile.
    pub(super) fn arrived(&self, finding: &Finding) -> Vec<(u64, usize)> {
        let key = (finding.signature.to_string(), finding.stage.input().to_owned());
        lock(&self.on_their_way).remove(&key).unwrap_or_default()
    }

    /// Counts what came again while a finding was on its way.
    fn count_again(&self, pending: &Finding, arrived: &Finding) {
        for (round, step) in self.arrived(pending) {
            self.count_known(&arrived.signature, round, step, None);
        }
    }

    /// Gives a finding its place that is told apart by itself: a crash by its place, what does not repeat by all it has.
    pub(super) fn settle_as_it_is(&self, waiting: Waiting) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        reproduction.finding.stage = Stage::Unreduced;
        let work = work_left(&reproduction.finding, false);
        let place = self.claim(&mut reproduction, &folder, None, work);
        self.shared.state().findings.expect_no_more(&reproduction.finding.signature);
        self.count_again(&pending, &reproduction.finding);
        let place = place?;
        if let Some(folder) = place
            && !reproduction.finding.flaky
        {
            self.put(Waiting { reproduction, folder, settled: true });
        }
        Ok(())
    }

    /// Tells a finding apart by what it came down to, and gives it its place.
    pub(super) fn settle(
        &self,
        waiting: Waiting,
        reduced: Option<ReducedFinding>,
    ) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        let small = match reduced {
            Some(reduced) => {
                reproduction.finding = reduced.finding;
                Some(reduced.small)
            }
            None => {
                // Not told apart by what it comes down to, but by all it has: most likely it is what it resembles.
                let alike = self.shared.state().findings.resembling(&reproduction.finding.signature);
                reproduction.finding.stage = Stage::Unreduced;
                if let Some(signature) = alike {
                    reproduction.finding.signature = signature;
                }
                None
            }
        };
        self.rank(&mut reproduction.finding);
        // What could not be made small will not be by the next one either.
        let claimed = self.claim(&mut reproduction, &folder, small.as_ref(), Work::Done);
        self.count_again(&pending, &reproduction.finding);
        claimed.map(|_| ())
    }

    /// Puts what a finding needs in order, by how rare that is in this campaign's test cases.
    pub(super) fn rank(&self, finding: &mut Finding) {
        let rarity = self.shared.state().rarity();
        finding.blame.rank(|name| rarity.of(name), |name| rarity.share(name));
    }

    /// Claims the signature and tells which bug it is: the finding gets its folder, which is returned, or its input joins a
    /// known one's. `work` is what is left to do on it.
    fn claim(
        &self,
        reproduction: &mut Reproduction,
        pending: &Path,
        small: Option<&Small>,
        work: Work,
    ) -> Result<Option<PathBuf>, CampaignError> {
        if !self.is_still_ours(pending)? {
            remove(pending)?;
            return Ok(None);
        }
        let place = match self.place(&mut reproduction.finding)? {
            Decision::Ours(place) => place,
            Decision::Known => {
                let Reproduction { finding, input, .. } = reproduction;
                let origin = &finding.provenance;
                self.count_known(&finding.signature, origin.round, origin.step, Some(input));
                self.unshare(pending)?;
                remove(pending)?;
                return Ok(None);
            }
            Decision::Done => {
                self.unshare(pending)?;
                remove(pending)?;
                return Ok(None);
            }
        };
        let Reproduction { finding, input, witness, ancestors, .. } = reproduction;
        if !place.kept {
            self.know(&place.known, finding, &[]);
            self.shared.state().count(&Totals { duplicates: 1, ..Totals::default() });
            self.unshare(pending)?;
            remove(pending)?;
            self.told(finding, &place.known.folder)?;
            return Ok(None);
        }
        let (name, before) = (finding.folder_name(), pending.file_name().map(|name| name.to_string_lossy()));
        self.intend(&name, before.as_deref())?;
        let folder = match finding.write(self.shared.bugs(), input, witness.as_deref(), small) {
            Ok(folder) => folder,
            Err(error) => {
                // The disk's error is what the user has to hear of.
                let _ = lock(self.store).release(&place.known.hash);
                return Err(error);
            }
        };
        self.share(&name, work, before.as_deref())?;
        self.know(&place.known, finding, ancestors);
        if folder != pending {
            remove(pending)?;
        }
        match &finding.group {
            None => self.shared.observer.found(finding, &folder),
            Some(group) => {
                let name = &place.known.folder;
                let text = format!("{name} is another face of {}: {}", group.example, group.why);
                self.shared.observer.note(&text);
            }
        }
        self.told(finding, &place.known.folder)?;
        Ok(Some(folder))
    }

    /// Has the store show a finding as it is now that it is reduced: whether it is its bug's clearest example depends on
    /// that.
    pub(super) fn show(&self, finding: &Finding) -> Result<(), CampaignError> {
        let hash = finding.hash();
        let face = Face::of(finding, &self.shared.state().rarity()).to_text();
        lock(self.store).show(&hash, &face)?;
        let mut state = self.shared.state();
        if let Some(known) = state.findings.all().into_iter().find(|known| known.hash == hash) {
            state.findings.know(KnownFinding { face, ..known }, None);
        }
        Ok(())
    }

    /// Claims a place for a finding among the known ones: a bug of its own, or another face of one.
    fn place(&self, finding: &mut Finding) -> Result<Decision, CampaignError> {
        let (face, rarity, unwanted) = {
            let state = self.shared.state();
            let rarity = state.rarity();
            let face = Face::of(finding, &rarity);
            let unwanted = state.findings.is_suppressed(&finding.signature)
                || state.findings.count() >= FINDINGS
                || is_alike_any(&face, state.findings.unwanted_faces());
            (face, rarity, unwanted)
        };
        if unwanted {
            self.shared.state().findings.suppress(&finding.signature);
            return Ok(Decision::Known);
        }
        loop {
            let known = self.shared.state().findings.all();
            let place = Placement::among(&known, finding, &face, &rarity);
            let claim = self.patiently(|store| store.claim(&place.known, known.len() as u64))?;
            match claim {
                Claim::New => {
                    finding.group = place.membership.clone();
                    return Ok(Decision::Ours(Box::new(place)));
                }
                Claim::Known(other) if (other.round, other.step) != (place.known.round, place.known.step) => {
                    return Ok(Decision::Known);
                }
                // Claimed by this very test case: whoever did it was killed before the pending folder was gone.
                Claim::Known(other) => {
                    if self.has_folder(&other.folder)? {
                        return Ok(Decision::Done);
                    }
                    finding.group = place.membership_in(&other);
                    let membership = finding.group.clone();
                    let place = Placement { known: other, membership, kept: true };
                    return Ok(Decision::Ours(Box::new(place)));
                }
                Claim::Behind(all) => self.shared.state().findings.know_all(all),
            }
        }
    }

    /// Remembers a claimed finding. Only a new bug is to anybody's credit.
    fn know(&self, known: &KnownFinding, finding: &Finding, ancestors: &[SeedText]) {
        let mut state = self.shared.state();
        state.findings.know(known.clone(), Some(&finding.signature));
        state.need(ancestors);
        if known.leads() {
            state.credit_finding(finding);
        }
        self.shared.stop.count_findings(state.findings.take_found());
    }

    fn told(&self, finding: &Finding, folder: &str) -> Result<(), CampaignError> {
        let origin = &finding.provenance;
        self.shared.log.write(&LogLine::Finding {
            round: origin.round,
            step: origin.step,
            kind: finding.kind.word(),
            solver: &finding.solver,
            signature: &finding.signature.to_string(),
            folder,
            group: finding.group.as_ref().map(|group| group.id.as_str()),
        })?;
        self.shared.log.flush()
    }
}

/// What a claim came to.
enum Decision {
    /// It gets its place.
    Ours(Box<Placement>),
    /// Its signature is known, or nobody wants to hear of it.
    Known,
    /// This very test case has its place already: it must not be counted as a duplicate of itself.
    Done,
}

/// The place of a finding among the known ones.
struct Placement {
    known: KnownFinding,
    /// The bug that it is another face of.
    membership: Option<Membership>,
    /// It has a folder of its own.
    kept: bool,
}

impl Placement {
    /// Which bug it is another face of by an earlier claim, which counts.
    fn membership_in(&self, claimed: &KnownFinding) -> Option<Membership> {
        if claimed.leads() {
            return None;
        }
        let same = self.membership.clone().filter(|membership| membership.id == claimed.group);
        let why = "it was taken for that when it was claimed".to_owned();
        let example = claimed.folder.clone();
        Some(same.unwrap_or(Membership { id: claimed.group.clone(), example, why }))
    }

    fn among(findings: &[KnownFinding], finding: &Finding, face: &Face, rarity: &Rarity) -> Placement {
        let mut known = KnownFinding { face: face.to_text(), ..known_as(finding) };
        let Some((id, likeness)) = group_of(face, findings, rarity.clone()) else {
            return Placement { known, membership: None, kept: true };
        };
        let members: Vec<KnownFinding> = findings.iter().filter(|one| one.group == id).cloned().collect();
        let group = Group::all(&members).into_iter().next();
        let example = group.as_ref().and_then(Group::example);
        let folders: BTreeSet<&str> = members.iter().map(|member| member.folder.as_str()).collect();
        let clearer = example
            .and_then(|example| Face::from_text(&example.face))
            .is_none_or(|example| face.clarity() < example.clarity());
        let kept = clearer || folders.len() < FACES;
        let folder = example.map(|example| example.folder.clone()).unwrap_or_default();
        if !kept {
            known.folder.clone_from(&folder);
        }
        known.group.clone_from(&id);
        Placement { known, membership: Some(Membership { id, example: folder, why: likeness.why }), kept }
    }
}

/// A finding as the store knows it.
pub(super) fn known_as(finding: &Finding) -> KnownFinding {
    KnownFinding {
        hash: finding.hash(),
        signature: finding.signature.to_string(),
        kind: finding.kind.to_string(),
        solver: finding.solver.clone(),
        folder: finding.folder_name(),
        round: finding.provenance.round,
        step: finding.provenance.step as u64,
        duplicates: 0,
        flaky: finding.flaky,
        group: finding.group.as_ref().map_or_else(|| finding.hash(), |group| group.id.clone()),
        face: Face::of(finding, &Rarity::default()).to_text(),
    }
}

/// Is it told apart without being made small? A crash by its place; and what does not repeat cannot be reduced.
pub(super) fn tells_itself_apart(finding: &Finding) -> bool {
    finding.signature.names_a_place() || finding.flaky
}

fn remove(folder: &Path) -> Result<(), CampaignError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CampaignError::disk(folder, error)),
        _ => Ok(()),
    }
}
