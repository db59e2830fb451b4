//! Every logic's scripts are well-sorted by the strict reader, and a stream always gives the same text.

use generate::{Config, Grammar, logic, rng};
use smtlib::{Family, Mode, Release, Store, Version, parse, print};

fn print_script(grammar: &Grammar, store: &mut Store, seed: u64, index: u64) -> String {
    let script = grammar.script(store, &mut rng::stream(seed, index));
    print::print(store, &script, Release::STANDARD)
}

fn reads_back(text: &str, mode: Mode) {
    let mut store = Store::new();
    match parse(&mut store, text.as_bytes(), mode) {
        Ok(parsed) => {
            // Kept as text.
            let opaque = parsed.opaque.iter().find(|(name, _)| *name != "declare-heap");
            assert!(opaque.is_none(), "{opaque:?} in\n{text}");
            assert!(parsed.notes.is_empty(), "{:?} in\n{text}", parsed.notes);
        }
        Err(error) => panic!("{}\n{text}", error.excerpt(text.as_bytes())),
    }
}

#[test]
fn scripts_of_every_standard_logic_are_well_sorted_standard_text() {
    let mut store = Store::new();
    let clean = store.mark();
    for name in logic::STANDARD.iter().chain(&["ALL", "QF_ALL"]) {
        let grammar = Grammar::new(name, &[], Config::default()).expect("a standard logic");
        let mut asserts = 0;
        for index in 0..40 {
            let text = print_script(&grammar, &mut store, 11, index);
            reads_back(&text, Mode::Strict);
            asserts += text.matches("(assert").count();
            store.reset(&clean);
        }
        assert!(asserts >= 40, "{name}: scripts without assertions");
    }
}

#[test]
fn releases_said_to_get_the_same_text_do() {
    let release =
        |family, parts: [u32; 3]| Release::new(family, smtlib::Version::new(parts[0], parts[1], parts[2]));
    let releases = [
        Release::STANDARD,
        release(Family::Z3, [4, 8, 7]),
        release(Family::Z3, [5, 4, 0]),
        release(Family::Cvc5, [1, 4, 2]),
        release(Family::Yices, [2, 6, 5]),
        release(Family::Bitwuzla, [0, 9, 1]),
    ];
    let mut store = Store::new();
    let clean = store.mark();
    let (mut same, mut other) = (0, 0);
    let names = logic::STANDARD.iter().chain(&["ALL", "QF_ALL", "HO_ALL", "QF_FF", "QF_NRAT"]);
    for (name, solvers) in names.flat_map(|name| [(name, &releases[..0]), (name, &releases[2..4])]) {
        let grammar = Grammar::new(name, solvers, Config::default()).expect("a logic");
        for index in 0..20 {
            let script = grammar.script(&mut store, &mut rng::stream(13, index));
            let usage = smtlib::logic::usage(&store, &script);
            let texts = releases.map(|release| print::print(&store, &script, release));
            for (one, text) in releases.iter().zip(&texts) {
                for (another, that) in releases.iter().zip(&texts) {
                    if print::same_text(&usage, *one, *another) {
                        assert_eq!(text, that, "{one:?} and {another:?}");
                        same += 1;
                    } else {
                        other += 1;
                    }
                }
            }
            store.reset(&clean);
        }
    }
    assert!(same > other, "{same} of {}", same + other);
}

#[test]
fn solver_specific_scripts_are_well_sorted_too() {
    let newest = |family| Release::new(family, smtlib::Version::LATEST);
    let cases: [&[Release]; 3] =
        [&[newest(Family::Z3)], &[newest(Family::Cvc5)], &[newest(Family::Z3), newest(Family::Cvc5)]];
    let mut store = Store::new();
    let clean = store.mark();
    for releases in cases {
        for name in [
            "ALL",
            "HO_ALL",
            "QF_FF",
            "QF_SLIA",
            "QF_NRAT",
            "QF_ALL+sequences+ints",
            "QF_ALL+relations",
            "HO_ALL+sets+bags",
            "ALL+tables+nullables",
            "QF_ALL+separation",
        ] {
            let grammar = Grammar::new(name, releases, Config::default()).expect("a logic");
            for index in 0..60 {
                let script = grammar.script(&mut store, &mut rng::stream(12, index));
                for release in releases {
                    reads_back(&print::print(&store, &script, *release), Mode::Tolerant);
                }
                store.reset(&clean);
            }
        }
    }
}

#[test]
fn every_setting_leaves_scripts_well_sorted() {
    let config = Config {
        get_model: true,
        get_value: true,
        get_unsat_core: true,
        unsat_assumptions: 0.5,
        proofs: 0.5,
        incremental: 1.0,
        assumptions: 0.5,
        quantifiers: 0.4,
        sharing: 0.5,
        ..Config::default()
    };
    let mut store = Store::new();
    for name in ["AUFLIA", "QF_UFBV", "UFDTLIRA", "QF_SLIA"] {
        let grammar = Grammar::new(name, &[], config.clone()).expect("a logic");
        for index in 0..40 {
            reads_back(&print_script(&grammar, &mut store, 13, index), Mode::Strict);
        }
        for batch in 0..40 {
            let swarm = grammar.swarm(&mut rng::stream(14, batch));
            reads_back(&print_script(&swarm, &mut store, 15, batch), Mode::Strict);
        }
    }
}

#[test]
fn the_same_stream_gives_the_same_text_in_a_fresh_and_in_a_reset_store() {
    for name in ["ALL", "AUFBVDTNIRA", "QF_SLIA"] {
        let grammar = Grammar::new(name, &[], Config::default()).expect("a logic");
        let mut fresh = Store::new();
        let first = print_script(&grammar, &mut fresh, 5, 77);
        let mut used = Store::new();
        let clean = used.mark();
        for index in 0..20 {
            print_script(&grammar, &mut used, 5, index);
            used.reset(&clean);
        }
        assert_eq!(first, print_script(&grammar, &mut used, 5, 77), "{name}");
    }
}

#[test]
fn scripts_stay_in_their_logic() {
    let mut store = Store::new();
    for name in ["QF_LIA", "QF_LRA", "QF_BV", "LIA", "QF_UFLRA", "QF_UF"] {
        let grammar = Grammar::new(name, &[], Config::default()).expect("a logic");
        for index in 0..100 {
            let script = grammar.script(&mut store, &mut rng::stream(16, index));
            let usage = smtlib::logic::usage(&store, &script);
            assert!(!usage.nonlinear, "{name} {}", print::print(&store, &script, Release::STANDARD));
            assert!(!usage.quantifiers || !name.starts_with("QF_"));
            assert!(!usage.bitvectors || name.contains("BV"));
            assert!(!usage.uninterpreted || name.contains("UF"));
            assert!(!usage.ints || name.contains("I"));
        }
    }
}

#[test]
fn a_weight_of_zero_removes_an_operator_and_a_wrong_name_is_refused() {
    let mut config = Config::default();
    config.operators.insert("bvadd".to_owned(), 0.0);
    config.operators.insert("BvMul".to_owned(), 50.0);
    let grammar = Grammar::new("QF_BV", &[], config.clone()).expect("a logic");
    let mut store = Store::new();
    let text: String = (0..200).map(|index| print_script(&grammar, &mut store, 17, index)).collect();
    assert!(!text.contains("bvadd") && text.matches("bvmul").count() > text.matches("bvor").count());
    config.operators.insert("bvad".to_owned(), 1.0);
    let error = Grammar::new("QF_BV", &[], config).expect_err("no such operator");
    assert_eq!(error.to_string(), "'bvad' is no operator of the theory table");
    assert!(Grammar::new("QF_XX", &[], Config::default()).is_err());
}

#[test]
fn a_configuration_survives_its_text_form() {
    let config = Config { depth: 9, ..Config::default() };
    let text = serde_json::to_string(&config).expect("serialisable");
    assert_eq!(serde_json::from_str::<Config>(&text).expect("its own text"), config);
    assert_eq!(serde_json::from_str::<Config>("{\"depth\": 9}").expect("partial"), config);
    assert!(serde_json::from_str::<Config>("{\"dept\": 9}").is_err());
}

#[test]
fn strings_have_only_characters_that_every_release_can_read() {
    let old = Release::new(Family::Z3, smtlib::Version::new(4, 8, 7));
    let new = Release::new(Family::Z3, smtlib::Version::new(5, 4, 0));
    let largest = |releases: &[Release]| {
        let grammar = Grammar::new("QF_SLIA", releases, Config::default()).expect("a logic");
        let mut store = Store::new();
        let scripts = (0..400).map(|index| {
            let script = grammar.script(&mut store, &mut rng::stream(17, index));
            smtlib::logic::usage(&store, &script).largest_character
        });
        scripts.max().unwrap_or_default()
    };
    assert_eq!(largest(&[old, new]), 0xFF);
    assert_eq!(largest(&[new]), smtlib::literal::LARGEST_CHARACTER);
}

#[test]
fn every_theory_of_the_table_can_be_reached_from_nothing() {
    use smtlib::theory::{Theory, table};
    let cvc5 = [Release::new(Family::Cvc5, smtlib::Version::LATEST)];
    let mut store = Store::new();
    let clean = store.mark();
    let mut reached = std::collections::BTreeSet::new();
    let logics = [
        "HO_ALL+sequences",
        "HO_ALL+sets+bags+nullables",
        "QF_ALL+relations",
        "QF_ALL+tables",
        "HO_ALL+relations",
        "HO_ALL+tables",
        "QF_ALL+separation",
        "QF_ALL+transcendentals",
        "QF_ALL+fields",
        "QF_ALL+strings",
        "QF_ALL+floats+bitvectors+reals",
        "ALL+arrays+ints+functions",
    ];
    for name in logics {
        let grammar = Grammar::new(name, &cvc5, Config::default()).expect("a logic");
        for index in 0..400 {
            let script = grammar.script(&mut store, &mut rng::stream(16, index));
            reached.extend(smtlib::logic::usage(&store, &script).operators);
            store.reset(&clean);
        }
    }
    let theories: std::collections::BTreeSet<String> =
        reached.iter().map(|op| format!("{:?}", op.row().theory)).collect();
    let all = table().rows().iter().filter(|row| row.accepted_by(cvc5[0])).map(|row| row.theory);
    for theory in all {
        assert!(theories.contains(&format!("{theory:?}")), "{theory:?} of {theories:?}");
    }
    // Those over components of tuples, which no pattern gives.
    let relational =
        table().rows().iter().filter(|row| row.theory == Theory::Tuples && row.accepted_by(cvc5[0]));
    let missed: Vec<&str> =
        relational.filter(|row| !reached.contains(&row.op)).map(|row| row.variant).collect();
    let left_out = [
        "TupleUnit",
        "TupleProjectNone",
        "RelTableJoinNone",
        "RelGroupNone",
        "RelAggregateNone",
        "RelProjectNone",
        "TableJoinNone",
        "TableProjectNone",
        "TableGroupNone",
        "TableAggregateNone",
    ];
    assert_eq!(missed, left_out);
}

#[test]
fn some_scripts_of_a_swarm_ask_for_values_cores_assumptions_and_proofs() {
    let releases = [Release::new(Family::Z3, Version::LATEST), Release::new(Family::Cvc5, Version::LATEST)];
    let texts = |releases: &[Release], asking: bool| {
        let grammar = Grammar::new("QF_LIA", releases, Config::default()).expect("a logic");
        let grammar = if asking { grammar.asking() } else { grammar };
        let mut store = Store::new();
        let script = |index: u64| {
            let swarm = grammar.swarm(&mut rng::stream(31, index / 4));
            print_script(&swarm, &mut store, 32, index)
        };
        (0..800).map(script).collect::<Vec<String>>()
    };
    let questions = ["(get-value (", "(get-unsat-core)", "(get-unsat-assumptions)", "(get-proof)"];
    let count =
        |texts: &[String], question: &str| texts.iter().filter(|text| text.contains(question)).count();
    let (asking, silent) = (texts(&releases, true), texts(&releases, false));
    for question in questions {
        let found = count(&asking, question);
        assert!(found > 2 && found < 200, "{question}: {found}");
        assert_eq!(count(&silent, question), 0, "{question}");
    }
    for text in &asking {
        reads_back(text, Mode::Strict);
        for (question, option) in
            questions.into_iter().zip(["models", "unsat-cores", "unsat-assumptions", "proofs"])
        {
            assert_eq!(text.contains(question), text.contains(&format!(":produce-{option} true")), "{text}");
        }
    }
    let bitwuzla = [Release::new(Family::Bitwuzla, Version::LATEST)];
    assert_eq!(count(&texts(&bitwuzla, true), "(get-proof)"), 0, "it has none");
}

#[test]
fn a_theory_that_the_standard_lacks_is_taken_from_a_solver_that_has_it() {
    let chosen = |logic: &str| Grammar::release_for(logic).expect("a logic").map(|release| release.family);
    for (logic, operator) in [
        ("ALL+sets+ints", "(set."),
        ("ALL+sequences", "(seq."),
        ("ALL+bags", "(bag."),
        ("ALL+relations", "(rel."),
        ("QF_FF", "(ff."),
        ("HO_ALL", "(lambda "),
    ] {
        let release = Grammar::release_for(logic).expect("a logic").expect(logic);
        let grammar = Grammar::new(logic, &[release], Config::default()).expect("a logic");
        let mut store = Store::new();
        let makes = |index: u64| {
            let script = grammar.script(&mut store, &mut rng::stream(33, index));
            print::print(&store, &script, release).contains(operator)
        };
        assert!((0..100).any(makes), "{logic}: no {operator}");
    }
    for standard in ["QF_LIA", "ALL", "QF_S", "UFDTLIRA"] {
        assert_eq!(chosen(standard), None, "{standard}");
    }
}
