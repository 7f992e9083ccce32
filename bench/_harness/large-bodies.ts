// Why: what stalls a server is not the typical body; these are the ones that cost the most for their size.
import { writtenObject } from "../_servers/written-kinds.ts";

export interface LargeBody {
  readonly what: string;
  readonly kind: "Free" | "Typed" | "Ruled";
  readonly body: string;
}

const MOST = 3 * 1024 * 1024;

/** Bodies of up to 3 MiB, each of them an object that can be created. */
export const largeBodies: readonly LargeBody[] = [
  { what: "typical", kind: "Free", body: typical("Free") },
  { what: "typical, with schema and rule", kind: "Ruled", body: typical("Ruled") },
  free("names that no object had before", (at) => `"name-${at}":${at}`, 65_000, "{}"),
  free("objects of many shapes", (at) => `{"a${at}":1,"b${at}":2}`, 32_000, "[]"),
  free("integers of 64 bits", () => "9007199254740993", 180_000, "[]"),
  {
    what: "small items of a list with keys",
    kind: "Typed",
    body: object("Typed", `{"replicas":1,"containers":[${repeat((at) => `{"name":"c${at}","image":"i"}`, 65_000)}]}`),
  },
];

/** A member for each of so many fields. */
export function fields(count: number, first: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`field-${at}`, first + at]));
}

function typical(kind: "Free" | "Ruled"): string {
  // Containers are longer than they are taken for, their numbers being longer than that of the first.
  return JSON.stringify(writtenObject(kind, { name: "w" }, 0.9 * MOST));
}

// biome-ignore lint/complexity/useMaxParams: a table row
function free(what: string, item: (at: number) => string, count: number, within: "{}" | "[]"): LargeBody {
  const [open, close] = within;
  return { what, kind: "Free", body: object("Free", `{"in":${open}${repeat(item, count)}${close}}`) };
}

function object(kind: string, spec: string): string {
  return `{"apiVersion":"bench.example/v1","kind":"${kind}","metadata":{"name":"w"},"spec":${spec}}`;
}

function repeat(item: (at: number) => string, count: number): string {
  return Array.from({ length: count }, (_, at) => item(at)).join(",");
}
