//! Reads moves: what [`write`](super::write) wrote, or a table typed by hand.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule, Solution};
use collsynth_core::topology::{DimRef, Direction, RankId};
use collsynth_verify::json::{FormatCode, ParseError};
use collsynth_verify::limits::{Limits, MEMORY_WORD};
use collsynth_verify::report::collective::chunks_named;

/// What a move takes while the schedule is made and judged, roughly.
const MOVE_BYTES: u64 = 64;

/// The names of the columns, as indices into [`COLUMNS`].
const STEP: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;
const CHUNK: usize = 3;
const OP: usize = 4;
const VIA: usize = 5;
const LABEL: usize = 6;
const COLUMNS: [&str; 7] = ["step", "from", "to", "chunk", "op", "via", "label"];
/// What other tools call them.
const ALSO: [(&str, &str); 2] = [("src", "from"), ("dst", "to")];
/// Those that no table is without.
const REQUIRED: Range<usize> = STEP..OP;

/// A line and a column, both from 1, the column in characters.
type Place = (usize, usize);

/// The cells of a line that say something, by column.
type Cells<'a> = [Option<(&'a str, Place)>; COLUMNS.len()];

/// A line of the table.
struct Move {
    step: u32,
    place: Place,
    from: RankId,
    to: RankId,
    via: Option<Direction>,
    op: Op,
    chunks: Range<u32>,
}

/// Reads a schedule for a problem, within the default limits: see [`parse_within`].
///
/// # Errors
///
/// As [`parse_within`].
pub fn parse(text: &str, problem: Problem) -> Result<Solution, ParseError> {
    parse_within(text, problem, &Limits::default())
}

/// Reads a schedule for a problem. The first line names the columns, in any order: `step`, `from` (or `src`), `to` (or
/// `dst`), `chunk`, perhaps `op`, `via` and `label`. Then a line for each move, in any order:
///
/// - steps count from 1, without gaps; a step is as wide as its moves need;
/// - ranks are numbers, coordinates (`1.2`) or names;
/// - a chunk is named as in `synth show --chunk`: `3`, `3/1`, `3-7/1`; without a part, every part of it moves. Beside a
///   `label`, which has that name, it is a number;
/// - `op` is `copy` unless stated, and must be stated where the collective adds;
/// - `via` must lead from one rank to the other.
///
/// Blank lines and lines that begin with `#` are skipped.
///
/// # Errors
///
/// The first place where the text is malformed, contradicts itself or does not fit the problem; or it moves more chunks
/// than a text of this size may.
pub fn parse_within(text: &str, problem: Problem, limits: &Limits) -> Result<Solution, ParseError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = bare.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((number, heading)) = lines.next() else {
        return Err(wrong(FormatCode::F001, (1, 1), &format!("the table is empty; {}", shape())));
    };
    let columns = columns(heading, number)?;
    let (room, mut moved) = (limits.room(text), 0);
    let mut moves = Vec::new();
    for (number, line) in lines {
        let read = read(&problem, &cells(line, number, &columns)?, (number, 1))?;
        moved += u64::from(read.chunks.end - read.chunks.start);
        if moved * MOVE_BYTES > room {
            let message =
                format!("the table moves more chunks than a file of this size may: {MEMORY_WORD} allows more");
            return Err(wrong(FormatCode::F009, read.place, &message));
        }
        moves.push(read);
    }
    moves.sort_by_key(|a| a.step);
    let schedule = schedule(&problem, &moves)?;
    Ok(Solution { problem, schedule, bounds: Bounds::default(), origin: None })
}

/// Which column each cell of a line belongs to.
fn columns(heading: &str, number: usize) -> Result<Vec<usize>, ParseError> {
    let mut columns = Vec::new();
    for (text, at) in split(heading).take(COLUMNS.len() + 1) {
        let place = (number, at);
        let named = ALSO.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(text)).map_or(text, |(_, ours)| ours);
        let Some(column) = COLUMNS.iter().position(|name| name.eq_ignore_ascii_case(named)) else {
            let message = match text.parse::<u64>() {
                Ok(_) if columns.is_empty() => format!("the heading is missing: {}", shape()),
                _ => format!("unknown column `{text}`; {}", shape()),
            };
            return Err(wrong(FormatCode::F002, place, &message));
        };
        if columns.contains(&column) {
            return Err(wrong(FormatCode::F002, place, &format!("there are two columns `{text}`")));
        }
        columns.push(column);
    }
    match REQUIRED.into_iter().find(|column| !columns.contains(column)) {
        Some(missing) => {
            let message = format!("there is no column `{}`; {}", COLUMNS[missing], shape());
            Err(wrong(FormatCode::F002, (number, 1), &message))
        }
        None => Ok(columns),
    }
}

fn shape() -> &'static str {
    "the first line names the columns: step,from,to,chunk, and op, via or label if there are such"
}

fn cells<'a>(line: &'a str, number: usize, columns: &[usize]) -> Result<Cells<'a>, ParseError> {
    let mut cells = Cells::default();
    for (index, (text, at)) in split(line).enumerate() {
        let Some(&column) = columns.get(index) else {
            let message = format!("there are more cells than columns: {}", columns.len());
            return Err(wrong(FormatCode::F001, (number, at), &message));
        };
        cells[column] = (!text.is_empty()).then_some((text, (number, at)));
    }
    Ok(cells)
}

fn read(problem: &Problem, cells: &Cells<'_>, line: Place) -> Result<Move, ParseError> {
    let topology = problem.topology();
    let value = |(_, place): (&str, Place), why: &dyn ToString| wrong(FormatCode::F003, place, &why.to_string());
    let required = |column: usize| {
        let message = || format!("this line has no {}", COLUMNS[column]);
        cells[column].ok_or_else(|| wrong(FormatCode::F002, line, &message()))
    };
    let step = required(STEP)?;
    let number = step.0.parse::<u32>().ok().filter(|&number| number >= 1);
    let number = number.ok_or_else(|| value(step, &format!("`{}` is not a step: they count from 1", step.0)))?;
    let rank = |column| {
        let cell: (&str, Place) = required(column)?;
        topology.parse_rank(cell.0).map_err(|error| value(cell, &error))
    };
    let (from, to) = (rank(FROM)?, rank(TO)?);
    let via = cells[VIA].map(|cell| via(problem, from, to, cell.0).map_err(|why| value(cell, &why))).transpose()?;
    let op = match cells[OP] {
        Some((op, _)) if op.eq_ignore_ascii_case("copy") => Op::Copy,
        Some((op, _)) if op.eq_ignore_ascii_case("reduce") => Op::Reduce,
        Some(cell) => return Err(value(cell, &format!("`{}` is not an op: write copy or reduce", cell.0))),
        None if problem.collective().kind.adds() => {
            let kind = problem.collective().kind.name();
            let message = format!("{kind} adds: say in a column op whether a move is a copy or a reduce");
            return Err(wrong(FormatCode::F002, line, &message));
        }
        None => Op::Copy,
    };
    let chunk = required(CHUNK)?;
    let chunks = chunks(problem, chunk, cells[LABEL])?;
    Ok(Move { step: number, place: step.1, from, to, via: via.flatten(), op, chunks })
}

/// The direction to state, if the link needs one.
fn via(problem: &Problem, from: RankId, to: RankId, text: &str) -> Result<Option<Direction>, String> {
    let topology = problem.topology();
    let Some(torus) = topology.as_torus() else {
        return Err(format!("`{text}`: the links of a graph have no directions"));
    };
    let Ok(DimRef::Direction(direction)) = text.parse() else {
        return Err(format!("`{text}` is not a direction: write x+ or x-"));
    };
    let joined = || topology.links_between(from, to).filter_map(|id| topology.link(id).direction);
    if joined().any(|joined| joined == direction) {
        return Ok((joined().count() > 1).then_some(direction));
    }
    // The link of a failed cable: that it failed is for the judge to say.
    let dim = usize::from(direction.dim);
    let leads = (dim < torus.extents.len()).then(|| torus.neighbor(from, dim, direction.positive)).flatten();
    match leads {
        Some(other) if other == to => Ok(Some(direction)),
        Some(other) => Err(format!("{direction} leads from rank {from} to rank {other}, not to rank {to}")),
        None => Err(format!("{direction} leads nowhere from rank {from}")),
    }
}

/// The chunks of a line.
fn chunks(
    problem: &Problem,
    (text, place): (&str, Place),
    label: Option<(&str, Place)>,
) -> Result<Range<u32>, ParseError> {
    let named = |(text, place): (&str, Place)| {
        let chunks = chunks_named(problem, &text.replacen(['-', ':'], ">", 1));
        chunks.map_err(|error| wrong(FormatCode::F003, place, &error.to_string()))
    };
    let Some(label) = label else { return named((text, place)) };
    let stated = named(label)?.start;
    match text.parse::<u32>() {
        Ok(number) if number == stated => Ok(number..number + 1),
        _ => {
            let message = format!("`{text}` is not the number of chunk {}, which is {stated}", label.0);
            Err(wrong(FormatCode::F003, place, &message))
        }
    }
}

/// The schedule of moves in the order of their steps.
fn schedule(problem: &Problem, moves: &[Move]) -> Result<Schedule, ParseError> {
    let topology = problem.topology();
    let mut builder = Schedule::builder();
    for (index, moves) in moves.chunk_by(|a, b| a.step == b.step).enumerate() {
        let first = &moves[0];
        if first.step as usize != index + 1 {
            let message = format!("step {} follows step {index}: steps count from 1, without gaps", first.step);
            return Err(wrong(FormatCode::F003, first.place, &message));
        }
        // Transfers in the order of their first moves.
        let mut transfers: Vec<(&Move, Vec<ChunkId>)> = Vec::new();
        let mut known = HashMap::new();
        let mut loads: BTreeMap<_, u64> = BTreeMap::new();
        for one in moves {
            let way = (one.from, one.to, one.via);
            let at = *known.entry((way, one.op == Op::Reduce)).or_insert(transfers.len());
            if at == transfers.len() {
                transfers.push((one, Vec::new()));
            }
            transfers[at].1.extend(one.chunks.clone().map(ChunkId));
            *loads.entry(way).or_default() += u64::from(one.chunks.end - one.chunks.start);
        }
        let width = |(&(from, to, via), &load): (&(RankId, RankId, Option<Direction>), &u64)| {
            let mut links = topology.links_between(from, to).map(|id| topology.link(id));
            let link = links.find(|link| via.is_none() || link.direction == via);
            load.div_ceil(u64::from(link.map_or(1, |link| link.capacity)))
        };
        let width = loads.iter().map(width).max().unwrap_or(1);
        builder.step(u32::try_from(width).unwrap_or(u32::MAX));
        for (one, chunks) in transfers {
            builder.transfer(one.from, one.to, one.via, one.op, chunks);
        }
    }
    Ok(builder.finish())
}

/// The cells of a line, without spaces and quotes around them, and where they begin.
fn split(line: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut begins = 1;
    line.trim_end_matches('\r').split(',').map(move |cell| {
        let at = begins + cell.chars().take_while(|letter| letter.is_whitespace()).count();
        begins += cell.chars().count() + 1;
        let cell = cell.trim();
        let bare = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).map(str::trim);
        (bare.unwrap_or(cell), at)
    })
}

fn wrong(code: FormatCode, place: Place, message: &str) -> ParseError {
    ParseError::new(code, place, message)
}
