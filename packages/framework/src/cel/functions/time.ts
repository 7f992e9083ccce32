import type { Duration } from "@marcbachmann/cel-js/evaluator";
import { CelError, durationNanos } from "../values/formatted.ts";
import type { FunctionSpec } from "./signature.ts";

/** Fields that the accessors read. The UTC fields of the date are those of the requested zone. */
const FIELDS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfYear: dayOfYear,
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** Accessors of timestamps and durations. */
export const TIME: readonly FunctionSpec[] = [
  ...Object.entries(FIELDS).flatMap(([fn, read]): FunctionSpec[] => [
    [`.${fn}(timestamp) int`, (time: Date) => BigInt(read(time))],
    [
      `.${fn}(timestamp, string) int`,
      (time: Date, zone: string) => BigInt(read(new Date(time.getTime() + offset(time, zone)))),
    ],
  ]),
  ...Object.entries(UNITS).map(
    ([fn, unit]): FunctionSpec => [`.${fn}(duration) int`, (duration: Duration) => durationNanos(duration) / unit],
  ),
];

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  return Math.round((date.getTime() - start.getTime()) / 86_400_000);
}

/** Returns the offset of a zone (`+02:00`, `Europe/Paris`) from UTC at a time, in ms. */
function offset(time: Date, zone: string): number {
  const fixed = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === "-" ? -minutes : minutes) * 60_000;
  }
  if (zone === "" || zone === "UTC") return 0;
  return wallClock(time, zone) - Math.floor(time.getTime() / 1000) * 1000;
}

function wallClock(date: Date, timeZone: string): number {
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    const parts = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
    const wall = new Date(0);
    const year = Number(parts["year"]) * (parts["era"] === "BC" ? -1 : 1);
    wall.setUTCFullYear(year, Number(parts["month"]) - 1, Number(parts["day"]));
    return wall.setUTCHours(Number(parts["hour"]), Number(parts["minute"]), Number(parts["second"]), 0);
  } catch {
    throw new CelError(`unknown time zone ${timeZone}`);
  }
}
