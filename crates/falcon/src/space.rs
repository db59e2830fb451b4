//! Vectors of option values (section 4.2 of the paper, "search space" and "mutation operator").

use generate::Rng;
use smtlib::Setting;
use solver::options::{OptionKind, SolverOption};

/// The options that a search is about.
#[derive(Clone, Debug, Default)]
pub struct Space {
    genes: Vec<Gene>,
    /// How many options a vector may change in all, and how many of each category.
    rules: FairRules,
}

/// What a vector may change at most: the rules of those who take reports.
#[derive(Clone, Debug, Default)]
pub struct FairRules {
    pub total: Option<usize>,
    pub by_category: Vec<(String, usize)>,
}

#[derive(Clone, Debug)]
struct Gene {
    name: String,
    category: String,
    kind: OptionKind,
    default: Option<String>,
    /// Legal values that are worth a try at once, without the default.
    values: Vec<String>,
    /// How often it changes, against others.
    weight: f64,
}

/// A value for each option of a space; `None` is the default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vector(Vec<Option<String>>);

/// How values mutate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mutation {
    /// The largest step of an integer.
    pub delta: u32,
    /// The index of the polynomial mutation: the larger, the smaller the steps (Deb and Agrawal use 20 to 100).
    pub index: f64,
}

impl Space {
    /// Options that have no other value than their default are left out.
    pub fn new<'o>(options: impl IntoIterator<Item = &'o SolverOption>, rules: FairRules) -> Space {
        Space::weighed(options.into_iter().map(|option| (option, 1.0)), rules)
    }

    /// The same, where some options change more often than others.
    pub fn weighed<'o>(
        options: impl IntoIterator<Item = (&'o SolverOption, f64)>,
        rules: FairRules,
    ) -> Space {
        let gene = |(option, weight): (&SolverOption, f64)| Gene {
            name: option.name.clone(),
            category: option.category.clone(),
            kind: option.kind.clone(),
            default: option.default.clone(),
            values: option.alternatives(),
            weight,
        };
        let genes: Vec<Gene> = options.into_iter().map(gene).filter(|gene| !gene.values.is_empty()).collect();
        Space { genes, rules }
    }

    /// The probability that each value changes when one does in the mean: `1 / |v|` where all weigh the same.
    fn shares(&self) -> Vec<f64> {
        let all: f64 = self.genes.iter().map(|gene| gene.weight).sum();
        self.genes.iter().map(|gene| gene.weight / all.max(f64::MIN_POSITIVE)).collect()
    }

    pub fn len(&self) -> usize {
        self.genes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.genes.is_empty()
    }

    /// A vector that changes about `changed` options; at least one.
    pub fn random(&self, changed: f64, rng: &mut Rng) -> Vector {
        let shares = self.shares();
        let one = rng.weighted(&shares);
        let mut values = Vec::with_capacity(self.len());
        for (place, (gene, share)) in self.genes.iter().zip(&shares).enumerate() {
            let changes = Some(place) == one || rng.chance((changed * share).min(1.0));
            values.push(changes.then(|| rng.pick(&gene.values).cloned()).flatten());
        }
        self.within_rules(Vector(values), rng)
    }

    /// The vector of these settings, as far as they are of this space; nothing if none is.
    pub fn vector(&self, settings: &[Setting], rng: &mut Rng) -> Option<Vector> {
        let value = |gene: &Gene| {
            let setting = settings.iter().find(|setting| setting.option == gene.name)?;
            Some(setting.value.clone())
        };
        let vector = Vector(self.genes.iter().map(value).collect());
        let any = vector.0.iter().any(Option::is_some);
        any.then(|| self.within_rules(vector, rng))
    }

    /// The settings that a vector stands for, in the order of their names.
    pub fn settings(&self, vector: &Vector) -> Vec<Setting> {
        let pairs = self.genes.iter().zip(&vector.0);
        let mut settings: Vec<Setting> =
            pairs.filter_map(|(gene, value)| Some(Setting::new(&gene.name, value.as_ref()?))).collect();
        settings.sort();
        settings
    }

    /// Two children by crossover at one random point: `{u1, u2, v3, v4}` and `{v1, v2, u3, u4}`.
    pub fn cross(&self, u: &Vector, v: &Vector, rng: &mut Rng) -> [Vector; 2] {
        // Between two values; one value is not divided.
        let point = rng.between(1, self.len().saturating_sub(1).max(1));
        let joined = |a: &Vector, b: &Vector| {
            Vector(a.0.iter().take(point).chain(b.0.iter().skip(point)).cloned().collect())
        };
        [joined(u, v), joined(v, u)]
    }

    /// Changes each value with probability `1 / |v|`, or by its weight.
    pub fn mutate(&self, vector: &Vector, mutation: &Mutation, rng: &mut Rng) -> Vector {
        let mut values = vector.0.clone();
        for ((gene, value), share) in self.genes.iter().zip(&mut values).zip(self.shares()) {
            if rng.chance(share) {
                *value = gene.mutated(value.as_deref(), mutation, rng);
            }
        }
        self.within_rules(Vector(values), rng)
    }

    /// Takes back changes at random until the rules are kept.
    fn within_rules(&self, mut vector: Vector, rng: &mut Rng) -> Vector {
        let changed = |vector: &Vector, of: &dyn Fn(&Gene) -> bool| -> Vec<usize> {
            let places = self.genes.iter().zip(&vector.0).enumerate();
            places.filter(|(_, (gene, value))| value.is_some() && of(gene)).map(|(place, _)| place).collect()
        };
        let mut keep = |vector: &mut Vector, of: &dyn Fn(&Gene) -> bool, most: usize| {
            let mut places = changed(vector, of);
            rng.shuffle(&mut places);
            for place in places.into_iter().skip(most) {
                vector.0[place] = None;
            }
        };
        for (category, most) in &self.rules.by_category {
            keep(&mut vector, &|gene: &Gene| gene.category == *category, *most);
        }
        if let Some(most) = self.rules.total {
            keep(&mut vector, &|_| true, most);
        }
        vector
    }
}

impl Vector {
    /// Is every option at its default?
    pub fn is_default(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Gene {
    /// Another value; `None` if it is the default.
    fn mutated(&self, value: Option<&str>, mutation: &Mutation, rng: &mut Rng) -> Option<String> {
        let now = value.or(self.default.as_deref()).unwrap_or_default();
        let new = match &self.kind {
            OptionKind::Bool => if now == "true" { "false" } else { "true" }.to_owned(),
            OptionKind::Integer { minimum, maximum } => {
                let step = 1 + rng.below(mutation.delta.max(1) as usize) as i64;
                let step = if rng.chance(0.5) { step } else { -step };
                let now: i64 = now.parse().unwrap_or(0);
                // Most lists of options do not say that a number has no sign.
                let (low, high) = (minimum.unwrap_or(0), maximum.unwrap_or(i64::from(u32::MAX)));
                now.saturating_add(step).clamp(low, high.max(low)).to_string()
            }
            OptionKind::Real => {
                let usual: f64 = self.default.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0.5);
                // No bounds are told: what is below 1 is taken for a share, else the scale is that of the default.
                let high = if usual.abs() <= 1.0 { 1.0 } else { 4.0 * usual.abs() };
                let now: f64 = now.parse().unwrap_or(usual);
                number(polynomial(now, 0.0, high, mutation.index, rng))
            }
            OptionKind::Choice { values } => rng.pick(values).cloned().unwrap_or_default(),
            OptionKind::Text => return None,
        };
        (Some(new.as_str()) != self.default.as_deref()).then_some(new)
    }
}

/// As solvers read it: always with a point.
fn number(value: f64) -> String {
    format!("{value:.4}")
}

/// Deb's polynomial mutation of a number between two bounds.
fn polynomial(value: f64, low: f64, high: f64, index: f64, rng: &mut Rng) -> f64 {
    let u = rng.unit();
    let exponent = 1.0 / (index + 1.0);
    let step = if u < 0.5 { (2.0 * u).powf(exponent) - 1.0 } else { 1.0 - (2.0 * (1.0 - u)).powf(exponent) };
    (value + step * (high - low)).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, kind: OptionKind, default: &str) -> SolverOption {
        SolverOption {
            name: name.to_owned(),
            kind,
            default: Some(default.to_owned()),
            category: if name.len() == 2 { "regular" } else { "common" }.to_owned(),
            description: String::new(),
            excluded: None,
            unfair: None,
        }
    }

    fn options() -> Vec<SolverOption> {
        let choice = OptionKind::Choice { values: vec!["seq".into(), "z3str3".into()] };
        vec![
            option("elim_and", OptionKind::Bool, "false"),
            option("string_solver", choice, "seq"),
            option("arith", OptionKind::Integer { minimum: Some(1), maximum: Some(6) }, "6"),
            option("restart", OptionKind::Real, "1.5"),
            option("r1", OptionKind::Bool, "true"),
            option("r2", OptionKind::Bool, "true"),
            option("file", OptionKind::Text, "x"),
        ]
    }

    const MUTATION: Mutation = Mutation { delta: 3, index: 20.0 };

    #[test]
    fn children_of_one_point_crossover_have_what_their_parents_have() {
        let space = Space::new(&options()[..4], FairRules::default());
        let vector = |values: [&str; 4]| Vector(values.iter().map(|value| Some(value.to_string())).collect());
        let (u, v) = (vector(["u1", "u2", "u3", "u4"]), vector(["v1", "v2", "v3", "v4"]));
        let mut rng = generate::rng::stream(1, 1);
        let mut points = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let [p, q] = space.cross(&u, &v, &mut rng);
            let point =
                p.0.iter().filter(|value| value.as_deref().is_some_and(|text| text.starts_with('u'))).count();
            assert!((1..4).contains(&point), "{p:?}");
            assert_eq!((&p.0[..point], &p.0[point..]), (&u.0[..point], &v.0[point..]));
            assert_eq!((&q.0[..point], &q.0[point..]), (&v.0[..point], &u.0[point..]));
            points.insert(point);
        }
        assert_eq!(points.len(), 3);
    }

    #[test]
    fn values_mutate_by_their_kinds_and_stay_legal() {
        let options = options();
        let space = Space::new(&options, FairRules::default());
        assert_eq!(space.len(), 6, "a text has no values to choose from");
        let mut rng = generate::rng::stream(1, 2);
        let mut vector = space.random(2.0, &mut rng);
        let mut changed = 0;
        for _ in 0..2000 {
            let next = space.mutate(&vector, &MUTATION, &mut rng);
            changed += next.0.iter().zip(&vector.0).filter(|(a, b)| a != b).count();
            vector = next;
            for Setting { option, value } in space.settings(&vector) {
                match option.as_str() {
                    "arith" => assert!((1..=6).contains(&value.parse::<i64>().expect("a number")), "{value}"),
                    "restart" => {
                        assert!((0.0..=6.0).contains(&value.parse::<f64>().expect("a number")), "{value}")
                    }
                    "string_solver" => assert_eq!(value, "z3str3", "the default is not set"),
                    "elim_and" => assert_eq!(value, "true"),
                    _ => assert_eq!(value, "false"),
                }
            }
        }
        assert!((1000..2200).contains(&changed), "about one value each time: {changed}");
    }

    #[test]
    fn options_of_little_weight_change_rarely() {
        let options = options();
        let weight = |option: &SolverOption| if option.name == "r1" { 1.0 } else { 0.05 };
        let space = Space::weighed(options.iter().map(|one| (one, weight(one))), FairRules::default());
        let mut rng = generate::rng::stream(1, 6);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..400 {
            for Setting { option, .. } in space.settings(&space.random(1.0, &mut rng)) {
                *counts.entry(option).or_insert(0) += 1;
            }
        }
        assert!(counts["r1"] > 300 && counts["r2"] > 4 && counts["r2"] < 80, "{counts:?}");
    }

    #[test]
    fn polynomial_mutation_makes_mostly_small_steps_on_both_sides() {
        let mut rng = generate::rng::stream(1, 3);
        let steps: Vec<f64> = (0..1000).map(|_| polynomial(0.5, 0.0, 1.0, 20.0, &mut rng) - 0.5).collect();
        assert!(steps.iter().filter(|step| step.abs() < 0.1).count() > 800);
        assert!(steps.iter().any(|step| *step > 0.02) && steps.iter().any(|step| *step < -0.02));
        let far = (0..1000).filter(|_| (polynomial(0.5, 0.0, 1.0, 1.0, &mut rng) - 0.5).abs() > 0.1).count();
        assert!(far > 300, "a small index makes large steps: {far}");
    }

    #[test]
    fn the_rules_of_the_developers_are_kept() {
        let rules = FairRules { total: Some(3), by_category: vec![("regular".to_owned(), 1)] };
        let options = options();
        let space = Space::new(&options, rules);
        let mut rng = generate::rng::stream(1, 4);
        let mut most = 0;
        let mut vector = space.random(6.0, &mut rng);
        for _ in 0..500 {
            vector = space.mutate(
                &space.cross(&vector, &space.random(6.0, &mut rng), &mut rng)[0],
                &MUTATION,
                &mut rng,
            );
            let settings = space.settings(&vector);
            most = most.max(settings.len());
            assert!(settings.iter().filter(|setting| setting.option.len() == 2).count() <= 1);
        }
        assert_eq!(most, 3);
    }

    #[test]
    fn a_vector_is_its_settings() {
        let options = options();
        let space = Space::new(&options, FairRules::default());
        let mut rng = generate::rng::stream(1, 5);
        let vector = space.random(3.0, &mut rng);
        assert_eq!(space.vector(&space.settings(&vector), &mut rng), Some(vector));
        assert_eq!(space.vector(&[Setting::new("other", "1")], &mut rng), None);
    }
}
