import { CelError } from "../cel-error.ts";
import { sortedBy } from "../functions/lists.ts";

/** What a macro goes over: indices or keys, each with its element or value. */
export type Entries = readonly (readonly [unknown, unknown])[];

/** Evaluates an argument of a macro for one entry. */
export type Body = (key: unknown, value: unknown) => unknown;

/** A macro that goes over a list or map. */
export interface Loop {
  readonly name: string;
  /** How many of its arguments are names: an element's, or those of its index and itself. */
  readonly names: 1 | 2;
  /** How many arguments follow, which are evaluated for each entry; of two the first is a filter. */
  readonly bodies: 1 | 2;
  /** What type it has; `same` is that of the range. */
  readonly result: "bool" | "list" | "map" | "same";
  readonly run: (entries: Entries, body: Body, filter: Body | undefined) => unknown;
}

/** The macros of this kind that the library lacks. */
export const LOOPS: readonly Loop[] = [
  { name: "all", names: 2, bodies: 1, result: "bool", run: (entries, body) => decided(entries, body, false) },
  { name: "exists", names: 2, bodies: 1, result: "bool", run: (entries, body) => decided(entries, body, true) },
  { name: "exists_one", names: 2, bodies: 1, result: "bool", run: one },
  { name: "existsOne", names: 2, bodies: 1, result: "bool", run: one },
  { name: "transformList", names: 2, bodies: 1, result: "list", run: transformList },
  { name: "transformList", names: 2, bodies: 2, result: "list", run: transformList },
  { name: "transformMap", names: 2, bodies: 1, result: "map", run: transformMap },
  { name: "transformMap", names: 2, bodies: 2, result: "map", run: transformMap },
  { name: "transformMapEntry", names: 2, bodies: 1, result: "map", run: transformEntries },
  { name: "transformMapEntry", names: 2, bodies: 2, result: "map", run: transformEntries },
  { name: "sortBy", names: 1, bodies: 1, result: "same", run: sortBy },
];

/** The entries of a list or map. @throws CelError of anything else */
export function entriesOf(range: unknown): Entries {
  if (Array.isArray(range) || range instanceof Set) return Array.from(range, (value, at) => [BigInt(at), value]);
  return range instanceof Map ? [...range] : entriesOfObject(range);
}

/** Maps that expressions spell are objects to the library. */
function entriesOfObject(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) throw new CelError("no such overload");
  return Object.entries(value);
}

/** Whether any entry decides; an error counts only if none does. */
function decided(entries: Entries, body: Body, decisive: boolean): boolean {
  let failure: unknown;
  for (const [key, value] of entries) {
    try {
      if (body(key, value) === decisive) return decisive;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function one(entries: Entries, body: Body): boolean {
  return kept(entries, body).length === 1;
}

function transformList(entries: Entries, body: Body, filter: Body | undefined): unknown[] {
  return kept(entries, filter).map(([key, value]) => body(key, value));
}

function transformMap(entries: Entries, body: Body, filter: Body | undefined): Map<unknown, unknown> {
  return new Map(kept(entries, filter).map(([key, value]) => [key, body(key, value)]));
}

function transformEntries(entries: Entries, body: Body, filter: Body | undefined): Map<unknown, unknown> {
  const result = new Map<unknown, unknown>();
  for (const [key, value] of kept(entries, filter)) {
    const entry = body(key, value);
    for (const [name, member] of entry instanceof Map ? entry : entriesOfObject(entry)) {
      if (result.has(name)) throw new CelError(`insert failed: key ${String(name)} already exists`);
      result.set(name, member);
    }
  }
  return result;
}

function sortBy(entries: Entries, body: Body): unknown[] {
  const keys = entries.map(([key, value]) => body(key, value));
  return sortedBy(
    entries.map(([, value]) => value),
    keys,
  );
}

function kept(entries: Entries, filter: Body | undefined): Entries {
  return filter === undefined ? entries : entries.filter(([key, value]) => filter(key, value) === true);
}
