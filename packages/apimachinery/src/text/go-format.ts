import { isJsonObject, type JsonObject, sortedUtf8 } from "../json/value.ts";

/** Formats a number like Go's `%v`: integral values as integers, in full. */
export function goNumber(value: number | bigint): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) return goDouble(value);
  return (value === 0 ? 0 : value).toString();
}

/** Formats a double like Go's `%v`: with an exponent below 1e-4 and from 1e6. */
export function goDouble(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return (value === 0 ? 0 : value).toString();
  return `${digits}e${power < 0 ? "-" : "+"}${Math.abs(power).toString().padStart(2, "0")}`;
}

/**
 * Encodes JSON like Go's encoding/json: members in UTF-8 order, markup escaped. Uses loops and not callbacks, and so supports
 * about the same depth as JSON.stringify.
 */
export function goJson(value: unknown): string {
  if (typeof value === "string") return goText(value);
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value) items += `${items === "" ? "" : ","}${goJson(item)}`;
    return `[${items}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  let members = "";
  for (const name of namesOf(value)) members += `${members === "" ? "" : ","}${goText(name)}:${goJson(value[name])}`;
  return `{${members}}`;
}

/** Returns the names of an object's members in Go's order. */
function namesOf(object: JsonObject): string[] {
  return sortedUtf8(Object.keys(object).filter((name) => object[name] !== undefined));
}

/** Matches most names and values, which need no escaping. */
const PLAIN = /^[\w./:-]*$/;

/** Characters that Go escapes and ECMAScript does not. */
const MARKUP = /[<>&\u2028\u2029]/g;

function goText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(MARKUP, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

// Characters that Go does not consider printable: all except letters, marks, numbers, punctuation, symbols and the ASCII
// space.
const UNPRINTABLE = /["\\]|(?! )[\p{C}\p{Z}]/gu;

/**
 * Quotes a text in double quotes like Go's %q, as Kubernetes quotes names in its messages. Security: it escapes control and
 * invisible characters, so hostile input cannot forge lines in a log.
 */
export function quote(text: string): string {
  return `"${text.replace(UNPRINTABLE, escapeSequence)}"`;
}

function escapeSequence(character: string): string {
  const named = NAMED.get(character);
  if (named !== undefined) return named;
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) return `\\x${point.toString(16).padStart(2, "0")}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, "0")}`;
  return `\\U${point.toString(16).padStart(8, "0")}`;
}

/** Formats a value like Go's `%v`: `map[a:1 b:[x <nil>]]`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isJsonObject(value))
    return `map[${namesOf(value)
      .map((name) => `${name}:${goValue(value[name])}`)
      .join(" ")}]`;
  return typeof value === "number" ? goNumber(value) : String(value);
}

/** Formats a value like Go's `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return goValue(value);
  const members = namesOf(value).map((name) => `${quote(name)}:${goSyntax(value[name])}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}

/** Returns the name of a value's type, like Go's `%T`. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "float64";
}

/** Texts that json-iterator may encode differently from encoding/json. */
const UNLIKE = /\\[bf]|e[+-]\d\b/;

/** Encodes JSON like json-iterator, and so like path elements: two escapes, and exponents, are longer than in {@link goJson}. */
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
