// Replaces values that always differ between servers: uids, versions, times and generated names become symbols. They are
// numbered in order of appearance, so that equal values stay equal and different ones different.
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { setMember, stringifyJson } from "@virtual-workspaces/apimachinery/json";

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const VERSION_IN_TEXT = /((?:[Rr]esource ?[Vv]ersion|current)[^\d\n]{1,12}|too old resource version: \d+ \()(\d+)/g;
/** Errors in an arbitrary order. */
const TYPED_ERRORS = /errors:((?:\n {2}\..*)+)/g;
const RECENT_MS = 10 * 60_000;

/** Symbols of one server's answers within a case. */
export class Symbols {
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #prefixes: RegExp[] = [];
  readonly #now: number;

  constructor(now: number = Date.now()) {
    this.#now = now;
  }

  /** Returns a copy of a JSON value with symbols. */
  value(value: unknown, key = ""): unknown {
    if (typeof value === "string") return this.#text(value, key);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item));
      return key === "managedFields" ? items.sort(byText) : items; // their order depends on the second of the write
    }
    if (!isJsonObject(value)) return value;
    const copy: JsonObject = {};
    // Sorts members, because symbols are numbered in order of appearance.
    for (const name of Object.keys(value).sort()) setMember(copy, name, this.value(value[name], name));
    if (value["kind"] === "Table") return ageless(copy);
    return value["kind"] === "Status" ? withoutOrder(copy) : copy;
  }

  /** Returns a text with symbols. */
  text(text: string): string {
    let result = text
      .replace(UUID, (uid) => symbol(this.#uids, uid, "uid"))
      .replace(TIME, (time) => (Math.abs(Date.parse(time) - this.#now) < RECENT_MS ? "<now>" : time))
      .replace(VERSION_IN_TEXT, (_, before, version) => `${before}${this.#version(version)}`)
      .replace(TYPED_ERRORS, (_, lines) => `errors:${lines.split("\n").sort().join("\n")}`);
    for (const generated of this.#prefixes)
      result = result.replace(generated, (name, prefix) => symbol(this.#names, name, `${prefix}<generated>`));
    return result;
  }

  /** Recognizes names that a server may generate from a prefix. */
  generates(prefix: string): void {
    const base = prefix.slice(0, 58).replace(/[^\w-]/g, "\\$&"); // Kubernetes limits generated names to 63 characters
    this.#prefixes.push(new RegExp(`(${base})[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])`, "g"));
  }

  /** Returns the versions seen, oldest first. */
  order(): string {
    const sorted = [...this.#versions].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1));
    return sorted.map(([, name]) => name).join(" < ");
  }

  #text(text: string, key: string): string {
    if (key === "resourceVersion" && /^[1-9]\d*$/.test(text)) return this.#version(text);
    if (key === "continue" && text !== "") return "<continue>";
    return this.text(text);
  }

  /** Versions in the requests of cases are small, or all nines. */
  #version(version: string): string {
    return /^(?:0|1|9{6,})$/.test(version) ? version : symbol(this.#versions, version, "rv");
  }
}

function symbol(known: Map<string, string>, text: string, prefix: string): string {
  const name = known.get(text) ?? `${prefix}${known.size + 1}`;
  known.set(text, name);
  return name;
}

/** Removes the ages in date cells of a Table. */
function ageless(table: JsonObject): JsonObject {
  const columns = table["columnDefinitions"];
  const rows = table["rows"];
  if (!Array.isArray(rows)) return table;
  const dates = Array.isArray(columns)
    ? columns.map((column) => isJsonObject(column) && column["type"] === "date")
    : [];
  for (const row of rows) {
    const { cells } = row as { cells: unknown[] };
    for (const [at, cell] of cells.entries())
      if (dates[at] !== false && typeof cell === "string" && /^(?:\d+s|\d+y\d+d|<invalid>)$/.test(cell))
        cells[at] = "<age>";
  }
  return table;
}

/** Kubernetes lists several causes in an arbitrary order. */
function withoutOrder(status: JsonObject): JsonObject {
  const causes = isJsonObject(status["details"]) ? status["details"]["causes"] : undefined;
  if (!Array.isArray(causes) || causes.length < 2) return status;
  const texts = causes.map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
  causes.sort(byText);
  const message = String(status["message"]);
  const start = message.indexOf(": [") + 2;
  const isList = start > 1 && texts.every((text) => message.includes(text, start));
  const inOrder = isList ? `${message.slice(0, start)}[<causes>]` : message;
  return { ...status, message: inOrder };
}

function byText(a: unknown, b: unknown): number {
  return stringifyJson(a) < stringifyJson(b) ? -1 : 1;
}
