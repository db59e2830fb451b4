//! Random regular expressions against languages computed as sets of words: the
//! operations are applied to all words of up to four characters over {a, b, c}.
//! Restricting words to an alphabet and a length commutes with all of them.

use std::collections::BTreeSet;

use eval::integer::Integer;
use eval::regex::{Arena, Budget, CharSet, Re, TooHard};
use eval::string::Str;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const LENGTH: usize = 4;
const LETTERS: [u32; 3] = ['a' as u32, 'b' as u32, 'c' as u32];

type Words = BTreeSet<Vec<u32>>;

fn universe() -> Words {
    let mut all = Words::from([vec![]]);
    for _ in 0..LENGTH {
        let longer: Vec<Vec<u32>> =
            all.iter().flat_map(|word| LETTERS.map(|letter| [word.as_slice(), &[letter]].concat())).collect();
        all.extend(longer);
    }
    all
}

fn concat(left: &Words, right: &Words) -> Words {
    let pairs = left.iter().flat_map(|a| right.iter().map(|b| [a.as_slice(), b].concat()));
    pairs.filter(|word| word.len() <= LENGTH).collect()
}

fn repeat(body: &Words, min: u64, max: Option<u64>) -> Words {
    let mut result = Words::new();
    let mut power = Words::from([vec![]]);
    // Beyond min + LENGTH turns no new word of this length can appear.
    for count in 0..=max.unwrap_or(min + LENGTH as u64).min(min + LENGTH as u64) {
        if count >= min {
            result.extend(power.iter().cloned());
        }
        power = concat(&power, body);
    }
    result
}

fn str_of(word: &[u32]) -> Str {
    Str::new(word).unwrap()
}

fn below(rng: &mut ChaCha8Rng, bound: u32) -> u32 {
    rng.next_u32() % bound
}

/// A random term together with its words.
fn random(rng: &mut ChaCha8Rng, arena: &mut Arena, size: u32) -> (Re, Words) {
    if size <= 1 {
        return match below(rng, 10) {
            0 => (arena.none(), Words::new()),
            1 => (arena.epsilon(), Words::from([vec![]])),
            2 => (arena.allchar(), LETTERS.iter().map(|&letter| vec![letter]).collect()),
            3 => (arena.all(), universe()),
            4 => {
                let (first, last) = (LETTERS[below(rng, 3) as usize], LETTERS[below(rng, 3) as usize]);
                let term = arena.range(&str_of(&[first]), &str_of(&[last]));
                (term, (first..=last).map(|letter| vec![letter]).collect())
            }
            _ => {
                let word: Vec<u32> = (0..below(rng, 4)).map(|_| LETTERS[below(rng, 2) as usize]).collect();
                (arena.literal(&str_of(&word)), Words::from([word]))
            }
        };
    }
    let left_size = 1 + below(rng, size - 1);
    let (a, words_a) = random(rng, arena, left_size);
    match below(rng, 10) {
        0..=3 => {
            let (b, words_b) = random(rng, arena, size - left_size);
            (arena.concat(a, b), concat(&words_a, &words_b))
        }
        4 | 5 => {
            let (b, words_b) = random(rng, arena, size - left_size);
            (arena.union(&[a, b]), &words_a | &words_b)
        }
        6 => {
            let (b, words_b) = random(rng, arena, size - left_size);
            if below(rng, 2) == 0 {
                (arena.inter(&[a, b]), &words_a & &words_b)
            } else {
                (arena.diff(a, b), &words_a - &words_b)
            }
        }
        7 => (arena.comp(a), &universe() - &words_a),
        8 => match below(rng, 3) {
            0 => (arena.star(a), repeat(&words_a, 0, None)),
            1 => (arena.plus(a), repeat(&words_a, 1, None)),
            _ => (arena.opt(a), repeat(&words_a, 0, Some(1))),
        },
        _ => {
            let (min, max) = (u64::from(below(rng, 4)), u64::from(below(rng, 4)));
            let words = if max < min { Words::new() } else { repeat(&words_a, min, Some(max)) };
            (arena.repeat(a, min, Some(max)), words)
        }
    }
}

#[test]
fn membership_agrees_with_sets_of_words() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut arena = Arena::default();
    let universe = universe();
    for _ in 0..1500 {
        let mark = arena.mark();
        let size = 1 + below(&mut rng, 12);
        let (re, words) = random(&mut rng, &mut arena, size);
        for word in &universe {
            let expected = words.contains(word);
            assert_eq!(arena.matches(re, &str_of(word)), Ok(expected), "{word:?}");
        }
        let bounds = arena.length_bounds(re);
        for word in &words {
            assert!(bounds.min <= word.len() as u64);
            assert!(bounds.max.is_none_or(|max| max >= word.len() as u64));
        }
        arena.reset(mark);
    }
    assert_eq!(arena.mark(), Arena::default().mark());
}

#[test]
fn automata_answer_as_the_words_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut arena = Arena::default();
    let universe = universe();
    let (mut finite, mut infinite) = (0, 0);
    for _ in 0..800 {
        let mark = arena.mark();
        let (re, words) = random(&mut rng, &mut arena, 9);
        let automaton = arena.automaton(re).unwrap();
        for word in &universe {
            assert_eq!(automaton.accepts(&str_of(word)), words.contains(word));
        }
        let shortest = arena.shortest_word(re).unwrap();
        assert_eq!(arena.is_empty(re), Ok(automaton.is_empty()));
        let length = shortest.as_ref().map(Str::len);
        assert_eq!(length, automaton.shortest_word().map(|word| word.len()));
        assert_eq!(length.map(|n| n as u64), automaton.lengths().map(|lengths| lengths.min));
        if let Some(word) = &shortest {
            assert_eq!(arena.matches(re, word), Ok(true));
        }
        if let Some(word) = words.iter().min_by_key(|word| word.len()) {
            assert!(length.is_some_and(|length| length <= word.len()));
        }

        // The pumping lemma: infinite exactly if some word has a length
        // between the number of states and twice that.
        let states = automaton.state_count();
        let lengths = automaton.lengths_up_to(2 * states);
        let pumps = lengths[states..].contains(&true);
        assert_eq!(automaton.is_finite(), !pumps);
        assert_eq!(arena.is_finite(re), Ok(!pumps));
        if automaton.is_finite() {
            finite += 1;
            let longest = lengths.iter().rposition(|&exists| exists);
            let max = automaton.lengths().and_then(|lengths| lengths.max);
            assert_eq!(max, longest.map(|length| length as u64));
        } else {
            infinite += 1;
        }
        for (n, &exists) in lengths.iter().enumerate() {
            let word = automaton.word_of_length(n);
            assert_eq!(word.is_some(), exists);
            if let Some(word) = word {
                assert!(word.len() == n && automaton.accepts(&word));
            }
        }

        let sample = automaton.sample_words(12, 8);
        let different: BTreeSet<&Str> = sample.iter().collect();
        assert_eq!(different.len(), sample.len());
        for _ in 0..5 {
            let word = automaton.random_word(&mut rng, 8);
            assert_eq!(word.is_some(), lengths.iter().take(9).any(|&exists| exists));
            for word in sample.iter().chain(&word) {
                assert_eq!(arena.matches(re, word), Ok(true));
            }
        }
        if let Some(all) = automaton.all_words(200) {
            let all: Words = all.iter().map(|word| word.chars().to_vec()).collect();
            let small: Words = all.iter().filter(|word| universe.contains(*word)).cloned().collect();
            assert_eq!(small, words);
        }
        arena.reset(mark);
    }
    assert!(finite > 50 && infinite > 50, "{finite} finite, {infinite} infinite");
}

#[test]
fn searching_functions_agree_with_their_definitions() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut arena = Arena::default();
    let subjects: Vec<Vec<u32>> = universe().into_iter().collect();
    let by = [0x31];
    /// The leftmost, then shortest, decomposition `w = u1 w1 u2`.
    fn first(word: &[u32], words: &Words, empty: bool) -> Option<(usize, usize)> {
        (0..=word.len())
            .flat_map(|start| (start..=word.len()).map(move |end| (start, end)))
            .find(|&(start, end)| (empty || start < end) && words.contains(&word[start..end]))
    }
    fn all(word: &[u32], words: &Words, by: &[u32]) -> Vec<u32> {
        match first(word, words, false) {
            Some((start, end)) => [&word[..start], by, &all(&word[end..], words, by)].concat(),
            None => word.to_vec(),
        }
    }
    for _ in 0..300 {
        let mark = arena.mark();
        let (re, words) = random(&mut rng, &mut arena, 7);
        for word in &subjects {
            let subject = str_of(word);
            let once = match first(word, &words, true) {
                Some((start, end)) => [&word[..start], &by, &word[end..]].concat(),
                None => word.clone(),
            };
            assert_eq!(arena.replace(&subject, re, &str_of(&by)), Ok(str_of(&once)));
            let expected = str_of(&all(word, &words, &by));
            assert_eq!(arena.replace_all(&subject, re, &str_of(&by)), Ok(expected));
            for from in -1..=5_i64 {
                let expected = usize::try_from(from)
                    .ok()
                    .filter(|&from| from <= word.len())
                    .and_then(|from| Some(from + first(&word[from..], &words, true)?.0));
                let expected = expected.map_or(Integer::from(-1_i64), Integer::from);
                assert_eq!(arena.index_of(&subject, re, &Integer::from(from)), Ok(expected));
            }
        }
        arena.reset(mark);
    }
}

#[test]
fn laws_of_regular_languages_hold() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut arena = Arena::default();
    for _ in 0..150 {
        let mark = arena.mark();
        let [a, b, c] = [5, 5, 4].map(|size| random(&mut rng, &mut arena, size).0);
        let (not_a, not_b) = (arena.comp(a), arena.comp(b));
        let both = arena.inter(&[a, b]);
        let neither = arena.comp(both);
        let de_morgan = arena.union(&[not_a, not_b]);
        assert_eq!(arena.is_equal(neither, de_morgan), Ok(true));
        let either = arena.union(&[a, b]);
        let whole = arena.concat(either, c);
        let (ac, bc) = (arena.concat(a, c), arena.concat(b, c));
        let parts = arena.union(&[ac, bc]);
        assert_eq!(arena.is_equal(whole, parts), Ok(true));
        let star = arena.star(a);
        let plus = arena.plus(a);
        let unrolled = arena.concat(a, star);
        assert_eq!(arena.is_equal(plus, unrolled), Ok(true));
        let squared = arena.concat(star, star);
        assert_eq!(arena.is_equal(star, squared), Ok(true));
        assert_eq!(arena.is_subset(both, a), Ok(true));
        let difference = arena.diff(a, b);
        let back = arena.union(&[difference, both]);
        assert_eq!(arena.is_equal(back, a), Ok(true));
        let everything = arena.union(&[a, not_a]);
        assert_eq!(arena.is_universal(everything), Ok(true));
        arena.reset(mark);
    }
}

#[test]
fn lengths_cut_a_language() {
    let mut arena = Arena::default();
    let ab = arena.literal(&Str::try_from("ab").unwrap());
    let evens = arena.star(ab);
    let cut = arena.with_length(evens, 3, Some(7));
    let automaton = arena.automaton(cut).unwrap();
    let lengths: Vec<usize> = automaton.all_words(10).unwrap().iter().map(Str::len).collect();
    assert_eq!(lengths, [4, 6]);
    let odd = arena.with_length(evens, 5, Some(5));
    assert_eq!(arena.is_empty(odd), Ok(true));
}

#[test]
fn the_whole_alphabet_is_one_interval() {
    let mut arena = Arena::default();
    let letter = arena.class(CharSet::range(0x61, 0x7A));
    let other = arena.allchar();
    let re = arena.diff(other, letter);
    assert_eq!(arena.matches(re, &Str::new(&[0x2FFFF]).unwrap()), Ok(true));
    assert_eq!(arena.matches(re, &Str::new(&[0xD800]).unwrap()), Ok(true));
    assert_eq!(arena.matches(re, &Str::new(&[0x7A]).unwrap()), Ok(false));
    assert!(arena.term_count() < 12);
}

#[test]
fn explosive_expressions_are_refused_within_the_budget() {
    let mut arena = Arena::new(Budget { steps: 50_000, terms: 50_000, states: 2_000 });
    // "The n-th letter from the end is a" needs 2^n deterministic states.
    let a = arena.literal(&Str::try_from("a").unwrap());
    let (all, allchar) = (arena.all(), arena.allchar());
    let tail = arena.power(allchar, 30);
    let marked = arena.concat(a, tail);
    let re = arena.concat(all, marked);
    assert!(matches!(arena.automaton(re), Err(TooHard::Steps | TooHard::States | TooHard::Terms)));
    // Membership stays cheap: only the derivatives along the word are built.
    let word = Str::try_from("a".repeat(40).as_str()).unwrap();
    assert_eq!(arena.matches(re, &word), Ok(true));
}

#[test]
fn deep_nesting_is_refused_without_exhausting_the_stack() {
    let mut arena = Arena::default();
    let mut re = arena.literal(&Str::try_from("a").unwrap());
    for index in 0..100_000 {
        let letter = arena.class(CharSet::single(index % 26 + 0x61));
        re = arena.concat(re, letter);
        re = arena.repeat(re, 0, Some(3));
        re = arena.comp(re);
    }
    assert_eq!(arena.matches(re, &Str::try_from("a").unwrap()), Err(TooHard::Depth));
    let long = Str::try_from(("a".repeat(20_000) + "b").as_str()).unwrap();
    let literal = arena.literal(&long);
    assert_eq!(arena.matches(literal, &long), Ok(true));
}

#[test]
fn memory_stays_flat_when_the_arena_is_reset() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut arena = Arena::default();
    let base = arena.literal(&Str::try_from("abc").unwrap());
    let mark = arena.mark();
    for _ in 0..200 {
        let (re, _) = random(&mut rng, &mut arena, 8);
        let joined = arena.concat(base, re);
        arena.matches(joined, &Str::try_from("abcab").unwrap()).unwrap();
        arena.matches(base, &Str::try_from("abc").unwrap()).unwrap();
        arena.reset(mark);
        assert_eq!(arena.mark(), mark);
        assert_eq!(arena.matches(base, &Str::try_from("abc").unwrap()), Ok(true));
        arena.reset(mark);
    }
}
