//! Lines as SVG. Colours come from the style sheet, so that a chart is as light or dark as its page.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use crate::curves::Line;

/// Width and height in the chart's own units.
const SIZE: (f64, f64) = (560.0, 240.0);

/// Room for labels: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (56.0, 12.0, 10.0, 26.0);

/// Colours in the style sheet; further lines have them again, dashed.
const COLOURS: usize = 8;

/// A chart with its title and its legend.
pub fn chart(title: &str, lines: &[Line]) -> Markup {
    let points = || lines.iter().flat_map(|line| &line.points);
    let right = points().map(|(x, _)| *x).fold(0.0, f64::max);
    let highest = points().map(|(_, y)| *y).fold(0.0, f64::max);
    let empty = right <= 0.0 || highest <= 0.0;
    let right = right.max(1.0);
    let top = (highest.max(1.0) / step(highest)).ceil() * step(highest);
    let x = |value: f64| MARGIN.0 + value / right * (SIZE.0 - MARGIN.0 - MARGIN.1);
    let y = |value: f64| SIZE.1 - MARGIN.3 - value / top * (SIZE.1 - MARGIN.2 - MARGIN.3);
    html! {
        figure.chart {
            figcaption { (title) }
            @if empty {
                p.nothing { "nothing yet" }
            } @else {
                svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img" aria-label=(described(title, lines)) {
                    @for tick in ticks(top) {
                        line.grid x1=(n(x(0.0))) x2=(n(x(right))) y1=(n(y(tick))) y2=(n(y(tick))) {}
                        text.tick x=(n(MARGIN.0 - 6.0)) y=(n(y(tick) + 4.0)) text-anchor="end" { (short(tick)) }
                    }
                    @for tick in time_ticks(right) {
                        text.tick x=(n(x(tick))) y=(n(SIZE.1 - 8.0)) text-anchor="middle" { (moment(tick)) }
                    }
                    @for (place, line) in lines.iter().enumerate().rev() {
                        polyline class=(format!("line {}", looks(place)))
                            points=(path(&line.points, &x, &y)) {}
                    }
                }
                @if lines.len() > 1 {
                    ul.legend {
                        @for (place, line) in lines.iter().enumerate() {
                            li { span class=(format!("key {}", looks(place))) {} (line.name)
                                @if let Some((_, value)) = line.points.last() { " " strong { (short(*value)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Classes of the line at this place.
fn looks(place: usize) -> String {
    format!("c{}{}", place % COLOURS, if place < COLOURS { "" } else { " dashed" })
}

/// A line without anything around it.
pub fn sparkline(line: &Line) -> Markup {
    const WIDE: f64 = 120.0;
    const HIGH: f64 = 26.0;
    let right = line.points.iter().map(|(x, _)| *x).fold(0.0, f64::max);
    let top = line.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    if right <= 0.0 || top <= 0.0 {
        return PreEscaped(String::new());
    }
    let x = |value: f64| value / right * WIDE;
    let y = |value: f64| HIGH - 1.0 - value / top * (HIGH - 2.0);
    html! {
        svg.spark viewBox=(format!("0 0 {WIDE} {HIGH}")) preserveAspectRatio="none" aria-hidden="true" {
            polyline.line.c0 points=(path(&line.points, &x, &y)) {}
        }
    }
}

fn path(points: &[(f64, f64)], x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::with_capacity(points.len() * 12);
    for (at, value) in points {
        // Writing to a string cannot fail.
        let _ = write!(path, "{} {},", n(x(*at)), n(y(*value)));
    }
    path.pop();
    path
}

/// What the chart says, for those who do not see it.
fn described(title: &str, lines: &[Line]) -> String {
    let ends = lines
        .iter()
        .filter_map(|line| line.points.last().map(|(_, value)| format!("{} {}", line.name, short(*value))));
    format!("{title}: {}", ends.collect::<Vec<_>>().join(", "))
}

/// One digit after the point, if it says anything.
fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The distance of labels on an axis up to this number: 1, 2 or 5 and zeros, since counts have no fractions.
fn step(highest: f64) -> f64 {
    let mut step = 1.0;
    loop {
        for leading in [1.0, 2.0, 5.0] {
            if highest / (step * leading) <= 5.0 {
                return step * leading;
            }
        }
        step *= 10.0;
    }
}

fn ticks(top: f64) -> Vec<f64> {
    let step = step(top);
    (0..=(top / step).round() as u32).map(|tick| f64::from(tick) * step).collect()
}

fn time_ticks(right: f64) -> Vec<f64> {
    const STEPS: [f64; 15] = [
        1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 43200.0, 86400.0,
        604_800.0,
    ];
    let step = STEPS.into_iter().find(|step| right / step <= 6.0).unwrap_or(right / 4.0);
    let count = (right / step) as u32;
    (0..=count).map(|tick| f64::from(tick) * step).collect()
}

/// `5 min`, `2 h`.
fn moment(seconds: f64) -> String {
    match seconds as u64 {
        0 => "0".to_owned(),
        s if s % 86400 == 0 => format!("{} d", s / 86400),
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// `12.5k`.
pub fn short(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{}G", n(v / 1e9)),
        v if v >= 1e6 => format!("{}M", n(v / 1e6)),
        v if v >= 1e4 => format!("{}k", n(v / 1e3)),
        v => n(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_names_its_lines_and_has_no_style_of_its_own() {
        let lines = [
            Line { name: "<b>".into(), points: vec![(0.0, 0.0), (90.0, 7.0)] },
            Line { name: "diver".into(), points: vec![(0.0, 0.0), (90.0, 3.0)] },
        ];
        let text = chart("Bugs", &lines).into_string();
        assert!(text.contains("&lt;b&gt;") && text.contains("diver") && text.contains("Bugs"), "{text}");
        assert!(!text.contains("style=") && !text.contains("<b>"), "{text}");
        let nothing = chart("Bugs", &[]).into_string();
        assert!(nothing.contains("nothing yet"), "{nothing}");
        let different: std::collections::BTreeSet<String> = (0..2 * COLOURS).map(looks).collect();
        assert_eq!(different.len(), 2 * COLOURS, "no two lines look the same");
    }

    #[test]
    fn axes_end_at_numbers_that_read_well() {
        assert_eq!([1.0, 5.0, 7.0, 14.0, 62_334.0].map(step), [1.0, 1.0, 2.0, 5.0, 20_000.0]);
        assert_eq!(ticks(3.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!([90.0, 120.0, 7200.0].map(moment), ["90 s", "2 min", "2 h"]);
        assert_eq!([999.0, 12_500.0, 3e6].map(short), ["999", "12.5k", "3M"]);
    }
}
