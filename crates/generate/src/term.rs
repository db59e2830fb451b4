//! Terms from the top down: an operator by the wanted sort, then its arguments.

use smtlib::theory::{Bindings, Row, SortPattern, Theory};
use smtlib::{Binder, Head, Index, Op, Pattern, Sort, SortKind, Store, Term, Var};

use crate::constants::{self, Style};
use crate::grammar::Grammar;
use crate::logic::Arithmetic;
use crate::operands::{self, Operand};
use crate::rng::Rng;
use crate::scope::Scope;
use crate::solve::Solver;

/// Operators tried before a leaf takes the place.
const ATTEMPTS: usize = 5;
/// Operators drawn before one is taken although it is used more than others.
const DRAWS: usize = 6;
/// Share of `true` and `false` among Boolean leaves, for each constant among leaves of other sorts.
const LITERALS: f64 = 0.1;
/// Share of Boolean constants among Boolean leaves, where there are some; the others are atoms.
const SYMBOLS: f64 = 0.6;
/// Probability that an operator over variables takes the place of a leaf whose sort has no variables.
const BRIDGE: f64 = 0.6;
/// Attempts at such a term.
const BRIDGES: usize = 16;
/// How far such terms stand in each other.
const NESTED: u32 = 2;
/// Shares of the ways to make a compound term, beside 1 for the operators of the table.
const FUNCTION: f64 = 0.4;
const CONSTRUCTOR: f64 = 0.8;
const SELECTOR: f64 = 0.25;
const TESTER: f64 = 0.2;
const MATCH: f64 = 0.04;
/// Operators over the components of tuples, and their like.
const SPECIAL: f64 = 0.5;
/// The operators of the table where only `ite` and its like are left.
const FEW_OPERATORS: f64 = 0.3;

pub(crate) struct Maker<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) store: &'a mut Store,
    pub(crate) rng: &'a mut Rng,
    pub(crate) scope: &'a mut Scope,
    /// Operator nodes that may still be made.
    budget: usize,
    /// How many terms in the place of leaves are around.
    nested: u32,
}

impl<'a> Maker<'a> {
    pub fn new(
        grammar: &'a Grammar,
        store: &'a mut Store,
        rng: &'a mut Rng,
        scope: &'a mut Scope,
    ) -> Maker<'a> {
        let budget = grammar.config.nodes;
        Maker { grammar, store, rng, scope, budget, nested: 0 }
    }

    pub fn term(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let config = &self.grammar.config;
        let whole = self.budget == config.nodes;
        if depth == 0 || self.budget == 0 || !whole && self.rng.chance(self.leaves(sort)) {
            return self.leaf(sort).or_else(|| if depth > 0 { self.compound(sort, depth) } else { None });
        }
        // A whole assertion is never an earlier term.
        if config.sharing > 0.0
            && !whole
            && self.rng.chance(config.sharing)
            && let Some(earlier) = self.rng.pick(self.scope.shared(sort))
        {
            return Some(*earlier);
        }
        self.budget -= 1;
        if let SortKind::Fun(params, result) = self.store.sort_kind(sort) {
            let (params, result) = (params.clone(), *result);
            return self.function(&params, result, depth);
        }
        if sort == Sort::BOOL && self.grammar.logic.quantifiers && self.rng.chance(config.quantifiers) {
            return self.quantifier(depth);
        }
        for _ in 0..ATTEMPTS {
            if let Some(term) = self.compound(sort, depth) {
                if config.sharing > 0.0 && !self.store.mentions_vars(term) {
                    self.scope.share(self.rng, term, sort);
                }
                return Some(term);
            }
        }
        self.leaf(sort)
    }

    /// The probability of a leaf where an operator could stand.
    fn leaves(&self, sort: Sort) -> f64 {
        let leaves = self.grammar.config.leaves;
        match sort {
            // Leaves are single words here; what matters is how they are put together.
            Sort::REGLAN => leaves / 4.0,
            // There is nothing but `ite`.
            _ if self.has_ite_alone(sort) => leaves.max(0.8),
            _ => leaves,
        }
    }

    fn has_ite_alone(&self, sort: Sort) -> bool {
        let rows = &self.grammar.productions(self.store.sort_kind(sort)).rows;
        rows.iter().all(|row| row.op == Op::Ite)
    }

    fn leaf(&mut self, sort: Sort) -> Option<Term> {
        let variables = !self.scope.leaves(sort).is_empty();
        // Constants beside variables would leave the difference fragment.
        let constants = if self.is_difference(sort) { 0.0 } else { self.grammar.config.constants };
        if sort == Sort::BOOL {
            if self.rng.chance(constants * LITERALS) {
                return self.constant(sort);
            }
            if variables && (self.nested == NESTED || self.rng.chance(SYMBOLS)) {
                return self.rng.pick(self.scope.leaves(sort)).copied();
            }
            return self.bridge(sort).or_else(|| self.constant(sort));
        }
        if variables && !self.rng.chance(constants) {
            return self.rng.pick(self.scope.leaves(sort)).copied();
        }
        if !variables
            && sort != Sort::ROUNDING_MODE
            && !self.is_difference(sort)
            && self.rng.chance(BRIDGE)
            && let Some(term) = self.bridge(sort)
        {
            return Some(term);
        }
        if self.rng.chance(0.5)
            && let Some(constant) = self.rng.pick(self.scope.constants(sort))
        {
            return Some(*constant);
        }
        self.constant(sort).or_else(|| self.bridge(sort))
    }

    /// One operator with a variable below it, in the place of a leaf: an atom where a formula is wanted.
    fn bridge(&mut self, sort: Sort) -> Option<Term> {
        if self.nested == NESTED {
            return None;
        }
        self.nested += 1;
        let budget = std::mem::take(&mut self.budget);
        let made = (0..BRIDGES).find_map(|_| {
            let term = self.compound(sort, 1)?;
            // Regular expressions hardly ever have variables.
            (sort == Sort::REGLAN || self.has_variable(term)).then_some(term)
        });
        self.budget = budget;
        self.nested -= 1;
        made
    }

    fn has_variable(&self, term: Term) -> bool {
        let mut stack = vec![term];
        while let Some(term) = stack.pop() {
            if matches!(self.store.head(term), Head::Fun(_) | Head::Var(_)) {
                return true;
            }
            stack.extend_from_slice(self.store.args(term));
        }
        false
    }

    /// A constant of the sort; a leaf where the sort has none.
    pub fn constant(&mut self, sort: Sort) -> Option<Term> {
        let style = self.style();
        constants::constant(self.store, self.rng, self.scope, sort, style)
    }

    /// A constant without free constants in it.
    fn pure_constant(&mut self, sort: Sort, style: Style<'_>) -> Option<Term> {
        constants::constant(self.store, self.rng, &Scope::new(), sort, style)
    }

    fn style(&self) -> Style<'a> {
        Style {
            arrays: self.grammar.allows(Op::ConstArray),
            // In QF_S even the minus sign is missing.
            plain: self.grammar.logic.arithmetic == Arithmetic::None,
            largest_character: self.grammar.largest_character(),
            rounding_modes: &self.grammar.rounding_modes,
        }
    }

    fn is_difference(&self, sort: Sort) -> bool {
        self.grammar.logic.is_difference() && matches!(sort, Sort::INT | Sort::REAL)
    }

    fn compound(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let constructs = match self.store.sort_kind(sort) {
            SortKind::Datatype(..) => CONSTRUCTOR,
            SortKind::Tuple(_) => CONSTRUCTOR,
            _ => 0.0,
        };
        let functions = if self.scope.functions(sort).is_empty() { 0.0 } else { FUNCTION };
        let selectors = if self.scope.selectors(sort).is_empty() { 0.0 } else { SELECTOR };
        let (testers, matches) = match (self.scope.datatypes().is_empty(), sort) {
            (true, _) => (0.0, 0.0),
            (false, Sort::BOOL) => (TESTER, MATCH),
            (false, Sort::REGLAN) => (0.0, 0.0),
            (false, _) => (0.0, MATCH),
        };
        let specials = if self.has_specials(sort) { SPECIAL } else { 0.0 };
        let others = constructs + functions + selectors + testers + matches + specials;
        if others == 0.0 {
            return self.operator(sort, depth);
        }
        let rows = &self.grammar.productions(self.store.sort_kind(sort)).rows;
        let operators = if rows.len() > 6 { 1.0 } else { FEW_OPERATORS };
        let ways = [operators, constructs, functions, selectors, testers, matches, specials];
        match self.rng.weighted(&ways)? {
            0 => self.operator(sort, depth),
            1 => self.constructor(sort, depth),
            2 => self.call(sort, depth),
            3 => {
                let (head, of) = *self.rng.pick(self.scope.selectors(sort))?;
                let arg = self.term(of, depth - 1)?;
                self.store.datatype_node(head, &[arg], None).ok()
            }
            4 => {
                let (datatype, of) = *self.rng.pick(self.scope.datatypes())?;
                let constructor = self.rng.below(self.store.datatype(datatype).constructors.len()) as u16;
                let arg = self.term(of, depth - 1)?;
                self.store.datatype_node(Head::Tester(datatype, constructor), &[arg], None).ok()
            }
            5 => self.match_cases(sort, depth),
            _ => self.special(sort, depth),
        }
    }

    /// `(op args...)` for an operator of the table. Those used most make way for the others.
    fn operator(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let productions = self.grammar.productions(self.store.sort_kind(sort));
        let mut place = self.rng.cumulative(&productions.totals)?;
        // In the place of a leaf there is no room for formulas below.
        let fits =
            |row: &Row, nested: u32| nested == 0 || !row.args.contains(&SortPattern::Fixed(Sort::BOOL));
        for _ in 1..DRAWS {
            let row = productions.rows[place];
            if fits(row, self.nested) && (self.nested > 0 || self.rng.chance(self.scope.welcome(row.op))) {
                break;
            }
            place = self.rng.cumulative(&productions.totals)?;
        }
        if !fits(productions.rows[place], self.nested) {
            return None;
        }
        let row = productions.rows[place];
        let made = self.row(row, sort, depth);
        self.scope.count(row.op, productions.weights[place], made.is_some());
        made
    }

    fn row(&mut self, row: &Row, sort: Sort, depth: usize) -> Option<Term> {
        match (row.op, self.scope.heap()) {
            (Op::SepPto, Some((location, data))) => {
                let args = [self.term(location, depth - 1)?, self.term(data, depth - 1)?];
                return self.store.op(row.op, &args).ok();
            }
            (Op::SepNil, Some((location, _))) if sort == location => {}
            (Op::SepPto | Op::SepNil | Op::SepEmp, None) | (Op::SepNil, _) => return None,
            _ => {}
        }
        let bindings = Solver {
            store: self.store,
            rng: self.rng,
            sorts: self.scope.sorts(),
            max_width: self.grammar.config.max_width,
        }
        .solve(row, sort)?;
        let args = self.arguments(row, &bindings, depth)?;
        self.build(row, &bindings, &args)
    }

    /// The operator with these indices over these arguments.
    pub fn build(&mut self, row: &Row, bindings: &Bindings, args: &[Term]) -> Option<Term> {
        // Of no interest, and simplified at once.
        if matches!(row.op, Op::Equal | Op::Distinct | Op::Ite)
            && args[args.len() - 2] == args[args.len() - 1]
        {
            return None;
        }
        if let Some(pattern) = &row.qualified {
            let qualified = pattern.instantiate(self.store, bindings)?;
            return self.store.qualified(row.op, qualified, args).ok();
        }
        if row.indices.is_empty() {
            return self.store.op(row.op, args).ok();
        }
        let indices = row
            .indices
            .iter()
            .map(|slot| bindings.numbers[usize::from(*slot)].map(Index::Number))
            .collect::<Option<Vec<_>>>()?;
        self.store.indexed(row.op, &indices, args).ok()
    }

    fn arguments(&mut self, row: &Row, bindings: &Bindings, depth: usize) -> Option<Vec<Term>> {
        let mut sorts = Vec::with_capacity(row.args.len() + 2);
        for pattern in &row.args {
            let sort = pattern.instantiate(self.store, bindings)?;
            if self.width(sort) > self.grammar.config.max_width {
                return None;
            }
            sorts.push(sort);
        }
        if self.nested > 0 && sorts.contains(&Sort::BOOL) {
            return None;
        }
        // A predicate over sorts of which the script has nothing says little.
        let own = |sort: &Sort| *sort == Sort::REGLAN || !self.scope.leaves(*sort).is_empty();
        let foreign = !sorts.is_empty() && !sorts.iter().any(own);
        if foreign && row.theory != Theory::Core && self.rng.chance(0.8) {
            return None;
        }
        if let Some(sort) = sorts.first()
            && self.is_difference(*sort)
            && row.result == SortPattern::Fixed(Sort::BOOL)
        {
            return self.difference(*sort, depth);
        }
        let most = operands::most_arguments(&self.grammar.logic, row);
        if most > 2 && sorts.len() == 2 {
            let more = self.rng.run(0.25, self.grammar.config.arity.min(most).saturating_sub(2));
            sorts.extend(std::iter::repeat_n(sorts[1], more));
        }
        let mut args = Vec::with_capacity(sorts.len());
        for (i, sort) in sorts.iter().enumerate() {
            args.push(self.argument(row.op, i, *sort, depth - 1)?);
        }
        Some(args)
    }

    /// A new argument for the `i`-th place under an operator.
    pub fn argument(&mut self, op: Op, i: usize, sort: Sort, depth: usize) -> Option<Term> {
        match operands::operand(&self.grammar.logic, op, i) {
            Operand::Any => self.term(sort, depth),
            Operand::Constant => self.pure_constant(sort, self.style()),
            Operand::Value => self.pure_constant(sort, Style { plain: true, ..self.style() }),
            Operand::NonZero => constants::nonzero(self.store, self.rng, sort),
            Operand::Numeral(most) => {
                let value = self.rng.between(0, most as usize);
                Some(match sort {
                    Sort::REAL => self.store.real(value.into()),
                    _ => self.store.int(value),
                })
            }
            Operand::Character => Some(constants::character(self.store, self.rng, self.style())),
        }
    }

    /// Two sides of a comparison in difference logic: `x` and `y`, or `(- x y)` and a constant.
    fn difference(&mut self, sort: Sort, depth: usize) -> Option<Vec<Term>> {
        let x = self.term(sort, depth - 1)?;
        let y = self.term(sort, depth - 1)?;
        if self.rng.chance(0.4) {
            return Some(vec![x, y]);
        }
        let minus = if sort == Sort::INT { Op::IntSub } else { Op::RealSub };
        let difference = self.store.op(minus, &[x, y]).ok()?;
        let bound = self.pure_constant(sort, self.style())?;
        Some(vec![difference, bound])
    }

    fn width(&self, sort: Sort) -> u32 {
        match self.store.sort_kind(sort) {
            SortKind::BitVec(width) => *width,
            _ => 0,
        }
    }

    fn call(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let fun = *self.rng.pick(self.scope.functions(sort))?;
        let params = self.store.fun(fun).params.clone();
        let args = params.iter().map(|param| self.term(*param, depth - 1)).collect::<Option<Vec<_>>>()?;
        self.store.call(fun, &args).ok()
    }

    fn constructor(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        match self.store.sort_kind(sort).clone() {
            SortKind::Datatype(datatype, _) => {
                let constructor = self.rng.below(self.store.datatype(datatype).constructors.len()) as u16;
                let fields = self.store.field_sorts(datatype, constructor, sort);
                let args =
                    fields.iter().map(|field| self.term(*field, depth - 1)).collect::<Option<Vec<_>>>()?;
                self.store.datatype_node(Head::Constructor(datatype, constructor), &args, Some(sort)).ok()
            }
            SortKind::Tuple(fields) => {
                let args =
                    fields.iter().map(|field| self.term(*field, depth - 1)).collect::<Option<Vec<_>>>()?;
                self.store.op(Op::TupleMake, &args).ok()
            }
            _ => None,
        }
    }

    fn quantifier(&mut self, depth: usize) -> Option<Term> {
        let binder = if self.rng.chance(0.5) { Binder::Forall } else { Binder::Exists };
        let sorts: Vec<Sort> = (0..self.rng.between(1, 2))
            .map(|_| self.rng.pick(self.scope.sorts()).copied())
            .collect::<Option<_>>()?;
        let (vars, body) = self.under(&sorts, |maker| maker.term(Sort::BOOL, depth - 1))?;
        self.store.quantify(binder, &vars, body).ok()
    }

    /// A function value: a declared function of exactly this sort, or a lambda.
    pub(crate) fn function(&mut self, params: &[Sort], result: Sort, depth: usize) -> Option<Term> {
        let declared: Vec<_> = self
            .scope
            .functions(result)
            .iter()
            .copied()
            .filter(|fun| *self.store.fun(*fun).params == *params)
            .collect();
        if let Some(fun) = self.rng.pick(&declared)
            && self.rng.chance(0.5)
        {
            return self.store.call(*fun, &[]).ok();
        }
        let (vars, body) = self.under(params, |maker| maker.term(result, depth - 1))?;
        self.store.quantify(Binder::Lambda, &vars, body).ok()
    }

    /// Fresh variables of these sorts, and what `inside` makes of them.
    fn under<T>(
        &mut self,
        sorts: &[Sort],
        inside: impl FnOnce(&mut Maker<'_>) -> Option<T>,
    ) -> Option<(Vec<Var>, T)> {
        let mut vars = Vec::with_capacity(sorts.len());
        for sort in sorts {
            let var = self.fresh_var(*sort);
            self.scope.bind(self.store, var);
            vars.push(var);
        }
        let made = inside(self);
        for _ in &vars {
            self.scope.unbind(self.store);
        }
        Some((vars, made?))
    }

    /// A variable that no binder around binds. Names repeat in different places: that keeps stores small, and
    /// the double underscore keeps away from the names of seeds.
    fn fresh_var(&mut self, sort: Sort) -> Var {
        let mut number = self.scope.bound().len();
        loop {
            let name = self.store.symbol(&format!("v__{number}"));
            let taken = self.scope.bound().iter().any(|var| self.store.var_name(*var) == name);
            if !taken {
                return self.store.var(name, sort);
            }
            number += 1;
        }
    }

    /// `match` with a case for each constructor, or a variable for the rest.
    fn match_cases(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let (datatype, of) = *self.rng.pick(self.scope.datatypes())?;
        let mut children = vec![self.term(of, depth - 1)?];
        let mut patterns = Vec::new();
        let constructors = self.store.datatype(datatype).constructors.len() as u16;
        for constructor in 0..constructors {
            let rest = constructor > 0 && self.rng.chance(0.3);
            let sorts = if rest { vec![of] } else { self.store.field_sorts(datatype, constructor, of) };
            let (vars, body) = self.under(&sorts, |maker| maker.term(sort, depth - 1))?;
            children.push(body);
            if rest {
                patterns.push(Pattern::Var(vars[0]));
                break;
            }
            patterns.push(Pattern::Constructor(constructor, vars.into()));
        }
        let patterns = self.store.patterns(patterns);
        self.store.match_term(patterns, &children).ok()
    }
}
