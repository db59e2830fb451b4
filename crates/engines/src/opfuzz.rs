//! Type-aware operator mutation (Winterer, Zhang, Su: On the Unusual Effectiveness of Type-Aware Operator Mutations
//! for Testing SMT Solvers, OOPSLA 2020).
//!
//! A mutation replaces one occurrence of an operator by another that takes the same arguments and gives the same
//! sort. The mutant of one step is the seed of the next.

use generate::Grammar;
use rustc_hash::FxHashMap;
use smtlib::theory::Row;
use smtlib::{Binder, Head, Op, Script, Sort, Store, Term};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::feedback::Feedback;
use crate::sites::{Sites, without_status};

/// Draws of a place before a round is given up.
const TRIES: usize = 512;

/// Which operators may replace each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Groups {
    /// All operators of the theory table whose signatures agree on the arguments.
    #[default]
    All,
    /// Groups in the manner of the paper: operators of one kind within one theory.
    Paper,
}

pub struct OpFuzz {
    pub groups: Groups,
    /// Mutants per seed; 300 is the default of the authors' tool yinyang.
    pub iterations: usize,
}

impl Default for OpFuzz {
    fn default() -> OpFuzz {
        OpFuzz { groups: Groups::All, iterations: 300 }
    }
}

impl Engine for OpFuzz {
    fn name(&self) -> &str {
        "opfuzz"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let script = without_status(bench.store, &seed.script);
        let sites = Sites::of(bench.store, &script);
        if sites.len() == 0 {
            return None;
        }
        let grammar = for_script(bench.grammar, bench.store, &script);
        Some(Box::new(Mutation {
            script,
            sites,
            grammar,
            groups: self.groups,
            length: self.iterations,
            made: 0,
            known: FxHashMap::default(),
            signature: Vec::new(),
        }))
    }
}

/// The grammar of the script's own logic where it names one we know: mutants must not leave it.
pub(crate) fn for_script(grammar: &Grammar, store: &Store, script: &Script) -> Grammar {
    script.logic(store).and_then(|logic| grammar.for_logic(logic).ok()).unwrap_or_else(|| grammar.clone())
}

struct Mutation {
    script: Script,
    sites: Sites,
    grammar: Grammar,
    groups: Groups,
    length: usize,
    made: usize,
    /// Operators by the sorts of their arguments and result.
    known: FxHashMap<Vec<Sort>, Vec<&'static Row>>,
    /// Scratch space for a key.
    signature: Vec<Sort>,
}

impl Round for Mutation {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.made == self.length {
            return None;
        }
        self.made += 1;
        let change = (0..TRIES).find_map(|_| self.mutate(bench))?;
        Some(Draft::agree(self.script.clone()).with_changes(vec![change]))
    }

    fn length(&self) -> usize {
        self.length
    }

    fn learn(&mut self, feedback: &Feedback) {
        // A mutant that solvers refuse or drown in is no ground to build on.
        if feedback.is_rejected() || feedback.is_hopeless() {
            self.sites.undo(&mut self.script);
        }
    }
}

impl Mutation {
    /// Changes one operator and says what was changed, or `None` if the place drawn has none to change.
    fn mutate(&mut self, bench: &mut Bench<'_>) -> Option<String> {
        let place = bench.rng.below(self.sites.len());
        let term = self.sites.term(place);
        if bench.store.is_opaque(term) {
            return None;
        }
        let (new, from, to) = match bench.store.head(term) {
            Head::Op(op, _) => {
                let (new, to) = self.other_operator(bench, term, op)?;
                (new, op.name(), to.name())
            }
            Head::Tester(..) if self.groups == Groups::All => (other_part(bench, term)?, "tester", "tester"),
            Head::Selector(..) if self.groups == Groups::All => {
                (other_part(bench, term)?, "selector", "selector")
            }
            Head::Bind(binder @ (Binder::Forall | Binder::Exists), vars) => {
                let other = if binder == Binder::Forall { Binder::Exists } else { Binder::Forall };
                let body = bench.store.args(term).to_vec();
                (bench.store.bind(other, vars, &body).ok()?, binder.name(), other.name())
            }
            _ => return None,
        };
        self.sites.replace(bench.store, &mut self.script, place, new)?;
        Some(format!("{from} -> {to}"))
    }

    fn other_operator(&mut self, bench: &mut Bench<'_>, term: Term, op: Op) -> Option<(Term, Op)> {
        let store = &mut *bench.store;
        let result = store.sort_of(term);
        self.signature.clear();
        self.signature.push(result);
        self.signature.extend(store.args(term).iter().map(|arg| store.sort_of(*arg)));
        if !self.known.contains_key(&self.signature) {
            let rows = self.grammar.operators_over(store, bench.rng, &self.signature[1..], result);
            self.known.insert(self.signature.clone(), rows);
        }
        let rows = &self.known[&self.signature];
        if rows.len() < 2 {
            return None;
        }
        let row = *bench.rng.pick(rows)?;
        if row.op == op || (self.groups == Groups::Paper && !in_one_group(op, row.op)) {
            return None;
        }
        let args = store.args(term).to_vec();
        let new = self.grammar.apply(store, bench.rng, row, &args, result)?;
        Some((new, row.op))
    }
}

/// Another tester, or another selector of the same sort, of the same datatype.
fn other_part(bench: &mut Bench<'_>, term: Term) -> Option<Term> {
    let store = &mut *bench.store;
    let (head, sort, args) = (store.head(term), store.sort_of(term), store.args(term).to_vec());
    let instance = store.sort_of(*args.first()?);
    let (Head::Tester(datatype, _) | Head::Selector(datatype, ..)) = head else { return None };
    let mut others = Vec::new();
    for constructor in 0..store.datatype(datatype).constructors.len() as u16 {
        if let Head::Tester(..) = head {
            others.push(Head::Tester(datatype, constructor));
            continue;
        }
        let fields = store.field_sorts(datatype, constructor, instance).into_iter().enumerate();
        let fitting = fields.filter(|(_, field)| *field == sort);
        others.extend(fitting.map(|(field, _)| Head::Selector(datatype, constructor, field as u16)));
    }
    others.retain(|other| *other != head);
    let other = *bench.rng.pick(&others)?;
    store.datatype_node(other, &args, None).ok()
}

/// Groups of interchangeable operators in the manner of the paper.
const PAPER: &[&[Op]] = &[
    &[Op::Equal, Op::Distinct],
    &[Op::And, Op::Or, Op::Implies, Op::Xor],
    &[Op::IntLe, Op::IntLt, Op::IntGe, Op::IntGt],
    &[Op::RealLe, Op::RealLt, Op::RealGe, Op::RealGt],
    &[Op::IntAdd, Op::IntSub, Op::IntMul, Op::IntDiv, Op::IntMod],
    &[Op::RealAdd, Op::RealSub, Op::RealMul, Op::RealDiv],
    &[Op::IntNeg, Op::IntAbs],
    &[Op::BvNot, Op::BvNeg],
    &[
        Op::BvAnd,
        Op::BvOr,
        Op::BvXor,
        Op::BvNand,
        Op::BvNor,
        Op::BvXnor,
        Op::BvAdd,
        Op::BvSub,
        Op::BvMul,
        Op::BvUdiv,
        Op::BvUrem,
        Op::BvSdiv,
        Op::BvSrem,
        Op::BvSmod,
        Op::BvShl,
        Op::BvLshr,
        Op::BvAshr,
    ],
    &[Op::BvUle, Op::BvUlt, Op::BvUge, Op::BvUgt, Op::BvSle, Op::BvSlt, Op::BvSge, Op::BvSgt],
    &[Op::FpAdd, Op::FpSub, Op::FpMul, Op::FpDiv],
    &[Op::FpRem, Op::FpMin, Op::FpMax],
    &[Op::FpAbs, Op::FpNeg],
    &[Op::FpLe, Op::FpLt, Op::FpGe, Op::FpGt, Op::FpEq],
    &[
        Op::FpIsNormal,
        Op::FpIsSubnormal,
        Op::FpIsZero,
        Op::FpIsInfinite,
        Op::FpIsNan,
        Op::FpIsNegative,
        Op::FpIsPositive,
    ],
    &[Op::StrLt, Op::StrLe, Op::StrPrefixof, Op::StrSuffixof, Op::StrContains],
    &[Op::StrReplace, Op::StrReplaceAll],
    &[Op::ReStar, Op::RePlus, Op::ReOpt, Op::ReComp],
    &[Op::ReUnion, Op::ReInter, Op::ReConcat, Op::ReDiff],
];

fn in_one_group(a: Op, b: Op) -> bool {
    PAPER.iter().any(|group| group.contains(&a) && group.contains(&b))
}
