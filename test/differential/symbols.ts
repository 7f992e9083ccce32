// Takes out of an answer what no two servers can have in common: uids, versions, times and generated names become
// symbols, numbered as they are first seen, so that what is equal stays equal and what differs stays different.
import { isJsonObject, type JsonObject, setMember } from "@virtual-workspaces/apimachinery";

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const VERSION_IN_TEXT = /((?:[Rr]esource ?[Vv]ersion|current)[^\d\n]{1,12}|too old resource version: \d+ \()(\d+)/g;
const RECENT_MS = 10 * 60_000;

/** What one server's answers within a case have named so far. */
export class Symbols {
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #now: number;

  constructor(now: number = Date.now()) {
    this.#now = now;
  }

  /** A copy of a JSON value, with symbols. */
  value(value: unknown, key = ""): unknown {
    if (typeof value === "string") return this.#text(value, key);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (!isJsonObject(value)) return value;
    this.#learn(value);
    const copy: JsonObject = {};
    for (const [name, member] of Object.entries(value)) setMember(copy, name, this.value(member, name));
    return value["kind"] === "Table" ? ageless(copy) : copy;
  }

  /** A text, with symbols. */
  text(text: string): string {
    let result = text
      .replace(UUID, (uid) => symbol(this.#uids, uid, "uid"))
      .replace(TIME, (time) => (Math.abs(Date.parse(time) - this.#now) < RECENT_MS ? "<now>" : time))
      .replace(VERSION_IN_TEXT, (_, before, version) => `${before}${this.#version(version)}`);
    for (const [name, generated] of this.#names) result = result.replaceAll(name, generated);
    return result;
  }

  /** The versions seen, oldest first. */
  order(): string {
    const sorted = [...this.#versions].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1));
    return sorted.map(([, name]) => name).join(" < ");
  }

  #text(text: string, key: string): string {
    if (key === "resourceVersion" && /^[1-9]\d*$/.test(text)) return this.#version(text);
    if (key === "continue" && text !== "") return "<continue>";
    return this.text(text);
  }

  /** Versions that are asked for in cases are small, or all nines. */
  #version(version: string): string {
    return /^(?:0|1|9{6,})$/.test(version) ? version : symbol(this.#versions, version, "rv");
  }

  /** A name that a server has made up. */
  #learn(object: JsonObject): void {
    const { generateName: prefix, name } = object;
    if (typeof prefix !== "string" || typeof name !== "string") return;
    if (
      prefix !== "" &&
      /^[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name.slice(-5)) &&
      prefix.startsWith(name.slice(0, -5))
    )
      symbol(this.#names, name, `${name.slice(0, -5)}<generated>`);
  }
}

function symbol(known: Map<string, string>, text: string, prefix: string): string {
  const name = known.get(text) ?? `${prefix}${known.size + 1}`;
  known.set(text, name);
  return name;
}

/** The cells of dates in a Table tell how long ago something was. */
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
      if (dates[at] !== false && typeof cell === "string" && /^(?:\d+s|<invalid>)$/.test(cell)) cells[at] = "<age>";
  }
  return table;
}
