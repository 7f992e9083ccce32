import { compareUtf8 } from "./json/order.ts";
import { isJsonObject } from "./json/value.ts";
import { quote } from "./quote.ts";

/**
 * A JSON value as Kubernetes prints it in the message about a field: texts quoted as Go's `%q`, numbers and booleans as
 * `%v`, everything else as Go's encoding/json.
 */
export function goValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return typeof value === "number" ? goNumber(value) : goJson(value);
}

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

/** JSON as Go's encoding/json writes it: members in UTF-8 order, markup escaped. */
export function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (isJsonObject(value)) {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    return `{${names
      .sort(compareUtf8)
      .map((name) => `${goText(name)}:${goJson(value[name])}`)
      .join(",")}}`;
  }
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return goText(value);
  return JSON.stringify(value) ?? "null";
}

/** The characters that Go escapes and ECMAScript does not. */
const MARKUP = /[<>&\u2028\u2029]/g;

function goText(text: string): string {
  return JSON.stringify(text).replace(MARKUP, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
