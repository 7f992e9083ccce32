import { goJson, goNumber } from "./go-format.ts";
import { humanDuration } from "./human-duration.ts";
import { parseTime } from "./time.ts";

/** The types a column may have. `date` shows the time passed since. */
export type TableColumnType = "string" | "integer" | "number" | "boolean" | "date";

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
      return typeof value === "number" ? Math.trunc(value) : wholeNumber(value);
    case "number":
      return typeof value === "number" ? value : wholeNumber(value);
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
  }
}

/** Integers beyond 2^53. */
function wholeNumber(value: unknown): bigint | null {
  return typeof value === "bigint" ? value : null;
}

function age(time: string, now: Date): string {
  if (time === "" || time === "null") return "<unknown>";
  const then = parseTime(time);
  return then === undefined ? "<invalid>" : humanDuration(now.getTime() - then.getTime());
}

/** As Go prints what it read: numbers and objects not as ECMAScript does. */
function printed(value: unknown): string {
  if (value === null) return "<no value>";
  if (typeof value === "number") return goNumber(value);
  return typeof value === "object" ? goJson(value) : String(value);
}
