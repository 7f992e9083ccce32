import { humanDuration } from "./human-duration.ts";

/** The types a column may have. `date` shows the time passed since. */
export type TableColumnType = "string" | "integer" | "number" | "boolean" | "date";

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * A value as the cell of a column, as apiextensions' tableconvertor has it: of the column's type, or null. Only text
 * columns convert; they print what they get.
 */
export function cellOf(type: TableColumnType, value: unknown, now: Date): unknown {
  if (value === undefined) return null;
  switch (type) {
    case "string":
      return printed(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
  }
}

function age(time: string, now: Date): string {
  if (time === "" || time === "null") return "<unknown>";
  const then = RFC_3339.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(then) ? "<invalid>" : humanDuration(now.getTime() - then);
}

function printed(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "<no value>";
  if (typeof value === "number") return printedNumber(value);
  return typeof value === "object" ? printedJson(value) : String(value);
}

/** As Go prints integers and floats: the latter below 1e-4 and from 1e6 with an exponent, of at least two digits. */
function printedNumber(value: number): string {
  const size = Math.abs(value);
  const isInteger = Number.isInteger(value) && size < 2 ** 63;
  if (isInteger || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** As Go writes JSON: keys sorted, and what could be taken for markup escaped. */
function printedJson(value: object): string {
  const text = JSON.stringify(value, (_key, part: unknown) => (isRecord(part) ? sorted(part) : part));
  return text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
