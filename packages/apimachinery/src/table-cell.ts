import { humanDuration } from "./human-duration.ts";
import { compareUtf8 } from "./json/order.ts";
import { stringifyJson } from "./json/parse.ts";

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

const MARKUP = /[<>&\u2028\u2029]/g;

/** As Go writes JSON: keys sorted, and what could be taken for markup escaped. */
function printedJson(value: object): string {
  return sortedJson(value).replace(MARKUP, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Loops rather than callbacks: so it goes as deep as JSON.stringify does. */
function sortedJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return stringifyJson(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const element of value) text += `${text === "" ? "" : ","}${sortedJson(element)}`;
    return `[${text}]`;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record).sort(compareUtf8)) {
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${sortedJson(record[key])}`;
  }
  return `{${text}}`;
}
