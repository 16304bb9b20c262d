//! The tools, the times of runs, and the server with a clock that the tests turn.

mod fixture;
mod next;
mod serve;
mod tools_of_jobs;
mod year;
