/** A date as RFC 3339 writes it: `2006-01-02`, of a day that there was. */
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

/** A date and time as strfmt's IsDateTime reads it, which takes any character before the fraction, and ignores a second `T`. */
export function isDateTime(text: string): boolean {
  if (text.length > LONGEST) return false;
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const parts = /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/u.exec(time);
  return parts !== null && (parts[1] ?? "") <= "23" && (parts[2] ?? "") <= "59" && (parts[3] ?? "") <= "59";
}

/** What is longer is no time, whatever it says; it bounds the work. */
const LONGEST = 10_000;

/** A duration as Go writes it (`1h2.5m`), or numbers with units as Scala knows them among any text: `3 days`. */
export function isDuration(text: string): boolean {
  return text.length <= LONGEST && (GO_DURATION.test(text) || isScalaDuration(text));
}

const GO_DURATION = /^[+-]?(?:0|(?:\d{1,9}(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h)|\.\d+(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** A number, space, a unit; nothing in it can match in two ways, so that it takes linear time. */
const TOKEN = /(\d+)[\t\n\f\r ]*([A-Za-zµ]*)|[^0-9]+/g;
const MAX_INT64 = 2n ** 63n - 1n;

function isScalaDuration(text: string): boolean {
  let found = false;
  for (const [, digits, unit = ""] of text.matchAll(TOKEN)) {
    if (digits === undefined || unit === "") continue;
    if (BigInt(digits) > MAX_INT64) return false;
    found ||= isUnit(unit.toLowerCase());
  }
  return found;
}

/** Short units in full, long ones by how they begin. */
function isUnit(unit: string): boolean {
  return SHORT_UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
}

const SHORT_UNITS: ReadonlySet<string> = new Set(["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"]);
const LONG_UNITS = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
