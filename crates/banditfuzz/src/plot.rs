//! Plots as SVG: lines over axes, with a legend.

use plotters::prelude::*;

/// What a plot shows.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub lines: Vec<Line>,
    /// The upper end of the vertical axis, where it is not that of the lines.
    pub top: Option<f64>,
}

/// A line with its name.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Width and height in pixels.
const SIZE: (u32, u32) = (760, 420);

/// The palette of Okabe and Ito, which colour-blind readers tell apart, without its yellow.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

impl Plot<'_> {
    /// The plot as SVG; a text in its place if there is nothing to draw.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        match self.draw(&mut svg) {
            Ok(()) => svg,
            Err(error) => format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><desc>{error}</desc></svg>"),
        }
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let right = points().map(|(x, _)| *x).fold(1.0, f64::max);
        let highest = points().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max);
        let top = self.top.unwrap_or(highest * 1.05);
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(38)
            .y_label_area_size(58)
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        chart.configure_mesh().x_desc(self.x).y_desc(self.y).light_line_style(WHITE).draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let style = ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: 2 };
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        area.present()?;
        Ok(())
    }
}

/// A cactus line: how many inputs are solved within how many seconds each.
pub fn cactus(name: impl Into<String>, mut solved: Vec<f64>) -> Line {
    solved.sort_by(f64::total_cmp);
    let points = solved.into_iter().enumerate().map(|(number, used)| ((number + 1) as f64, used));
    Line { name: name.into(), points: std::iter::once((0.0, 0.0)).chain(points).collect() }
}

/// The mean over several runs of what was reached by when; each run keeps its last value.
pub fn mean_curve(name: impl Into<String>, runs: &[Vec<(f64, f64)>], end: f64, steps: usize) -> Line {
    let at = |run: &Vec<(f64, f64)>, x: f64| {
        run.iter().take_while(|(when, _)| *when <= x).last().map_or(0.0, |(_, value)| value.max(0.0))
    };
    let point = |step: usize| {
        let x = end * step as f64 / steps as f64;
        let sum: f64 = runs.iter().map(|run| at(run, x)).sum();
        (x, sum / runs.len().max(1) as f64)
    };
    Line { name: name.into(), points: (0..=steps).map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cactus_line_counts_inputs_in_the_order_of_their_times() {
        let line = cactus("z3", vec![3.0, 1.0, 2.0]);
        assert_eq!(line.points, [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
    }

    #[test]
    fn a_mean_curve_keeps_the_last_value_of_each_run() {
        let runs = [vec![(1.0, 2.0)], vec![(3.0, 4.0)]];
        let line = mean_curve("bandit", &runs, 4.0, 4);
        assert_eq!(line.points, [(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 3.0), (4.0, 3.0)]);
    }

    #[test]
    fn a_plot_names_its_lines_and_axes() {
        let lines = vec![cactus("target, bandit", vec![1.0, 2.0]), cactus("a & b", Vec::new())];
        let svg = Plot { title: "Cactus", x: "inputs", y: "seconds", lines, top: None }.svg();
        for text in ["Cactus", "inputs", "seconds", "target, bandit", "a &amp; b"] {
            assert!(svg.contains(text), "{text} is missing in {svg}");
        }
    }
}
