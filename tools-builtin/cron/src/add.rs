//! `cron.add`: makes a job.

use jiff::{Timestamp, Zoned};
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::policy::{Reason, Rule, Ruling, SensitivePath, SensitivePaths, Verdict};
use tools::protocol::{Access, Json, TargetError};
use tools::{
    Grant, JsonSchema, Policy, Preview, Target, Targets, ToolContext, ToolError, call, tool,
    visible_line,
};
use tools_zone::find_zone;

use crate::error::CronError;
use crate::job::{Delivery, JobSpec, Missed, Work};
use crate::jobs::Jobs;
use crate::next::WrittenTime;
use crate::schedule::{CronExpression, Schedule};

/// The runs that a preview shows.
const SHOWN_RUNS: usize = 3;

/// The tools of a search. One of them calls others.
const OF_SEARCH: [&str; 2] = ["tools.call", "tools.search"];

/// The longest interval in seconds: a leap year.
const LONGEST_INTERVAL: u32 = 366 * 24 * 60 * 60;

/// The characters of the work that a preview shows on its line.
const SHOWN_WORK: usize = 500;

/// Makes a job: later, and without a person, it runs a prompt in a session of its own, or one call of a tool. It runs only while the user
/// has `cron run` running.
///
/// A job has your tools and your permissions of today, and no more than the user's settings allow at each run. Nobody can be asked then:
/// a call that needs a question is refused and reported. Give exactly one of `cron`, `every` and `at`, and one of `prompt` and `tool`.
#[tool(
    name = "cron.add",
    title = "Make a job",
    writes = "cron:{*}",
    targets = targets,
    needs = Jobs,
    preview = describe,
    keeps_call = ["tool", "arguments"],
    tags = ["schedule"],
    example({"cron": "30 8 * * 1-5", "zone": "Europe/Berlin", "prompt": "Read TODO.md and write the open points of today to today.md."}),
    example({"every": 3600, "tool": "fs.list", "arguments": {"path": "."}, "missed": "run_once"}),
    example({"at": "2030-12-24T09:00", "prompt": "Remind the user of the gifts.", "delivery": "at_least_once"}),
)]
pub(crate) async fn add(
    cx: &ToolContext,
    #[args] arguments: JobArguments,
) -> Result<String, ToolError> {
    let jobs = cx.need::<Jobs>()?;
    let mut spec = arguments.spec(&jobs)?;
    spec.grant = cx.grant().clone();
    check_call(cx, &spec)?;
    spec.tools = tools_of(cx, &spec.work);
    spec.rules = rules_of(cx);
    spec.paths = paths_of(cx);
    spec.principal = cx.principal().map(str::to_owned);
    spec.exposed = cx.is_exposed();
    let job = jobs.add(spec, Timestamp::now()).await?;
    let upcoming = job.spec.upcoming(Timestamp::now(), 1)?;
    let next = upcoming.first().map(show).unwrap_or_default();
    Ok(format!(
        "job {}: {}, next run {next}",
        job.id, job.spec.schedule
    ))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct JobArguments {
    /// Five fields: minute, hour, day of the month, month, weekday.
    #[schemars(length(max = 200))]
    cron: Option<String>,
    /// The interval in seconds. The first run is after one interval.
    #[schemars(range(min = 1, max = LONGEST_INTERVAL))]
    every: Option<u32>,
    /// The time of the only run, such as `2030-12-24T09:00` in the zone, or with an offset.
    #[schemars(length(max = 64))]
    at: Option<String>,
    /// An IANA name such as `Europe/Berlin`. If absent, that of the user.
    #[schemars(length(max = 64))]
    zone: Option<String>,
    /// The task, with everything that a session without this conversation needs to know.
    prompt: Option<String>,
    /// The name of one of your tools.
    #[schemars(length(max = 128))]
    tool: Option<String>,
    /// The arguments of the tool.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// For runs that were due while nothing served them: `skip` leaves them out, `run_once` makes up for them with one run.
    #[serde(default)]
    missed: Missed,
    /// For a run that was cut off: `at_most_once` reports it, `at_least_once` repeats it.
    #[serde(default)]
    delivery: Delivery,
}

impl JobArguments {
    /// Returns the job without the limits of its session.
    fn spec(self, jobs: &Jobs) -> Result<JobSpec, ToolError> {
        let work = work(self.prompt, self.tool, self.arguments)?;
        let (schedule, zone) = times(jobs, self.cron, self.every, self.at, self.zone)?;
        Ok(JobSpec {
            schedule,
            zone,
            work,
            missed: self.missed,
            delivery: self.delivery,
            grant: Grant::none(),
            tools: Vec::new(),
            rules: Vec::new(),
            paths: Vec::new(),
            principal: None,
            exposed: true,
        })
    }
}

/// Returns the schedule and the IANA name of its zone, which is that of the user if no argument names another.
fn times(
    jobs: &Jobs,
    cron: Option<String>,
    every: Option<u32>,
    text: Option<String>,
    other: Option<String>,
) -> Result<(Schedule, String), CronError> {
    let at = text.as_deref().map(WrittenTime::parse).transpose()?;
    let in_brackets = at.as_ref().and_then(WrittenTime::zone);
    let name = in_brackets.or(other.as_deref()).unwrap_or(&jobs.zone);
    let zone = find_zone(name)?;
    // The name as the data spells it.
    let name = zone.iana_name().unwrap_or(name).to_owned();
    if let (Some(text), Some(_), Some(zone_of_job)) = (&text, in_brackets, &other)
        && find_zone(zone_of_job)? != zone
    {
        return Err(CronError::OtherZone {
            text: text.clone(),
            in_brackets: name,
            zone: zone_of_job.clone(),
        });
    }
    let schedule = match (cron, every, &at) {
        (Some(cron), None, None) => Schedule::Cron(cron.parse::<CronExpression>()?),
        (None, Some(seconds), None) => Schedule::Every {
            seconds,
            from: Timestamp::now(),
        },
        (None, None, Some(at)) => Schedule::Once(at.moment(&zone)?),
        (None, None, None) => return Err(CronError::NoTime),
        _ => return Err(CronError::SeveralTimes),
    };
    Ok((schedule, name))
}

fn work(
    prompt: Option<String>,
    tool: Option<String>,
    arguments: Map<String, Value>,
) -> Result<Work, ToolError> {
    match (prompt, tool) {
        (Some(prompt), None) if prompt.trim().is_empty() => {
            Err(refuse("the prompt is empty; write the task"))
        }
        (Some(prompt), None) if arguments.is_empty() => Ok(Work::Prompt(prompt)),
        (Some(_), None) => Err(refuse(
            "`arguments` belong to a tool, and none is named; write the task into `prompt` alone",
        )),
        // Neither targets nor rules of the job would name the tool that it calls.
        (None, Some(tool)) if OF_SEARCH.contains(&&*tool) => Err(refuse(format!(
            "a job cannot use {tool}; if it is to call another tool, name that tool itself"
        ))),
        (None, Some(tool)) => Ok(Work::Call { tool, arguments }),
        (None, None) => Err(refuse(
            "the job has no work; give one of `prompt` and `tool`",
        )),
        (Some(_), Some(_)) => Err(refuse(
            "the job has two kinds of work; give only one of `prompt` and `tool`",
        )),
    }
}

/// Checks a call as the pipeline would today, because nobody reads its error at the run.
fn check_call(cx: &ToolContext, spec: &JobSpec) -> Result<(), ToolError> {
    let Work::Call { tool, arguments } = &spec.work else {
        return Ok(());
    };
    let entry = cx.resolve(tool).map_err(refuse)?;
    let arguments = Json::from(Value::Object(arguments.clone()));
    let find = |name: &str| cx.resolve(name).ok();
    let has_secret = entry.masked_in(&arguments, &find).value() != arguments.value();
    // A job has no conversation.
    let of_job = cx.without_conversation();
    let targets = call::validate(&entry, arguments.into(), Some(&of_job)).map_err(refuse)?;
    if has_secret {
        return Err(refuse(
            "a job cannot keep a secret; give the tool its secret by the settings",
        ));
    }
    if let Some(target) = targets.iter().find(|target| !spec.grant.permits(target)) {
        return Err(refuse(format!(
            "this session has no grant for {target}, so the job could not do it; choose another call, or ask the user for the grant"
        )));
    }
    match cx
        .rulings(entry.tool(), &targets)
        .find(|ruling: &Ruling<'_>| {
            ruling.reasons().iter().any(|reason| {
                matches!(reason, Reason::Rules(_)) && reason.verdict() > Verdict::Allow
            })
        }) {
        None => Ok(()),
        Some(ruling) => {
            let target = ruling
                .target
                .map_or_else(|| "it".to_owned(), ToString::to_string);
            Err(refuse(format!(
                "a rule of this session denies {target} or asks about it, so the job could not do it; choose another call"
            )))
        }
    }
}

/// Returns the names of the tools that the calling session has.
fn tools_of(cx: &ToolContext, work: &Work) -> Vec<String> {
    let listed = tools::list()
        .into_iter()
        .map(|entry| entry.name().to_string());
    let called = match work {
        Work::Call { tool, .. } => Some(tool.clone()),
        Work::Prompt(_) => None,
    };
    let names = listed.chain(called).filter(|name| cx.resolve(name).is_ok());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the rules by which the session denies calls or asks about them. An allowing rule is consent, which the day of the run gives.
fn rules_of(cx: &ToolContext) -> Vec<Rule> {
    let rules = cx.policy().map(Policy::rules).unwrap_or_default();
    rules
        .iter()
        .filter(|rule| rule.verdict > Verdict::Allow)
        .cloned()
        .collect()
}

/// Returns the sensitive paths of the session that are not in the built-in table.
fn paths_of(cx: &ToolContext) -> Vec<SensitivePath> {
    let built_in = SensitivePaths::default();
    let paths = cx.sensitive_paths().paths().iter();
    paths
        .filter(|path| !built_in.paths().contains(path))
        .cloned()
        .collect()
}

fn targets(arguments: JobArguments) -> Targets {
    // A grant or a rule for prompts must not cover calls, nor the other way round. No tool has this name if both are given.
    let value = match (arguments.prompt, arguments.tool) {
        (None, Some(tool)) => format!("call/{tool}"),
        _ => "prompt".to_owned(),
    };
    let target = Target::new(Access::Write, "cron", value);
    Ok(vec![
        target.map_err(|reason| TargetError::argument("tool", reason))?,
    ])
}

async fn describe(cx: &ToolContext, arguments: JobArguments) -> Result<Preview, ToolError> {
    let jobs = cx.need::<Jobs>()?;
    let spec = arguments.spec(&jobs)?;
    let now = Timestamp::now();
    jobs.check(&spec, now)?;
    let runs: Vec<_> = spec.upcoming(now, SHOWN_RUNS)?.iter().map(show).collect();
    let missed = match spec.missed {
        Missed::Skip => "left out",
        Missed::RunOnce => "made up for by one run",
    };
    let delivery = match spec.delivery {
        Delivery::AtMostOnce => "reported, not repeated",
        Delivery::AtLeastOnce => "repeated",
    };
    Ok(Preview::summary(format!(
        "later, without a question, runs the {}\ntimes: {} ({})\nmissed runs: {missed}\na run that is cut off: {delivery}\n{}",
        visible_line(&spec.work.to_string(), SHOWN_WORK),
        spec.schedule,
        spec.zone,
        grant_lines(cx.previewed_grant()),
    ))
    .with_unbound_text(&format!("next: {}\n", runs.join(", "))))
}

/// Returns a time with its offset, such as `Tue 2026-11-24 09:00:00 +01:00`.
pub(crate) fn show(run: &Zoned) -> String {
    run.strftime("%a %Y-%m-%d %H:%M:%S %:z").to_string()
}

fn refuse(reason: impl std::fmt::Display) -> ToolError {
    ToolError::execution_failed(reason.to_string())
}

/// The characters of a line. A terminal shows 160 of them before the person asks for the rest.
const WIDTH: usize = 150;

/// Returns the grant on lines of at most [`WIDTH`] characters, unless a clause alone is longer. The number of the clauses stands before
/// them, so that a person sees whether some are hidden.
fn grant_lines(grant: &Grant) -> String {
    if grant.layers().any(<[_]>::is_empty) {
        return "may: nothing\n".to_owned();
    }
    let mut text = String::new();
    for (index, layer) in grant.layers().enumerate() {
        text += if index == 0 {
            "may"
        } else {
            "and of this only"
        };
        text += &if layer.len() == 1 {
            ":".to_owned()
        } else {
            format!(" ({} clauses):", layer.len())
        };
        let mut length = text.lines().last().map_or(0, |line| line.chars().count());
        for (position, clause) in layer.iter().enumerate() {
            let or = if position == 0 { "" } else { "or " };
            let added = 1 + or.len() + clause.as_str().chars().count();
            if length + added > WIDTH {
                text += "\n ";
                length = 1;
            }
            text += &format!(" {or}{clause}");
            length += added;
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use tools::Clause;

    use super::*;

    #[test]
    fn each_layer_has_its_clauses_and_their_number() {
        let grant = Grant::parse(["fs:read:**", "fs:write:src/**"]).unwrap();
        assert_eq!(
            grant_lines(&grant),
            "may (2 clauses): fs:read:** or fs:write:src/**\n"
        );
        let narrowed = grant.narrow(["fs:*:src/**".parse::<Clause>().unwrap()]);
        assert_eq!(
            grant_lines(&narrowed),
            "may: fs:*:src/**\nand of this only (2 clauses): fs:read:** or fs:write:src/**\n"
        );
        assert_eq!(grant_lines(&narrowed.narrow([])), "may: nothing\n");
    }
}
