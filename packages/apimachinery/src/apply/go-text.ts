import { isJsonObject } from "../json/value.ts";
import { sortedUtf8 } from "./sorted.ts";

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

// Besides what JSON demands, Go escapes what could end a script in HTML.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to escape
const TO_ESCAPE = /["\\<>&\u2028\u2029\u0000-\u001f]/g;

/** A JSON text as Go's encoders write it: members sorted, HTML escaped. Path elements and annotations show it. */
export function goJson(value: unknown): string {
  if (typeof value === "string") return goJsonString(value);
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members = namesOf(value).map((name) => `${goJsonString(name)}:${goJson(value[name])}`);
  return `{${members.join(",")}}`;
}

function goJsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : `"${text.replace(TO_ESCAPE, escapeSequence)}"`;
}

/** Most names and values, told at a glance. */
const PLAIN = /^[\w./:-]*$/;

function escapeSequence(character: string): string {
  return ESCAPED.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A value as Go's `%v` prints it: `map[a:1 b:[x <nil>]]`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isJsonObject(value))
    return `map[${namesOf(value)
      .map((name) => `${name}:${goValue(value[name])}`)
      .join(" ")}]`;
  return typeof value === "number" ? goNumber(value) : String(value);
}

/** A value as Go's `%#v` prints it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return goValue(value);
  const members = namesOf(value).map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}

/** The name of a value's type, as Go's `%T` prints it. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "float64";
}

/** Fractions as Go prints a float64; what is whole was an int64 there. */
function goNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function namesOf(object: Record<string, unknown>): string[] {
  return sortedUtf8(Object.keys(object).filter((name) => object[name] !== undefined));
}
