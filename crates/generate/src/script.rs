//! Whole scripts: declarations, definitions, assertions, checks and questions.

use smtlib::{
    Attribute, AttributeValue, Command, Definition, Family, Fun, Op, Release, Script, Sort, SortKind, Store,
    Term,
};

use crate::grammar::Grammar;
use crate::rng::Rng;
use crate::scope::Scope;
use crate::universe::{Universe, universe};

pub(crate) fn script(grammar: &Grammar, store: &mut Store, rng: &mut Rng) -> Script {
    let universe = universe(grammar, store, rng);
    let incremental = rng.chance(grammar.config.incremental);
    let resets = incremental && rng.chance(grammar.config.resets);
    let questions = Questions::draw(grammar, rng);
    let mut writer = Writer {
        grammar,
        store,
        rng,
        scope: Scope::new(),
        script: Script::default(),
        booleans: Vec::new(),
        named: 0,
        incremental,
        resets,
        questions,
    };
    writer.options();
    writer.declare(universe);
    writer.define();
    writer.body();
    if writer.questions.proof {
        writer.push(Command::GetProof);
    }
    writer.script
}

struct Writer<'a> {
    grammar: &'a Grammar,
    store: &'a mut Store,
    rng: &'a mut Rng,
    scope: Scope,
    script: Script,
    /// Boolean constants, to assume.
    booleans: Vec<Term>,
    named: usize,
    /// It has several checks.
    incremental: bool,
    /// Assertions are taken back by `reset-assertions` too.
    resets: bool,
    questions: Questions,
}

/// What a script asks after its checks.
struct Questions {
    values: bool,
    cores: bool,
    assumptions: bool,
    proof: bool,
}

impl Questions {
    fn draw(grammar: &Grammar, rng: &mut Rng) -> Questions {
        let config = &grammar.config;
        // What is never asked takes nothing from the stream.
        let mut drawn = |p: f64| p > 0.0 && rng.chance(p);
        let (values, cores) = (drawn(config.values), drawn(config.cores));
        let (assumptions, proof) = (drawn(config.unsat_assumptions), drawn(config.proofs));
        let proves = |release: &Release| {
            use Family::{Cvc4, Cvc5, SmtInterpol, Standard, Z3};
            matches!(release.family, Standard | Z3 | Cvc5 | Cvc4 | SmtInterpol)
        };
        Questions {
            values: config.get_value || values,
            // The names of a core and those of assumptions look the same.
            cores: config.get_unsat_core || cores && !assumptions,
            assumptions,
            proof: proof && grammar.releases.iter().all(proves),
        }
    }
}

impl Writer<'_> {
    fn push(&mut self, command: Command) {
        self.script.commands.push(command);
    }

    /// As many as the settings say, or up to that many.
    fn count(&mut self, most: usize) -> usize {
        if self.grammar.config.exact { most.max(1) } else { self.rng.between(1, most.max(1)) }
    }

    fn option(&mut self, keyword: &str) {
        let keyword = self.store.symbol(keyword);
        self.push(Command::SetOption(keyword, "true".into()));
    }

    fn options(&mut self) {
        let config = &self.grammar.config;
        if config.get_model || self.questions.values {
            self.option(":produce-models");
        }
        if self.questions.cores {
            self.option(":produce-unsat-cores");
        }
        if self.questions.assumptions {
            self.option(":produce-unsat-assumptions");
        }
        if self.questions.proof {
            self.option(":produce-proofs");
        }
        if self.resets {
            // Otherwise declarations go with the assertions.
            self.option(":global-declarations");
        }
        let logic = self.store.symbol(self.grammar.logic.declared_name());
        self.push(Command::SetLogic(logic));
    }

    fn declare(&mut self, universe: Universe) {
        self.script.commands.extend(universe.commands);
        if let Some(heap) = universe.heap {
            self.heap(heap);
        }
        let mut sorts = universe.sorts;
        self.scope.add_sort(self.store, Sort::BOOL);
        for sort in &sorts {
            self.scope.add_sort(self.store, *sort);
        }
        let config = &self.grammar.config;
        // Sorts without constants need a variable to have any term at all.
        let needy: Vec<Sort> = sorts.iter().copied().filter(|sort| self.needs_variable(*sort)).collect();
        for sort in &needy {
            self.variable(*sort);
        }
        sorts.push(Sort::BOOL);
        let count = self.count(config.variables);
        for _ in needy.len()..count.max(needy.len() + 1) {
            let sort = self.rng.pick(&sorts).copied().unwrap_or(Sort::BOOL);
            self.variable(sort);
        }
        if self.questions.assumptions && self.booleans.is_empty() {
            self.variable(Sort::BOOL);
        }
        let functions = self.grammar.logic.functions
            && (sorts.len() <= 2 || self.rng.chance(config.uninterpreted))
            && config.functions > 0;
        if functions {
            for i in 0..self.rng.between(1, config.functions) {
                self.function(i, &sorts);
            }
        }
    }

    /// `(declare-heap (Location Data))`.
    fn heap(&mut self, (location, data): (Sort, Sort)) {
        let sorts = [location, data].map(|sort| self.store.sort_text(sort));
        let name = self.store.symbol("declare-heap");
        let text = format!("(declare-heap ({} {}))", sorts[0], sorts[1]);
        self.push(Command::Opaque { name, text: text.into() });
        self.scope.set_heap(location, data);
    }

    fn needs_variable(&self, sort: Sort) -> bool {
        match self.store.sort_kind(sort) {
            SortKind::Declared(..) => true,
            SortKind::Array(..) => true,
            SortKind::Datatype(..) => false,
            SortKind::Int | SortKind::Real => self.grammar.logic.is_difference(),
            _ => false,
        }
    }

    fn variable(&mut self, sort: Sort) {
        let number = self.script.commands.len();
        let name = self.store.symbol(&format!("x{number}"));
        let fun = self.store.declare_fun(name, &[], sort);
        self.push(Command::DeclareConst(fun));
        self.scope.add_function(self.store, fun);
        if sort == Sort::BOOL {
            self.booleans.extend(self.store.call(fun, &[]));
        }
    }

    fn function(&mut self, i: usize, sorts: &[Sort]) {
        let params: Vec<Sort> =
            (0..self.rng.between(1, 3)).filter_map(|_| self.rng.pick(sorts).copied()).collect();
        let result = self.rng.pick(sorts).copied().unwrap_or(Sort::BOOL);
        let name = self.store.symbol(&format!("f{i}"));
        let fun = self.store.declare_fun(name, &params, result);
        self.push(Command::DeclareFun(fun));
        self.scope.add_function(self.store, fun);
    }

    /// Defined functions over parameters, whose bodies may use everything declared so far.
    fn define(&mut self) {
        let config = &self.grammar.config;
        for i in 0..self.rng.below(config.definitions + 1) {
            let sorts = self.scope.sorts().to_vec();
            let params: Vec<Sort> =
                (0..self.rng.between(1, 2)).filter_map(|_| self.rng.pick(&sorts).copied()).collect();
            let result = self.rng.pick(&sorts).copied().unwrap_or(Sort::BOOL);
            let vars: Vec<_> = params
                .iter()
                .enumerate()
                .map(|(p, sort)| {
                    let name = self.store.symbol(&format!("p{p}"));
                    self.store.var(name, *sort)
                })
                .collect();
            for var in &vars {
                self.scope.bind(self.store, *var);
            }
            let body = self.grammar.term(self.store, self.rng, result, &mut self.scope, config.depth.min(3));
            for _ in &vars {
                self.scope.unbind(self.store);
            }
            let Some(body) = body else { continue };
            let name = self.store.symbol(&format!("g{i}"));
            let fun = self.store.declare_fun(name, &params, result);
            self.store.define(fun, Definition { vars: vars.into(), body, recursive: false });
            self.push(Command::DefineFun(fun));
            self.scope.add_function(self.store, fun);
        }
    }

    fn body(&mut self) {
        let config = &self.grammar.config;
        let count = self.count(config.assertions);
        if !self.incremental {
            for _ in 0..count {
                self.assert();
            }
            self.check();
            return;
        }
        let mut level = 0;
        for i in 0..count {
            if level > 0 && self.rng.chance(0.3) {
                self.push(Command::Pop(1));
                level -= 1;
            }
            if self.resets && i > 0 && self.rng.chance(0.25) {
                self.push(Command::ResetAssertions);
                level = 0;
            }
            // What is declared at another level would go with it.
            if level == 0 && i > 0 && self.rng.chance(config.late) {
                let sort = self.rng.pick(self.scope.sorts()).copied().unwrap_or(Sort::BOOL);
                self.variable(sort);
            }
            if self.rng.chance(0.4) {
                self.push(Command::Push(1));
                level += 1;
            }
            self.assert();
            if i + 1 < count && self.rng.chance(0.5) {
                self.check();
            }
        }
        self.check();
        if level > 0 && self.rng.chance(0.5) {
            self.push(Command::Pop(1));
            self.assert();
            self.check();
        }
    }

    fn assert(&mut self) {
        let most = self.grammar.config.depth;
        let depth = if self.grammar.config.exact { most } else { self.rng.between(2.min(most), most) };
        let Some(term) = self.grammar.term(self.store, self.rng, Sort::BOOL, &mut self.scope, depth) else {
            return;
        };
        let term = if self.questions.cores { self.name(term) } else { term };
        self.push(Command::Assert(term));
    }

    /// `(! term :named a0)`.
    fn name(&mut self, term: Term) -> Term {
        let symbol = self.store.symbol(&format!("a{}", self.named));
        self.named += 1;
        let fun: Fun = self.store.declare_fun(symbol, &[], Sort::BOOL);
        self.store.define(fun, Definition { vars: Box::new([]), body: term, recursive: false });
        let keyword = self.store.symbol(":named");
        let attributes =
            self.store.attributes(vec![Attribute { keyword, value: AttributeValue::Named(fun) }]);
        self.store.annotate(attributes, &[term]).unwrap_or(term)
    }

    fn check(&mut self) {
        let config = &self.grammar.config;
        let asks = self.questions.assumptions;
        if !self.booleans.is_empty() && (asks || self.rng.chance(config.assumptions)) {
            let mut assumed = Vec::new();
            for term in self.booleans.clone().into_iter().take(3) {
                match self.rng.below(3) {
                    0 => assumed.push(term),
                    1 => assumed.extend(self.store.op(Op::Not, &[term])),
                    _ => {}
                }
            }
            self.push(Command::CheckSatAssuming(assumed));
            if asks {
                self.push(Command::GetUnsatAssumptions);
            }
        } else {
            self.push(Command::CheckSat);
        }
        if config.get_model {
            self.push(Command::GetModel);
        }
        if self.questions.values {
            let sorts = self.scope.sorts().to_vec();
            let terms: Vec<Term> =
                sorts.iter().filter_map(|sort| self.rng.pick(self.scope.leaves(*sort)).copied()).collect();
            if !terms.is_empty() {
                self.push(Command::GetValue(terms));
            }
        }
        if self.questions.cores {
            self.push(Command::GetUnsatCore);
        }
    }
}
