//! What processes have counted, added up from their logs, and what the server has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use testkit::postgres::Postgres;

/// Rounds, tests, CPU time, findings, new behaviours.
type Counts = Vec<u64>;

/// Everything of a campaign that adds up, or of which the whole is the union of the parts.
#[derive(Debug, Default, PartialEq)]
pub struct Sum {
    /// By the path of the number, as a JSON array.
    pub totals: BTreeMap<String, u64>,
    /// By kind and name.
    pub learned: BTreeMap<(String, String), Counts>,
    /// By the seed's hash; only of seeds that were used.
    pub seeds: BTreeMap<String, Counts>,
    /// Hashes of mutants that were put into use.
    pub mutants: BTreeSet<String>,
    pub features: BTreeSet<u64>,
    /// Code and site.
    pub sites: BTreeSet<(u64, u64)>,
    /// The curves, by engine.
    pub samples: BTreeMap<String, Counts>,
}

impl Sum {
    /// Adds a line of a log.
    pub fn add(&mut self, line: &Value) {
        collect(&line["totals"], &mut Vec::new(), &mut self.totals);
        for row in list(&line["learned"]) {
            let key = (word(&row[0]), word(&row[1]));
            add(self.learned.entry(key).or_default(), &fields(&row[2], &COUNTS));
        }
        for row in list(&line["seeds"]) {
            let counts = fields(&row["counts"], &COUNTS);
            if counts.iter().any(|count| *count > 0) {
                add(self.seeds.entry(word(&row["hash"])).or_default(), &counts);
            }
        }
        self.mutants.extend(list(&line["new_seeds"]).iter().map(word));
        self.features.extend(list(&line["features"]).iter().map(whole));
        for (code, sites) in line["sites"].as_object().into_iter().flatten() {
            let code: u64 = code.parse().expect("a number");
            self.sites.extend(list(sites).iter().map(|site| (code, whole(site))));
        }
        for row in list(&line["samples"]) {
            add(self.samples.entry(word(&row["engine"])).or_default(), &fields(row, &SAMPLE));
        }
    }

    /// What the server has.
    pub fn on(server: &Postgres, schema: &str) -> Sum {
        let rows = |select: &str| -> Vec<Value> {
            let sql = format!("SET search_path = {schema}; SELECT json_build_array({select}");
            let told = server.sql("postgres", &sql).expect("an answer");
            told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
        };
        let counts = "rounds, tests, cpu, findings, novel)";
        let totals = rows("path, value) FROM totals");
        let learned = rows(&format!("kind, name, {counts} FROM learned"));
        let seeds =
            rows(&format!("hash, {counts} FROM seeds WHERE rounds + tests + cpu + findings + novel > 0"));
        let samples = "engine, sum(tests), sum(runs), sum(cpu), sum(findings), sum(novel), sum(functions), sum(blocks))";
        let samples = rows(&format!("{samples} FROM samples GROUP BY engine"));
        let numbers = |row: &Value, first: usize| list(row)[first..].iter().map(whole).collect();
        Sum {
            totals: totals.iter().map(|row| (word(&row[0]), whole(&row[1]))).collect(),
            learned: learned.iter().map(|row| ((word(&row[0]), word(&row[1])), numbers(row, 2))).collect(),
            seeds: seeds.iter().map(|row| (word(&row[0]), numbers(row, 1))).collect(),
            mutants: rows("hash) FROM seeds WHERE mutant AND state <> 'kept'")
                .iter()
                .map(|row| word(&row[0]))
                .collect(),
            features: rows("feature) FROM seen").iter().map(|row| whole(&row[0])).collect(),
            sites: rows("code, site) FROM reached")
                .iter()
                .map(|row| (whole(&row[0]), whole(&row[1])))
                .collect(),
            samples: samples.iter().map(|row| (word(&row[0]), numbers(row, 1))).collect(),
        }
    }
}

const COUNTS: [&str; 5] = ["rounds", "tests", "cpu", "findings", "novel"];
const SAMPLE: [&str; 7] = ["tests", "runs", "cpu", "findings", "novel", "functions", "blocks"];

/// The numbers in it by their paths. Of the slowest runs the slowest stays.
fn collect(value: &Value, path: &mut Vec<String>, numbers: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                path.push(name.clone());
                collect(part, path, numbers);
                path.pop();
            }
        }
        Value::Number(number) => {
            let number = number.as_u64().expect("a count");
            if number > 0 {
                let sum = numbers.entry(serde_json::to_string(path).expect("JSON")).or_default();
                *sum = if path[0] == "slowest" { number.max(*sum) } else { *sum + number };
            }
        }
        _ => {}
    }
}

fn add(sum: &mut Counts, counts: &[u64]) {
    sum.resize(counts.len(), 0);
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum += count;
    }
}

fn fields(value: &Value, names: &[&str]) -> Counts {
    names.iter().map(|name| whole(&value[name])).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The server has numbers with a sign, bit for bit the same.
fn whole(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_i64().map(|number| number as u64)).expect("a whole number")
}
