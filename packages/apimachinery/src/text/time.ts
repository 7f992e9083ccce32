/** Cache of the last result: a busy server formats the same second thousands of times. */
let formatted = { second: Number.NaN, text: "" };

/** Formats a time as Kubernetes does (metav1.Time): RFC 3339 in UTC, whole seconds. @throws RangeError for an invalid date */
export function formatTime(time: Date): string {
  const second = Math.floor(time.getTime() / 1000);
  if (second !== formatted.second) formatted = { second, text: `${time.toISOString().slice(0, -".000Z".length)}Z` };
  return formatted.text;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time of an existing day and hour; `undefined` for any other text. */
export function parseTime(text: string): Date | undefined {
  const [, date] = RFC_3339.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * Formats a duration in at most two units, coarser as it grows, like apimachinery's duration.HumanDuration: `90s`, `5m30s`,
 * `3h`, `2d4h`, `1y20d`. Down to -2 seconds it gives `0s`, because clocks differ; below that `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return twoUnits(seconds, [MINUTE, "m"], [1, "s"]);
  if (seconds < 3 * HOUR) return `${Math.trunc(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return twoUnits(seconds, [HOUR, "h"], [MINUTE, "m"]);
  if (seconds < 2 * DAY) return `${Math.trunc(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return twoUnits(seconds, [DAY, "d"], [HOUR, "h"]);
  if (seconds < 2 * YEAR) return `${Math.trunc(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return twoUnits(seconds, [YEAR, "y"], [DAY, "d"]);
  return `${Math.trunc(seconds / YEAR)}y`;
}

type Unit = readonly [seconds: number, letter: string];

function twoUnits(seconds: number, [large, first]: Unit, [small, second]: Unit): string {
  const rest = Math.trunc((seconds % large) / small);
  return `${Math.trunc(seconds / large)}${first}${rest === 0 ? "" : `${rest}${second}`}`;
}

/** Whether a text is an RFC 3339 date, `2006-01-02`, of an existing day. */
export function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
};

/** Matches digits in one way only, so that a long text without a match takes linear time. */
const DURATION = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** Parses a duration as Go writes it, such as `1m30s`, into ms. `0` needs no unit. Returns `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0;
  if (!DURATION.test(unsigned)) return undefined;
  let sum = 0;
  for (const [, amount = "", unit = ""] of unsigned.matchAll(/([\d.]+)([^\d.]+)/g))
    sum += Number(amount) * (UNITS[unit] ?? 0);
  return text.startsWith("-") ? -sum : sum;
}
