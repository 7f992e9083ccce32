const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * A span of milliseconds in at most two units, coarser as it grows, as apimachinery's duration.HumanDuration: `90s`,
 * `5m30s`, `3h`, `2d4h`, `1y20d`. Up to two seconds below zero count as `0s`, since clocks differ; less is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, [MINUTE, "m"], [1, "s"]);
  if (seconds < 3 * HOUR) return `${Math.trunc(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, [HOUR, "h"], [MINUTE, "m"]);
  if (seconds < 2 * DAY) return `${Math.trunc(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, [DAY, "d"], [HOUR, "h"]);
  if (seconds < 2 * YEAR) return `${Math.trunc(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, [YEAR, "y"], [DAY, "d"]);
  return `${Math.trunc(seconds / YEAR)}y`;
}

type Unit = readonly [seconds: number, letter: string];

function pair(seconds: number, [large, first]: Unit, [small, second]: Unit): string {
  const rest = Math.trunc((seconds % large) / small);
  return `${Math.trunc(seconds / large)}${first}${rest === 0 ? "" : `${rest}${second}`}`;
}
