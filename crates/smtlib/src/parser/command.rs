//! Commands of a script.

use super::{Global, Mode, Parser, SortName};
use crate::lexer::{Kind, Token};
use crate::position::ParseError;
use crate::script::{Command, Script};
use crate::sort::{Datatype, Sort, SortKind};
use crate::symbol::Symbol;
use crate::term::*;

impl Parser<'_> {
    /// All commands up to the end of the source.
    pub(super) fn script(&mut self) -> Result<Script, ParseError> {
        let mut script = Script::default();
        let mut stray = None;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::End => {
                    return match stray {
                        Some(error) if script.commands.is_empty() => Err(error),
                        _ => Ok(script),
                    };
                }
                Kind::Open => {
                    let command = self.command(token)?;
                    let exit = command == Command::Exit;
                    script.commands.push(command);
                    if exit {
                        // Solvers read no further either.
                        return Ok(script);
                    }
                }
                // Z3 complains about a stray word between commands and goes on; so do we, unless the file
                // holds nothing else.
                Kind::Symbol | Kind::Close | Kind::Stray if self.mode == Mode::Tolerant => {
                    let error = self.unexpected(token, "a command '(...)'");
                    self.note(token.start, format!("skipped: {error}"));
                    stray.get_or_insert(error);
                }
                _ => return Err(self.unexpected(token, "a command '(...)'")),
            }
        }
    }

    fn command(&mut self, open: Token) -> Result<Command, ParseError> {
        let head = self.expect(Kind::Symbol, "a command name")?;
        let name = self.bytes(head);
        let command = match name {
            b"assert" => Command::Assert(self.formula()?),
            b"declare-fun" => self.declare_fun()?,
            b"declare-const" => {
                let name = self.expect_symbol("a name")?;
                let sort = self.sort()?;
                Command::DeclareConst(self.new_fun(name, &[], sort))
            }
            b"define-fun" => {
                let (name, vars, result, scope) = self.fun_header()?;
                let fun = self.defined_fun(name, vars, Some(result), scope, head.start)?;
                self.add_global(name, Global::Fun(fun));
                Command::DefineFun(fun)
            }
            b"define" => {
                // cvc5: the sort is that of the body.
                let name = self.expect_symbol("a name")?;
                let scope = self.shadowed.len();
                let fun = self.defined_fun(name, Vec::new(), None, scope, head.start)?;
                self.add_global(name, Global::Fun(fun));
                Command::DefineFun(fun)
            }
            b"define-const" => {
                let name = self.expect_symbol("a name")?;
                let sort = self.sort()?;
                let scope = self.shadowed.len();
                let fun = self.defined_fun(name, Vec::new(), Some(sort), scope, head.start)?;
                self.add_global(name, Global::Fun(fun));
                Command::DefineConst(fun)
            }
            b"define-fun-rec" => self.define_fun_rec(head.start)?,
            b"define-funs-rec" => self.define_funs_rec(head.start)?,
            b"declare-sort" => self.declare_sort()?,
            b"define-sort" => self.define_sort()?,
            b"declare-sort-parameter" => {
                let name = self.expect_symbol("a sort parameter")?;
                let sort = self.store.sort(SortKind::Opaque(name));
                self.add_sort(name, SortName::Defined { params: Box::new([]), sort });
                let command = self.symbol_of(head);
                return self.finish_opaque(open, command);
            }
            b"declare-datatypes" => self.declare_datatypes(false, head.start)?,
            b"declare-codatatypes" => self.declare_datatypes(true, head.start)?,
            b"declare-datatype" => self.declare_datatype(false)?,
            b"declare-codatatype" => self.declare_datatype(true)?,
            b"check-sat" => {
                if self.peek()?.kind != Kind::Close && self.mode == Mode::Tolerant {
                    // Z3: (check-sat a b) is check-sat-assuming.
                    Command::CheckSatAssuming(self.terms_to_close()?)
                } else {
                    Command::CheckSat
                }
            }
            b"check-sat-assuming" => {
                self.expect(Kind::Open, "the list of assumptions")?;
                let terms = self.terms_to_close()?;
                self.next()?;
                Command::CheckSatAssuming(terms)
            }
            b"check-sat-using" => Command::CheckSatUsing(self.rest_text()?),
            b"push" => Command::Push(self.count()?),
            b"pop" => Command::Pop(self.count()?),
            b"get-model" => Command::GetModel,
            b"get-unsat-core" => Command::GetUnsatCore,
            b"get-unsat-assumptions" => Command::GetUnsatAssumptions,
            b"get-assertions" => Command::GetAssertions,
            b"get-assignment" => Command::GetAssignment,
            b"get-proof" => Command::GetProof,
            b"get-value" => {
                self.expect(Kind::Open, "the list of terms")?;
                let terms = self.terms_to_close()?;
                self.next()?;
                // Z3 takes model selectors after the list.
                self.rest_text()?;
                Command::GetValue(terms)
            }
            b"get-info" => Command::GetInfo(self.keyword()?),
            b"get-option" => Command::GetOption(self.keyword()?),
            b"set-info" => {
                let keyword = self.keyword()?;
                Command::SetInfo(keyword, self.rest_text()?)
            }
            b"set-option" => {
                let keyword = self.keyword()?;
                let value = self.rest_text()?;
                if self.store.name(keyword) == ":global-declarations" {
                    self.global_declarations = value.as_ref() == "true";
                }
                Command::SetOption(keyword, value)
            }
            b"set-logic" => {
                let logic = self.expect_symbol("a logic")?;
                self.numerals_are_real = crate::logic::numerals_are_real(self.store.name(logic));
                Command::SetLogic(logic)
            }
            b"echo" => Command::Echo(self.rest_text()?),
            b"exit" => Command::Exit,
            b"reset" => {
                self.forget_declarations();
                self.numerals_are_real = false;
                Command::Reset
            }
            b"reset-assertions" => Command::ResetAssertions,
            b"minimize" => {
                let term = self.term()?;
                Command::Minimize(term, self.rest_text()?)
            }
            b"maximize" => {
                let term = self.term()?;
                Command::Maximize(term, self.rest_text()?)
            }
            b"assert-soft" => {
                let term = self.formula()?;
                Command::AssertSoft(term, self.rest_text()?)
            }
            b"simplify" => {
                let term = self.term()?;
                Command::Simplify(term, self.rest_text()?)
            }
            b"eval" => {
                let term = self.term()?;
                Command::Eval(term, self.rest_text()?)
            }
            _ => {
                let name = self.symbol_of(head);
                return self.opaque_command(open, name);
            }
        };
        self.expect(Kind::Close, "')' at the end of the command")?;
        match command {
            Command::Push(levels) => (0..levels.min(100_000)).for_each(|_| self.push_level()),
            Command::Pop(levels) => {
                (0..(levels as usize).min(self.levels.len())).for_each(|_| self.pop_level());
            }
            _ => {}
        }
        Ok(command)
    }

    /// A command whose inside is not looked at, except for names it declares.
    fn opaque_command(&mut self, open: Token, name: Symbol) -> Result<Command, ParseError> {
        if self.mode == Mode::Strict {
            return Err(ParseError::new(open.start, format!("unknown command '{}'", self.store.name(name))));
        }
        self.count_opaque(name);
        self.finish_opaque(open, name)
    }

    fn finish_opaque(&mut self, open: Token, name: Symbol) -> Result<Command, ParseError> {
        while self.peek()?.kind != Kind::Close {
            self.skip()?;
        }
        let close = self.next()?;
        let text = String::from_utf8_lossy(&self.source[open.start..close.end]).into_owned();
        Ok(Command::Opaque { name, text: text.into() })
    }

    fn formula(&mut self) -> Result<Term, ParseError> {
        let start = self.peek()?.start;
        let term = self.term()?;
        self.store
            .expect_sort(term, Sort::BOOL)
            .map_err(|error| ParseError::new(start, error.to_string()))?;
        Ok(term)
    }

    fn terms_to_close(&mut self) -> Result<Vec<Term>, ParseError> {
        let mut terms = Vec::new();
        while self.peek()?.kind != Kind::Close {
            terms.push(self.term()?);
        }
        Ok(terms)
    }

    fn keyword(&mut self) -> Result<Symbol, ParseError> {
        let token = self.expect(Kind::Keyword, "a keyword such as ':status'")?;
        let text = self.text(token);
        Ok(self.store.symbol(&text))
    }

    /// The optional number of `push` and `pop`.
    fn count(&mut self) -> Result<u32, ParseError> {
        let token = self.peek()?;
        if token.kind == Kind::Close {
            return Ok(1);
        }
        let token = self.expect(Kind::Numeral, "a number of levels")?;
        let text = self.text(token);
        text.parse().map_err(|_| self.unexpected(token, "a smaller number of levels"))
    }

    fn new_fun(&mut self, name: Symbol, params: &[Sort], result: Sort) -> Fun {
        let fun = self.store.declare_fun(name, params, result);
        self.add_global(name, Global::Fun(fun));
        fun
    }

    fn declare_fun(&mut self) -> Result<Command, ParseError> {
        let name = self.expect_symbol("a function name")?;
        self.expect(Kind::Open, "the list of parameter sorts")?;
        let mut params = Vec::new();
        while self.peek()?.kind != Kind::Close {
            params.push(self.sort()?);
        }
        self.next()?;
        let result = self.sort()?;
        Ok(Command::DeclareFun(self.new_fun(name, &params, result)))
    }

    /// `name ((x S) ...) R`, with the parameters bound.
    fn fun_header(&mut self) -> Result<(Symbol, Vec<Var>, Sort, usize), ParseError> {
        let name = self.expect_symbol("a function name")?;
        self.expect(Kind::Open, "the list of parameters")?;
        let scope = self.shadowed.len();
        let vars = self.sorted_vars()?;
        let result = self.sort()?;
        Ok((name, vars, result, scope))
    }

    /// Reads the body of a definition and makes the function. Without a result sort the body's counts.
    fn defined_fun(
        &mut self,
        name: Symbol,
        vars: Vec<Var>,
        result: Option<Sort>,
        scope: usize,
        start: usize,
    ) -> Result<Fun, ParseError> {
        let body = self.term()?;
        self.unbind_to(scope);
        let result = result.unwrap_or_else(|| self.store.sort_of(body));
        let body = self.fit_body(body, result, start)?;
        let params: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
        let fun = self.store.declare_fun(name, &params, result);
        self.store.define(fun, Definition { vars: vars.into(), body, recursive: false });
        Ok(fun)
    }

    /// The body in the declared result sort; tolerant mode converts Int to Real.
    fn fit_body(&mut self, body: Term, result: Sort, start: usize) -> Result<Term, ParseError> {
        let body = if self.mode == Mode::Tolerant { self.coerce_to(body, result) } else { body };
        self.store.expect_sort(body, result).map_err(|error| ParseError::new(start, error.to_string()))?;
        Ok(body)
    }

    fn define_fun_rec(&mut self, start: usize) -> Result<Command, ParseError> {
        let (name, vars, result, scope) = self.fun_header()?;
        let params: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
        let fun = self.new_fun(name, &params, result);
        self.recursive_body(fun, vars, result, scope, start)?;
        Ok(Command::DefineFunRec(fun))
    }

    fn recursive_body(
        &mut self,
        fun: Fun,
        vars: Vec<Var>,
        result: Sort,
        scope: usize,
        start: usize,
    ) -> Result<(), ParseError> {
        let body = self.term()?;
        self.unbind_to(scope);
        let body = self.fit_body(body, result, start)?;
        self.store.define(fun, Definition { vars: vars.into(), body, recursive: true });
        Ok(())
    }

    fn define_funs_rec(&mut self, start: usize) -> Result<Command, ParseError> {
        self.expect(Kind::Open, "the list of function declarations")?;
        let mut headers = Vec::new();
        while self.peek()?.kind != Kind::Close {
            self.expect(Kind::Open, "a function declaration")?;
            let (name, vars, result, scope) = self.fun_header()?;
            self.unbind_to(scope);
            self.expect(Kind::Close, "')' after the result sort")?;
            let params: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
            headers.push((self.new_fun(name, &params, result), vars, result));
        }
        self.next()?;
        self.expect(Kind::Open, "the list of bodies")?;
        let mut funs = Vec::new();
        for (fun, vars, result) in headers {
            let scope = self.shadowed.len();
            for var in &vars {
                let (name, term) = (self.store.var_name(*var), self.store.var_term(*var));
                self.bind_local(name, term);
            }
            self.recursive_body(fun, vars, result, scope, start)?;
            funs.push(fun);
        }
        self.expect(Kind::Close, "')' after the bodies")?;
        Ok(Command::DefineFunsRec(funs))
    }

    fn declare_sort(&mut self) -> Result<Command, ParseError> {
        let name = self.expect_symbol("a sort name")?;
        let arity = if self.peek()?.kind == Kind::Close { 0 } else { self.count()? };
        let decl = self.store.declare_sort(name, arity);
        self.add_sort(name, SortName::Declared(decl));
        Ok(Command::DeclareSort(decl))
    }

    fn define_sort(&mut self) -> Result<Command, ParseError> {
        let name = self.expect_symbol("a sort name")?;
        self.expect(Kind::Open, "the list of sort parameters")?;
        let params = self.symbols_to_close()?;
        let hidden = self.enter_sort_params(&params);
        let sort = self.sort()?;
        self.leave_sort_params(hidden);
        self.add_sort(name, SortName::Defined { params: params.clone().into(), sort });
        Ok(Command::DefineSort { name, params: params.into(), sort })
    }

    fn symbols_to_close(&mut self) -> Result<Vec<Symbol>, ParseError> {
        let mut symbols = Vec::new();
        while self.peek()?.kind != Kind::Close {
            symbols.push(self.expect_symbol("a name")?);
        }
        self.next()?;
        Ok(symbols)
    }

    /// Sort parameters hide sorts of the same name until the declaration ends.
    fn enter_sort_params(&mut self, params: &[Symbol]) -> Vec<(Symbol, Option<SortName>)> {
        params
            .iter()
            .map(|param| {
                let sort = self.store.sort(SortKind::Param(*param));
                (*param, self.sorts.insert(*param, SortName::Defined { params: Box::new([]), sort }))
            })
            .collect()
    }

    fn leave_sort_params(&mut self, hidden: Vec<(Symbol, Option<SortName>)>) {
        for (param, old) in hidden {
            match old {
                Some(old) => self.sorts.insert(param, old),
                None => self.sorts.remove(&param),
            };
        }
    }

    fn declare_datatype(&mut self, co: bool) -> Result<Command, ParseError> {
        let name = self.expect_symbol("a datatype name")?;
        // The parameters come with the body, but the name must be known inside it.
        let dt = self.store.declare_datatype(name, &[]);
        self.store.datatype_mut(dt).codatatype = co;
        self.add_sort(name, SortName::Datatype(dt));
        self.datatype_body(dt)?;
        self.add_datatype(dt);
        // Z3's `:subterm name` and the like.
        self.rest_text()?;
        Ok(Command::DeclareDatatypes(vec![dt]))
    }

    fn declare_datatypes(&mut self, co: bool, start: usize) -> Result<Command, ParseError> {
        self.expect(Kind::Open, "the list of datatype names")?;
        // 2.6: ((Name arity) ...); 2.5: (T ...), sort parameters shared by all datatypes of the command.
        if self.peek()?.kind != Kind::Open {
            return self.old_datatypes(co);
        }
        let mut datatypes = Vec::new();
        while self.peek()?.kind != Kind::Close {
            self.expect(Kind::Open, "a datatype '(name arity)'")?;
            let name = self.expect_symbol("a datatype name")?;
            let arity = self.count()?;
            self.expect(Kind::Close, "')' after the arity")?;
            // Placeholder parameters, so that uses before the body have the right arity.
            let params: Vec<Symbol> =
                (0..arity.min(64)).map(|i| self.store.symbol(&format!("@P{i}"))).collect();
            let dt = self.store.declare_datatype(name, &params);
            self.store.datatype_mut(dt).codatatype = co;
            self.add_sort(name, SortName::Datatype(dt));
            datatypes.push(dt);
        }
        self.next()?;
        self.expect(Kind::Open, "the list of datatype bodies")?;
        for dt in &datatypes {
            if self.peek()?.kind == Kind::Close {
                return Err(ParseError::new(start, "fewer datatype bodies than names"));
            }
            self.datatype_body(*dt)?;
        }
        self.expect(Kind::Close, "')' after the datatype bodies")?;
        for dt in &datatypes {
            self.add_datatype(*dt);
        }
        Ok(Command::DeclareDatatypes(datatypes))
    }

    /// `(T ...) ((Name (constructor (field Sort) ...) ...) ...)` of SMT-LIB 2.5.
    fn old_datatypes(&mut self, co: bool) -> Result<Command, ParseError> {
        let params = self.symbols_to_close()?;
        // Names first: read the bodies twice.
        let list = self.expect(Kind::Open, "the list of datatypes")?;
        let mut datatypes = Vec::new();
        while self.peek()?.kind == Kind::Open {
            self.next()?;
            let name = self.expect_symbol("a datatype name")?;
            let dt = self.store.declare_datatype(name, &params);
            self.store.datatype_mut(dt).codatatype = co;
            self.add_sort(name, SortName::Datatype(dt));
            datatypes.push(dt);
            while self.peek()?.kind != Kind::Close {
                self.skip()?;
            }
            self.next()?;
        }
        self.peeked = None;
        self.lexer.seek(list.end);
        let hidden = self.enter_sort_params(&params);
        let sorts: Vec<Sort> = params.iter().map(|param| self.store.sort(SortKind::Param(*param))).collect();
        // Inside, a parametric datatype of the group is written without its parameters.
        let saved: Vec<(Symbol, Option<SortName>)> = datatypes
            .iter()
            .filter(|_| !params.is_empty())
            .map(|dt| {
                let name = self.store.datatype(*dt).name;
                let sort = self.store.sort(SortKind::Datatype(*dt, sorts.clone().into()));
                (name, self.sorts.insert(name, SortName::Defined { params: Box::new([]), sort }))
            })
            .collect();
        for dt in &datatypes {
            self.expect(Kind::Open, "a datatype")?;
            self.next()?;
            self.constructors(*dt)?;
        }
        self.leave_sort_params(saved);
        self.leave_sort_params(hidden);
        self.expect(Kind::Close, "')' after the datatypes")?;
        for dt in &datatypes {
            self.add_datatype(*dt);
        }
        Ok(Command::DeclareDatatypes(datatypes))
    }

    /// `(par (T ...) (constructors))` or `(constructors)`.
    fn datatype_body(&mut self, dt: Datatype) -> Result<(), ParseError> {
        self.expect(Kind::Open, "the constructors of the datatype")?;
        let token = self.peek()?;
        if token.kind == Kind::Symbol && self.bytes(token) == b"par" {
            self.next()?;
            self.expect(Kind::Open, "the sort parameters")?;
            let params = self.symbols_to_close()?;
            self.store.datatype_mut(dt).params = params.clone().into();
            let hidden = self.enter_sort_params(&params);
            self.expect(Kind::Open, "the constructors of the datatype")?;
            self.constructors(dt)?;
            self.leave_sort_params(hidden);
            self.expect(Kind::Close, "')' after the constructors")?;
            return Ok(());
        }
        self.constructors(dt)
    }

    /// Constructors up to the closing parenthesis.
    fn constructors(&mut self, dt: Datatype) -> Result<(), ParseError> {
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close => return Ok(()),
                // 2.5 allows a constructor without fields as a bare name.
                Kind::Symbol => {
                    let name = self.symbol_of(token);
                    self.store.add_constructor(dt, ConstructorDecl { name, fields: Vec::new() });
                }
                Kind::Open => {
                    let name = self.expect_symbol("a constructor name")?;
                    let mut fields = Vec::new();
                    loop {
                        let token = self.next()?;
                        match token.kind {
                            Kind::Close => break,
                            Kind::Open => {
                                let field = self.expect_symbol("a selector name")?;
                                let sort = self.sort()?;
                                self.expect(Kind::Close, "')' after the selector's sort")?;
                                fields.push((field, sort));
                            }
                            _ => return Err(self.unexpected(token, "a field '(selector Sort)'")),
                        }
                    }
                    self.store.add_constructor(dt, ConstructorDecl { name, fields });
                }
                _ => return Err(self.unexpected(token, "a constructor")),
            }
        }
    }
}
