//! What a script tells its solver beside the formulas: the options it sets and the tactics it names.

use oracle::Kind;
use reduce::blame::{Blame, Blamed, OPTION, PLAIN, TACTIC, tactics};
use solver::answer::reader::{self, Kind as PieceKind};

/// The options that a script sets, `smt.arith.solver=2`, and the tactics it names, `tactic qfbv`. The plain tactic is none:
/// it only leaves preprocessing out. Neither is an option without which the kind of bug could not be seen at all.
pub fn steering(script: &str, kind: Kind) -> Vec<String> {
    let bytes = script.as_bytes();
    let mut found: Vec<String> = Vec::new();
    for piece in reader::pieces(bytes).filter(|piece| piece.kind == PieceKind::Group) {
        let members = reader::members(bytes, &piece.range);
        let word = |place: usize| {
            members.get(place).and_then(|member| script.get(member.range.clone())).unwrap_or_default()
        };
        match reader::head(bytes, &piece.range) {
            b"set-option" => found.push(format!("{}={}", word(1).trim_start_matches(':'), word(2))),
            b"check-sat-using" => {
                let named = tactics(word(1)).filter(|tactic| *tactic != PLAIN);
                found.extend(named.map(|tactic| format!("{TACTIC}{tactic}")));
            }
            _ => {}
        }
    }
    found.retain(|word| !lets_ask(kind, word));
    found.sort_unstable();
    found.dedup();
    found
}

/// The same without what a bug was seen to do without.
pub fn needed_steering(script: &str, kind: Kind, blame: &Blame) -> Vec<String> {
    let mut all = steering(script, kind);
    all.retain(|word| {
        let mut blamed = blame.constructs.iter();
        let its = |blamed: &&Blamed| {
            blamed.construct == *word || blamed.construct.strip_prefix(OPTION) == Some(word)
        };
        blamed.find(its).is_none_or(|blamed| blamed.untried || blamed.is_to_blame())
    });
    all
}

/// Is this the option that lets a script ask for what is wrong?
fn lets_ask(kind: Kind, option: &str) -> bool {
    match kind {
        Kind::InvalidModel | Kind::WrongValue => option == "produce-models=true",
        Kind::UnsoundCore => option == "produce-unsat-cores=true",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_steers_by_options_and_tactics() {
        let script = "(set-option :produce-models true)\n(set-option :sat.prob_search true) ; (set-option :a b)\n\
                      (check-sat-using (then simplify qfufbv_ackr smt))\n(check-sat-using smt)(get-model)";
        let of = |kind| steering(script, kind);
        assert_eq!(of(Kind::InvalidModel), ["sat.prob_search=true", "tactic qfufbv_ackr", "tactic simplify"]);
        assert_eq!(of(Kind::RefutationSoundness)[0], "produce-models=true");
        assert_eq!(steering("(check-sat)", Kind::Crash), [""; 0]);
        let blamed = |construct: &str, needed| Blamed {
            construct: construct.to_owned(),
            role: reduce::blame::Role::Setting,
            occurrences: 1,
            needed,
            stays_with: Vec::new(),
            untried: false,
            bystander: false,
            observer: false,
            share: None,
        };
        let constructs = vec![blamed("option sat.prob_search=true", 1), blamed("tactic simplify", 0)];
        let needed = needed_steering(script, Kind::InvalidModel, &Blame::from(constructs));
        assert_eq!(needed, ["sat.prob_search=true", "tactic qfufbv_ackr"]);
    }
}
