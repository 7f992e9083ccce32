import { isJsonObject, type JsonObject, sortedUtf8 } from "../json/value.ts";

/** A number as Go's `%v`: what can be an integer is one, and is written in full. */
export function goNumber(value: number | bigint): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) return goDouble(value);
  return (value === 0 ? 0 : value).toString();
}

/** A double as Go's `%v`: with an exponent below 1e-4 and from 1e6. */
export function goDouble(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return (value === 0 ? 0 : value).toString();
  return `${digits}e${power < 0 ? "-" : "+"}${Math.abs(power).toString().padStart(2, "0")}`;
}

/**
 * JSON as Go's encoding/json writes it: members in UTF-8 order, markup escaped. Loops rather than callbacks: so it goes
 * about as deep as JSON.stringify does.
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

/** The names of an object's members, as Go orders them. */
function namesOf(object: JsonObject): string[] {
  return sortedUtf8(Object.keys(object).filter((name) => object[name] !== undefined));
}

/** Most names and values, told at a glance. */
const PLAIN = /^[\w./:-]*$/;

/** The characters that Go escapes and ECMAScript does not. */
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

// What Go does not call printable: everything but letters, marks, numbers, punctuation, symbols and the ASCII space.
const UNPRINTABLE = /["\\]|(?! )[\p{C}\p{Z}]/gu;

/**
 * Text in double quotes as Go's %q writes it, which is how Kubernetes quotes the names in its messages. Control and
 * invisible characters are escaped, so hostile input cannot forge lines in a log.
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
