import { goJson, goNumber, namesOf } from "../go-format.ts";
import { isJsonObject } from "../json/value.ts";
import { quote } from "../quote.ts";

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
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return goValue(value);
  const members = namesOf(value).map((name) => `${quote(name)}:${goSyntax(value[name])}`);
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

/** Where json-iterator's text may not be that of encoding/json. */
const UNLIKE = /\\[bf]|e[+-]\d\b/;

/** JSON as json-iterator writes it, and thereby path elements: two escapes, and exponents, are longer than in {@link goJson}. */
export function iteratorJson(value: unknown): string {
  const json = goJson(value);
  if (!UNLIKE.test(json)) return json;
  return json.replace(/"(?:[^"\\]|\\.)*"|e([+-])(\d)\b/g, (token, sign?: string, digit?: string) =>
    sign === undefined ? token.replace(/\\./g, (sequence) => ESCAPES.get(sequence) ?? sequence) : `e${sign}0${digit}`,
  );
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\b", "\\u0008"],
  ["\\f", "\\u000c"],
]);
