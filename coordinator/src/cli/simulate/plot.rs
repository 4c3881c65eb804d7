//! The plot of `jlpns simulate`: speed-up beside the ideal one, and what the slots were used for.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::report::Row;

/// The size of the drawing, in pixels.
const SIZE: (u32, u32) = (1100, 500);
const MARGIN: i32 = 16;
/// How much higher than 100 % the axis goes: the names of the lines are above them.
const ROOM: f64 = 1.25;
/// Sizes of letters, in the drawing's own unit.
const TITLE: (&str, i32) = ("sans-serif", 24);
const CAPTION: (&str, i32) = ("sans-serif", 20);
const LABEL: (&str, i32) = ("sans-serif", 16);

/// A drawing of `runs`, as the text of an SVG file.
pub fn svg(title: &str, runs: &[Row]) -> anyhow::Result<String> {
    let mut text = String::new();
    draw(title, runs, SVGBackend::with_string(&mut text, SIZE))
        // Its own error borrows the text.
        .map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    Ok(text)
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(title: &str, runs: &[Row], backend: SVGBackend<'_>) -> Drawn {
    let area = backend.into_drawing_area();
    area.fill(&WHITE)?;
    let area = area.titled(title, TITLE)?;
    let halves = area.split_evenly((1, 2));
    speed_ups(runs, &halves[0])?;
    shares(runs, &halves[1])?;
    area.present()?;
    Ok(())
}

/// The end of an axis that begins at 1: a power of 2, so that the last tick is there.
fn axis_end(runs: &[Row], value: impl Fn(&Row) -> f64) -> f64 {
    let most = runs.iter().map(value).fold(2.0, f64::max);
    2f64.powf(most.log2().ceil())
}

fn slots(run: &Row) -> f64 {
    run.slots as f64
}

fn speed_ups(runs: &[Row], area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
    let points: Vec<(f64, f64)> =
        runs.iter().filter_map(|run| Some((slots(run), run.speed_up?))).collect();
    let end = axis_end(runs, slots);
    let most = axis_end(runs, |run| run.speed_up.unwrap_or(1.0)).max(end);
    let least = points.iter().map(|point| point.1).fold(1.0, f64::min);
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption("Speed-up", CAPTION)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (1.0..end).log_scale().base(2.0),
            (least..most).log_scale().base(2.0),
        )?;
    chart
        .configure_mesh()
        .x_desc("slots")
        .y_desc("times faster than one slot")
        .x_label_formatter(&|x| x.to_string())
        .y_label_formatter(&|y| y.to_string())
        .label_style(LABEL)
        .axis_desc_style(LABEL)
        .light_line_style(TRANSPARENT)
        .draw()?;
    chart
        .draw_series(LineSeries::new([(1.0, 1.0), (end, end)], BLACK.mix(0.4)))?
        .label("ideal")
        .legend(|at| key(at, BLACK.mix(0.4)));
    chart
        .draw_series(LineSeries::new(points, BLUE.stroke_width(2)).point_size(3))?
        .label("simulated")
        .legend(|at| key(at, BLUE.mix(1.0)));
    chart
        .configure_series_labels()
        .label_font(LABEL)
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.4))
        .background_style(WHITE)
        .draw()?;
    Ok(())
}

fn shares(runs: &[Row], area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
    let percent = |share: f64| share * 100.0;
    let efficient = |run: &Row| Some((slots(run), percent(run.efficiency?)));
    let used: Vec<(f64, f64)> =
        runs.iter().map(|run| (slots(run), percent(run.utilisation))).collect();
    let efficient: Vec<(f64, f64)> = runs.iter().filter_map(efficient).collect();
    let most = efficient.iter().map(|point| point.1).fold(100.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption("Use of the slots", CAPTION)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..axis_end(runs, slots)).log_scale().base(2.0), 0.0..most * ROOM)?;
    chart
        .configure_mesh()
        .x_desc("slots")
        .y_desc("%")
        .x_label_formatter(&|x| x.to_string())
        .y_label_formatter(&|y| y.to_string())
        .label_style(LABEL)
        .axis_desc_style(LABEL)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (name, colour, points) in [
        ("utilisation: slot time in searches", GREEN_INK, used),
        ("efficiency: speed-up a slot", BLUE, efficient),
    ] {
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
            .label(name)
            .legend(move |at| key(at, colour.mix(1.0)));
    }
    chart
        .configure_series_labels()
        .label_font(LABEL)
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK.mix(0.4))
        .background_style(WHITE)
        .draw()?;
    Ok(())
}

const GREEN_INK: RGBColor = RGBColor(0, 130, 60);

/// The line beside the name of a series.
fn key((x, y): (i32, i32), colour: RGBAColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
}
