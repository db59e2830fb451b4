//! The reader: text to a well-sorted [`Script`], iteratively, in one pass.
//!
//! `let` is read as sharing: the bound terms take the place of their names, which costs nothing in a hash-consed
//! store; the printer writes `let` again where a term is shared.

mod coerce;
mod command;
mod resolve;
mod sorts;
mod term;

use rustc_hash::FxHashMap;

use crate::lexer::{Kind, Lexer, Token};
use crate::literal::Escapes;
use crate::position::ParseError;
use crate::script::Script;
use crate::sort::{Datatype, Sort, SortDecl};
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::{Fun, Term};

/// How much the reader forgives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// The standard, nothing else.
    Strict,
    /// What Z3 and cvc5 accept, with a note for each liberty taken.
    #[default]
    Tolerant,
}

/// A liberty that tolerant mode took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub offset: usize,
    pub message: String,
}

/// A script and what the reader has to say about it.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub script: Script,
    /// Liberties taken, at most a few of each kind.
    pub notes: Vec<Note>,
    /// Unknown operators, sorts and commands by name, with how often they occur.
    pub opaque: Vec<(String, usize)>,
}

/// Reads a script into the store.
pub fn parse(store: &mut Store, source: &[u8], mode: Mode) -> Result<Parsed, ParseError> {
    let mark = store.mark();
    match parse_once(store, source, mode, false) {
        // In Z3 (Set A) is (Array A Bool), and files mix the two freely.
        Err(error) if mode == Mode::Tolerant && contains(source, b"(Set ") => {
            store.reset(&mark);
            parse_once(store, source, mode, true).map_err(|_| error)
        }
        result => result,
    }
}

fn contains(source: &[u8], needle: &[u8]) -> bool {
    source.windows(needle.len()).any(|window| window == needle)
}

fn parse_once(
    store: &mut Store,
    source: &[u8],
    mode: Mode,
    sets_are_arrays: bool,
) -> Result<Parsed, ParseError> {
    let mut parser = Parser::new(store, source, mode);
    parser.sets_are_arrays = sets_are_arrays;
    let script = parser.script()?;
    let mut opaque: Vec<(String, usize)> =
        parser.opaque.iter().map(|(symbol, count)| (parser.store.name(*symbol).to_owned(), *count)).collect();
    opaque.sort();
    Ok(Parsed { script, notes: std::mem::take(&mut parser.notes), opaque })
}

/// Reads further terms and commands in the context of earlier ones: a model or a value a solver printed.
pub struct Session<'a> {
    parser: Parser<'a>,
}

impl<'a> Session<'a> {
    /// A reader of `source` that knows all functions, sorts and datatypes of `script`.
    pub fn new(store: &'a mut Store, script: &Script, source: &'a [u8]) -> Session<'a> {
        let mut parser = Parser::new(store, source, Mode::Tolerant);
        parser.adopt(script);
        Session { parser }
    }

    /// The remaining commands.
    pub fn script(&mut self) -> Result<Script, ParseError> {
        self.parser.script()
    }

    /// The next term, or `None` at the end.
    pub fn term(&mut self) -> Result<Option<Term>, ParseError> {
        if self.parser.peek()?.kind == Kind::End { Ok(None) } else { self.parser.term().map(Some) }
    }

    /// The next sort, or `None` at the end.
    pub fn sort(&mut self) -> Result<Option<Sort>, ParseError> {
        if self.parser.peek()?.kind == Kind::End { Ok(None) } else { self.parser.sort().map(Some) }
    }
}

/// What a global name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Global {
    Fun(Fun),
    Constructor(Datatype, u16),
    Selector(Datatype, u16, u16),
    /// Z3's `is-cons`.
    Tester(Datatype, u16),
}

/// What a sort name stands for.
#[derive(Clone, Debug)]
enum SortName {
    Declared(SortDecl),
    Datatype(Datatype),
    Defined { params: Box<[Symbol]>, sort: Sort },
}

/// A declaration to take back at `pop`.
enum Undo {
    Global(Symbol),
    Sort(Symbol, Option<SortName>),
}

struct Parser<'a> {
    store: &'a mut Store,
    source: &'a [u8],
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    mode: Mode,
    /// Meaning of each symbol bound by let, a quantifier or a parameter list.
    locals: Vec<Option<Term>>,
    /// Bindings to restore when a scope ends.
    shadowed: Vec<(Symbol, Option<Term>)>,
    globals: FxHashMap<Symbol, Vec<Global>>,
    sorts: FxHashMap<Symbol, SortName>,
    /// Declarations since the start, and how many there were at each push.
    trail: Vec<Undo>,
    levels: Vec<usize>,
    global_declarations: bool,
    /// Numerals are of sort Real in this logic (SMT-LIB 2.6, the logics with reals only).
    numerals_are_real: bool,
    sets_are_arrays: bool,
    /// How the text writes characters, once that was asked.
    escapes: Option<Escapes>,
    /// A constant such as `seq.empty` occurred without its sort.
    bare_constants: bool,
    notes: Vec<Note>,
    opaque: FxHashMap<Symbol, usize>,
    // Working stacks of the term reader.
    values: Vec<Term>,
    frames: Vec<term::Frame>,
    let_names: Vec<Symbol>,
    let_depth: usize,
    /// How many more nodes the search for captured constants may visit; afterwards every suspect is renamed when
    /// it is bound, which costs nothing but looks.
    capture_budget: usize,
}

/// Notes of one kind beyond this number are dropped.
const NOTES: usize = 100;

impl<'a> Parser<'a> {
    fn new(store: &'a mut Store, source: &'a [u8], mode: Mode) -> Parser<'a> {
        Parser {
            store,
            source,
            lexer: Lexer::new(source),
            peeked: None,
            mode,
            locals: Vec::new(),
            shadowed: Vec::new(),
            globals: FxHashMap::default(),
            sorts: FxHashMap::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            global_declarations: false,
            numerals_are_real: false,
            sets_are_arrays: false,
            escapes: None,
            bare_constants: false,
            notes: Vec::new(),
            opaque: FxHashMap::default(),
            values: Vec::new(),
            frames: Vec::new(),
            let_names: Vec::new(),
            let_depth: 0,
            capture_budget: 20_000_000,
        }
    }

    // Tokens.

    #[inline]
    fn next(&mut self) -> Result<Token, ParseError> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.lexer.token(),
        }
    }

    fn peek(&mut self) -> Result<Token, ParseError> {
        let token = self.next()?;
        self.peeked = Some(token);
        Ok(token)
    }

    fn bytes(&self, token: Token) -> &'a [u8] {
        &self.source[token.start..token.end]
    }

    /// The token's text; bytes that are not UTF-8 are replaced.
    fn text(&self, token: Token) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.bytes(token))
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Result<Token, ParseError> {
        let token = self.next()?;
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, what)) }
    }

    fn unexpected(&self, token: Token, expected: &str) -> ParseError {
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => {
                let text = self.text(token);
                let short: String = text.chars().take(40).collect();
                format!("'{short}'{}", if short.len() < text.len() { "..." } else { "" })
            }
        };
        ParseError::new(token.start, format!("expected {expected}, found {found}"))
    }

    /// The symbol of a symbol token, without its bars.
    fn symbol_of(&mut self, token: Token) -> Symbol {
        let bytes = self.bytes(token);
        let bytes = if bytes.first() == Some(&b'|') { &bytes[1..bytes.len() - 1] } else { bytes };
        match std::str::from_utf8(bytes) {
            Ok(name) => self.store.symbols.intern(name),
            Err(_) => {
                let name = String::from_utf8_lossy(bytes).into_owned();
                self.store.symbols.intern(&name)
            }
        }
    }

    fn expect_symbol(&mut self, what: &str) -> Result<Symbol, ParseError> {
        let token = self.expect(Kind::Symbol, what)?;
        Ok(self.symbol_of(token))
    }

    /// Skips one S-expression and gives its text.
    fn skip(&mut self) -> Result<&'a [u8], ParseError> {
        let first = self.next()?;
        let mut last = first;
        match first.kind {
            Kind::Open => {
                let mut depth = 1usize;
                while depth > 0 {
                    last = self.next()?;
                    match last.kind {
                        Kind::Open => depth += 1,
                        Kind::Close => depth -= 1,
                        Kind::End => {
                            return Err(ParseError::new(first.start, "this '(' is never closed"));
                        }
                        _ => {}
                    }
                }
            }
            Kind::Close | Kind::End => return Err(self.unexpected(first, "an S-expression")),
            _ => {}
        }
        Ok(&self.source[first.start..last.end])
    }

    /// The rest of the current command as text, up to but without its closing parenthesis.
    fn rest_text(&mut self) -> Result<Box<str>, ParseError> {
        let mut parts: Vec<String> = Vec::new();
        while self.peek()?.kind != Kind::Close {
            let text = self.skip()?;
            parts.push(flat_text(text));
        }
        Ok(parts.join(" ").into())
    }

    fn note(&mut self, offset: usize, message: impl Into<String>) {
        if self.notes.len() < NOTES {
            self.notes.push(Note { offset, message: message.into() });
        }
    }

    fn count_opaque(&mut self, name: Symbol) {
        *self.opaque.entry(name).or_default() += 1;
    }

    // Names in scope.

    #[inline]
    fn local(&self, symbol: Symbol) -> Option<Term> {
        self.locals.get(symbol.index()).copied().flatten()
    }

    fn bind_local(&mut self, symbol: Symbol, term: Term) {
        if self.locals.len() <= symbol.index() {
            self.locals.resize(symbol.index() + 1, None);
        }
        let old = self.locals[symbol.index()].replace(term);
        self.shadowed.push((symbol, old));
    }

    fn unbind_to(&mut self, mark: usize) {
        while self.shadowed.len() > mark {
            if let Some((symbol, old)) = self.shadowed.pop() {
                self.locals[symbol.index()] = old;
            }
        }
    }

    fn add_global(&mut self, symbol: Symbol, global: Global) {
        self.globals.entry(symbol).or_default().push(global);
        self.trail.push(Undo::Global(symbol));
    }

    fn add_sort(&mut self, symbol: Symbol, name: SortName) {
        let old = self.sorts.insert(symbol, name);
        self.trail.push(Undo::Sort(symbol, old));
    }

    fn push_level(&mut self) {
        self.levels.push(self.trail.len());
    }

    fn pop_level(&mut self) {
        let Some(mark) = self.levels.pop() else { return };
        if self.global_declarations {
            return;
        }
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Global(symbol)) => {
                    if let Some(list) = self.globals.get_mut(&symbol) {
                        list.pop();
                    }
                }
                Some(Undo::Sort(symbol, Some(old))) => {
                    self.sorts.insert(symbol, old);
                }
                Some(Undo::Sort(symbol, None)) => {
                    self.sorts.remove(&symbol);
                }
                None => {}
            }
        }
    }

    fn forget_declarations(&mut self) {
        self.globals.clear();
        self.sorts.clear();
        self.trail.clear();
        self.levels.clear();
    }

    /// Makes a datatype's constructors, selectors and testers known.
    fn add_datatype(&mut self, dt: Datatype) {
        let constructors: Vec<(Symbol, Vec<Symbol>)> = self
            .store
            .datatype(dt)
            .constructors
            .iter()
            .map(|constructor| (constructor.name, constructor.fields.iter().map(|(name, _)| *name).collect()))
            .collect();
        for (c, (name, fields)) in constructors.into_iter().enumerate() {
            self.add_global(name, Global::Constructor(dt, c as u16));
            for (f, field) in fields.into_iter().enumerate() {
                self.add_global(field, Global::Selector(dt, c as u16, f as u16));
            }
            let tester = format!("is-{}", self.store.name(name));
            let tester = self.store.symbol(&tester);
            self.add_global(tester, Global::Tester(dt, c as u16));
        }
    }

    /// Makes all declarations of a script known.
    fn adopt(&mut self, script: &Script) {
        use crate::script::Command;
        for command in &script.commands {
            match command {
                Command::DeclareFun(fun)
                | Command::DeclareConst(fun)
                | Command::DefineFun(fun)
                | Command::DefineFunRec(fun)
                | Command::DefineConst(fun) => {
                    self.add_global(self.store.fun(*fun).name, Global::Fun(*fun));
                }
                Command::DefineFunsRec(funs) => {
                    for fun in funs {
                        self.add_global(self.store.fun(*fun).name, Global::Fun(*fun));
                    }
                }
                Command::DeclareSort(decl) => {
                    self.add_sort(self.store.sort_decl(*decl).0, SortName::Declared(*decl));
                }
                Command::DefineSort { name, params, sort } => {
                    self.add_sort(*name, SortName::Defined { params: params.clone(), sort: *sort });
                }
                Command::DeclareDatatypes(datatypes) => {
                    for dt in datatypes {
                        self.add_sort(self.store.datatype(*dt).name, SortName::Datatype(*dt));
                        self.add_datatype(*dt);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Text of an S-expression with comments removed and white space made single, so that it stays on one line.
fn flat_text(text: &[u8]) -> String {
    let plain = String::from_utf8_lossy(text);
    if !plain.contains([';', '\n', '\r', '\t']) {
        return plain.into_owned();
    }
    let mut out = String::with_capacity(plain.len());
    let mut lexer = Lexer::new(text);
    let mut after_open = true;
    while let Ok(token) = lexer.token() {
        match token.kind {
            Kind::End => break,
            Kind::Close => out.push(')'),
            _ => {
                if !after_open {
                    out.push(' ');
                }
                out.push_str(&String::from_utf8_lossy(&text[token.start..token.end]));
            }
        }
        after_open = token.kind == Kind::Open;
    }
    out
}
