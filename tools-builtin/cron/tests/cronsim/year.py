"""Writes the runs of ten schedules in five time zones in 2026 as cronsim computes them: one line for each schedule and zone."""

import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim

SCHEDULES = [
    "*/30 */12 * * *",
    "0 */6 * * *",
    "30 2 * * *",
    "0 0 * * *",
    "15 0,12 1,15 * *",
    "0 9 * * 1-5",
    "*/20 1-3 * * 0",
    "45 23 L * *",
    "10 2 * 3,4,9,10 0",
    "0 12 13 * 5",
]
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata"]

start = datetime(2026, 1, 1, tzinfo=timezone.utc)
end = datetime(2027, 1, 1, tzinfo=timezone.utc)
for schedule in SCHEDULES:
    for zone in ZONES:
        runs = []
        for run in CronSim(schedule, start.astimezone(ZoneInfo(zone))):
            moment = int(run.timestamp())
            if moment >= end.timestamp():
                break
            runs.append(str(moment))
        sys.stdout.write("\t".join([schedule, zone, " ".join(runs)]) + "\n")
