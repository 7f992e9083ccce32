import { sortedUtf8 } from "./json/order.ts";
import { isJsonObject, type JsonObject } from "./json/value.ts";

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
export function namesOf(object: JsonObject): string[] {
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
