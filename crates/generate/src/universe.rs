//! The sorts, functions and datatypes that one script declares and chooses from.

use dashu_int::UBig;
use smtlib::{Command, ConstructorDecl, Family, Op, Sort, SortKind, Store, Symbol};

use crate::grammar::Grammar;
use crate::rng::Rng;

const WIDTHS: &[u32] = &[1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 48, 64, 65, 128];
const FORMATS: &[(u32, u32)] = &[(5, 11), (8, 24), (11, 53), (3, 5), (2, 3), (4, 4), (8, 8)];
const COMMON_FORMATS: &[(u32, u32)] = &[(8, 24), (11, 53)];
const PRIMES: &[u64] = &[2, 3, 5, 7, 11, 13, 17, 101, 257, 65537, 2_147_483_647];

/// Declarations in order, and the sorts that variables may have.
pub(crate) struct Universe {
    pub commands: Vec<Command>,
    pub sorts: Vec<Sort>,
    /// Locations and data of separation logic.
    pub heap: Option<(Sort, Sort)>,
}

/// Probabilities of sequences, sets and their like, and of tuples, among all sorts of a script.
const EXTENSION: f64 = 0.25;
const TUPLE: f64 = 0.15;
/// The same where they are asked for.
const FOCUS: f64 = 0.9;

pub(crate) fn universe(grammar: &Grammar, store: &mut Store, rng: &mut Rng) -> Universe {
    let mut chooser = Chooser { grammar, store, rng, commands: Vec::new(), sorts: Vec::new() };
    chooser.basic();
    chooser.declared();
    chooser.datatypes();
    chooser.compound();
    let heap = chooser.heap();
    Universe { commands: chooser.commands, sorts: chooser.sorts, heap }
}

struct Chooser<'a> {
    grammar: &'a Grammar,
    store: &'a mut Store,
    rng: &'a mut Rng,
    commands: Vec<Command>,
    sorts: Vec<Sort>,
}

impl Chooser<'_> {
    fn add(&mut self, sort: Sort) {
        if !self.sorts.contains(&sort) {
            self.sorts.push(sort);
        }
    }

    /// Sorts without parameters and families of widths.
    fn basic(&mut self) {
        let logic = &self.grammar.logic;
        let mut kinds: Vec<fn(&mut Chooser<'_>)> = Vec::new();
        if logic.ints {
            kinds.push(|c| c.add(Sort::INT));
        }
        if logic.reals {
            kinds.push(|c| c.add(Sort::REAL));
        }
        if logic.strings {
            kinds.push(|c| c.add(Sort::STRING));
        }
        if logic.bitvectors {
            kinds.push(|c| c.bitvectors());
        }
        if logic.floats {
            kinds.push(|c| c.floats());
        }
        if logic.finite_fields && self.grammar.allows(Op::FfAdd) {
            kinds.push(|c| c.field());
        }
        // A logic of few sorts uses them all; ALL picks some.
        self.rng.shuffle(&mut kinds);
        let most = if logic.focused { kinds.len() } else { self.grammar.config.sorts.max(1) };
        for kind in kinds.into_iter().take(most) {
            kind(self);
        }
    }

    fn bitvectors(&mut self) {
        for _ in 0..self.rng.between(1, 3) {
            let width = *self.rng.pick(WIDTHS).unwrap_or(&8);
            let sort = self.store.bitvec(width.min(self.grammar.config.max_width));
            self.add(sort);
        }
    }

    fn floats(&mut self) {
        // cvc5 calls all other formats experimental and wants an option for them.
        let common = self.grammar.releases.iter().any(|release| release.family == Family::Cvc5);
        let formats = if common { COMMON_FORMATS } else { FORMATS };
        for _ in 0..self.rng.between(1, 2) {
            let (e, s) = *self.rng.pick(formats).unwrap_or(&(8, 24));
            let sort = self.store.float(e, s);
            self.add(sort);
        }
        if self.rng.chance(0.5) {
            self.add(Sort::ROUNDING_MODE);
        }
    }

    fn field(&mut self) {
        let order = *self.rng.pick(PRIMES).unwrap_or(&3);
        let sort = self.store.sort(SortKind::FiniteField(Box::new(UBig::from(order))));
        self.add(sort);
    }

    fn declared(&mut self) {
        let wanted = self.sorts.is_empty() || self.rng.chance(self.grammar.config.uninterpreted / 2.0);
        if !self.grammar.logic.sorts || !wanted {
            return;
        }
        for i in 0..self.rng.between(1, 2) {
            let name = self.store.symbol(&format!("U{i}"));
            let decl = self.store.declare_sort(name, 0);
            self.commands.push(Command::DeclareSort(decl));
            let sort = self.store.sort(SortKind::Declared(decl, Box::new([])));
            self.add(sort);
        }
    }

    fn datatypes(&mut self) {
        let wanted = self.sorts.is_empty() || self.rng.chance(self.grammar.config.datatypes);
        if !self.grammar.logic.datatypes || !wanted {
            return;
        }
        for group in 0..self.rng.between(1, 2) {
            self.datatype_group(group);
        }
    }

    /// One or two datatypes that may refer to each other. The first constructor of each has only fields of
    /// earlier sorts, so every datatype has values.
    fn datatype_group(&mut self, group: usize) {
        let count = if self.rng.chance(0.25) { 2 } else { 1 };
        let element = self.rng.pick(&self.sorts).copied();
        let parameter = match element {
            Some(_) if count == 1 && self.rng.chance(0.3) => Some(self.store.symbol("T")),
            _ => None,
        };
        let params: Vec<Symbol> = parameter.into_iter().collect();
        let mut own = Vec::new();
        for i in 0..count {
            let name = self.store.symbol(&format!("D{group}{}", ["", "b"][i]));
            let datatype = self.store.declare_datatype(name, &params);
            let args: Vec<Sort> =
                params.iter().map(|param| self.store.sort(SortKind::Param(*param))).collect();
            own.push((datatype, self.store.sort(SortKind::Datatype(datatype, args.into()))));
        }
        let mut earlier = self.sorts.clone();
        earlier.push(Sort::BOOL);
        if let Some(parameter) = parameter {
            let sort = self.store.sort(SortKind::Param(parameter));
            earlier.extend([sort, sort, sort]);
        }
        let with_own: Vec<Sort> = earlier.iter().copied().chain(own.iter().map(|(_, sort)| *sort)).collect();
        for (i, (datatype, _)) in own.iter().enumerate() {
            for c in 0..self.rng.between(1, 3) {
                let stem = format!("{group}{}_{c}", ["", "b"][i]);
                let choices = if c == 0 { &earlier } else { &with_own };
                let mut fields = Vec::new();
                for f in 0..self.rng.below(3) {
                    let Some(sort) = self.rng.pick(choices) else { continue };
                    fields.push((self.store.symbol(&format!("s{stem}_{f}")), *sort));
                }
                let name = self.store.symbol(&format!("c{stem}"));
                self.store.add_constructor(*datatype, ConstructorDecl { name, fields });
            }
        }
        self.commands.push(Command::DeclareDatatypes(own.iter().map(|(datatype, _)| *datatype).collect()));
        for (datatype, sort) in own {
            let instance = match (parameter, element) {
                (Some(_), Some(element)) => {
                    self.store.sort(SortKind::Datatype(datatype, Box::new([element])))
                }
                _ => sort,
            };
            self.add(instance);
        }
    }

    /// Sorts over other sorts: arrays, sequences, sets, bags, nullables, tuples.
    fn compound(&mut self) {
        let config = &self.grammar.config;
        let logic = &self.grammar.logic;
        if logic.arrays {
            // QF_AX and its like have nothing but arrays to talk about.
            let only = self.grammar.logic.name.ends_with("AX");
            let least = if logic.wide && !logic.focused { 0.0 } else { 0.8 };
            if only || self.rng.chance(config.arrays.max(least)) {
                for _ in 0..self.rng.between(1, 2) {
                    self.array();
                }
            }
        }
        type Wrap = fn(Sort) -> SortKind;
        let wraps: [(Op, Wrap); 4] = [
            (Op::SeqUnit, SortKind::Seq),
            (Op::SetSingleton, SortKind::Set),
            (Op::BagMake, SortKind::Bag),
            (Op::NullableSome, SortKind::Nullable),
        ];
        for (needs, wrap) in wraps {
            if self.grammar.allows(needs) && self.rng.chance(if logic.focused { FOCUS } else { EXTENSION }) {
                let element = self.element();
                let sort = self.store.sort(wrap(element));
                self.add(sort);
            }
        }
        if self.grammar.has_tuples() && self.rng.chance(if logic.focused { FOCUS } else { TUPLE }) {
            self.tuples();
        }
    }

    /// A sort of tuples, and often sets or bags of them: relations and tables.
    fn tuples(&mut self) {
        let first = self.element();
        let fields: Vec<Sort> = match self.rng.chance(0.4) {
            // What has a closure and an identity.
            true => vec![first, first],
            false => (0..self.rng.between(1, 3)).map(|_| self.element()).collect(),
        };
        let tuple = self.store.sort(SortKind::Tuple(fields.into()));
        self.add(tuple);
        type Wrap = fn(Sort) -> SortKind;
        let wraps: [(Op, Wrap); 2] = [(Op::SetSingleton, SortKind::Set), (Op::BagMake, SortKind::Bag)];
        for (needs, wrap) in wraps {
            if self.grammar.allows(needs) && self.rng.chance(0.8) {
                let sort = self.store.sort(wrap(tuple));
                self.add(sort);
            }
        }
    }

    /// The sorts of locations and data, where there is a heap.
    fn heap(&mut self) -> Option<(Sort, Sort)> {
        let ops = [Op::SepEmp, Op::SepNil, Op::SepStar, Op::SepWand, Op::SepPto];
        if !ops.iter().any(|op| self.grammar.allows(*op)) {
            return None;
        }
        let location = self.rng.pick(&self.sorts).copied()?;
        let data = self.rng.pick(&self.sorts).copied()?;
        Some((location, data))
    }

    fn element(&mut self) -> Sort {
        let boolean = self.sorts.is_empty() || self.rng.chance(0.1);
        if boolean { Sort::BOOL } else { self.sorts[self.rng.below(self.sorts.len())] }
    }

    fn array(&mut self) {
        let logic = &self.grammar.logic;
        // Z3 takes only bit-vectors inside the arrays of (QF_)(A)(UF)BV.
        let bits_only = logic.bitvectors && !logic.ints && !logic.reals && !logic.floats && !logic.datatypes;
        let flat: Vec<Sort> = self
            .sorts
            .iter()
            .copied()
            .filter(|sort| match self.store.sort_kind(*sort) {
                SortKind::Array(..) => false,
                SortKind::BitVec(_) => true,
                _ => !bits_only,
            })
            .collect();
        let index = self.rng.pick(&flat).copied().unwrap_or(Sort::BOOL);
        // Arrays of arrays now and then.
        let element = match !bits_only && self.rng.chance(0.1) {
            true => self.rng.pick(&self.sorts).copied(),
            false => self.rng.pick(&flat).copied(),
        };
        let sort = self.store.array(index, element.unwrap_or(Sort::BOOL));
        self.add(sort);
    }
}
