import { isDate } from "./structural/formats/time.ts";

/** The last one: a busy server asks for the same second thousands of times. */
let formatted = { second: Number.NaN, text: "" };

/** A time as Kubernetes writes it (metav1.Time): RFC 3339 in UTC, whole seconds. @throws RangeError on a date that is none */
export function formatTime(time: Date): string {
  const second = Math.floor(time.getTime() / 1000);
  if (second !== formatted.second) formatted = { second, text: `${time.toISOString().slice(0, -".000Z".length)}Z` };
  return formatted.text;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** A time as RFC 3339 writes it, of a day and hour that there was; `undefined` for any other text. */
export function parseTime(text: string): Date | undefined {
  const [, date] = RFC_3339.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
