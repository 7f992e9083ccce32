import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { type Field, fieldOf } from "./fields.ts";

/** A part of a sorted list: `limit` objects from `offset` on. */
export interface Window {
  readonly offset: number;
  /** Maximum number of objects. @default all */
  readonly limit: number | undefined;
}

/** A field to sort by. */
export interface SortTerm {
  readonly field: Field;
  readonly descending: boolean;
}

/** Parameters of a request besides Kubernetes' own parameters. */
export interface Query {
  readonly sort: readonly SortTerm[];
  /** CEL expression over `object`, "" for none. */
  readonly filter: string;
  /** Text to find in the columns, in lower case, "" for none. */
  readonly search: string;
  /** Fields whose values are counted, by their texts. */
  readonly counts: ReadonlyMap<string, Field>;
  /** Columns of a Table, in order. @default those of the kind */
  readonly columns: readonly Field[] | undefined;
  readonly window: Window;
  /** Window that the client of a watch holds; it gets the differences. @default `window` */
  readonly held: Window | undefined;
  /** Rights of the list that the client of a watch has, as its `metadata.query.rights`. @default unknown */
  readonly rights: string | undefined;
  /** Text that is equal for queries that select and sort the same objects in the same order. */
  readonly key: string;
}

/** Query parameters of query views. */
const PARAMETERS = [
  "sortBy",
  "filter",
  "search",
  "countBy",
  "columns",
  "offset",
  "heldOffset",
  "heldLimit",
  "rights",
] as const;

/** Longest text of a parameter, in characters. */
const LONGEST = { sortBy: 1024, filter: 8192, search: 256, countBy: 1024, columns: 4096 } as const;
const MOST = { sortBy: 4, countBy: 4, columns: 32 } as const;
/** Maximum number of objects in a window that a watch follows. */
export const LARGEST_WINDOW = 1000;

/** Whether a request has parameters of query views. */
export function isQuery(parameters: URLSearchParams): boolean {
  return PARAMETERS.some((name) => parameters.has(name));
}

/** Parses the parameters of a request. @throws ApiError 400 that names the parameter and the remedy */
export function parseQuery(definition: ResourceDefinition, parameters: URLSearchParams): Query {
  const sortTexts = listOf(parameters, "sortBy");
  const filter = textOf(parameters, "filter").trim();
  const search = textOf(parameters, "search").trim().toLowerCase();
  const columns = listOf(parameters, "columns");
  const window = { offset: numberOf(parameters, "offset") ?? 0, limit: numberOf(parameters, "limit") || undefined };
  return {
    sort: sortTexts.map((text) => {
      const descending = text.startsWith("-");
      return { field: fieldOf(definition, descending ? text.slice(1) : text, "sortBy"), descending };
    }),
    filter,
    search,
    counts: new Map(listOf(parameters, "countBy").map((text) => [text, fieldOf(definition, text, "countBy")])),
    columns: columns.length === 0 ? undefined : columns.map((text) => fieldOf(definition, text, "columns")),
    window,
    held: heldOf(parameters),
    rights: parameters.get("rights") ?? undefined,
    key: JSON.stringify([sortTexts, filter, search]),
  };
}

function heldOf(parameters: URLSearchParams): Window | undefined {
  const offset = numberOf(parameters, "heldOffset");
  const limit = numberOf(parameters, "heldLimit");
  if (offset === undefined && limit === undefined) return undefined;
  if (offset === undefined || limit === undefined || limit === 0)
    throw ApiError.badRequest("invalid heldOffset or heldLimit: set both, to the window that the client holds");
  const version = parameters.get("resourceVersion") ?? "0";
  if (version === "0" || version === "")
    throw ApiError.badRequest(
      "invalid heldOffset: set resourceVersion to the version of the window that the client holds",
    );
  if (limit > LARGEST_WINDOW)
    throw ApiError.badRequest(`invalid heldLimit: a watch follows at most ${LARGEST_WINDOW} objects`);
  return { offset, limit };
}

function textOf(parameters: URLSearchParams, name: keyof typeof LONGEST): string {
  const text = parameters.get(name) ?? "";
  if (text.length > LONGEST[name])
    throw ApiError.badRequest(`invalid ${name}: it has ${text.length} characters, use at most ${LONGEST[name]}`);
  return text;
}

/** Splits at commas outside of brackets, parentheses and quotes, as in `.status.conditions[?(@.type=="Ready")].status,.metadata.name`. */
function listOf(parameters: URLSearchParams, name: keyof typeof MOST): readonly string[] {
  const text = textOf(parameters, name);
  const parts = (text.match(/(?:\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|\\.|[^,])+/gs) ?? []).map((part) => part.trim());
  const named = parts.filter((part) => part !== "");
  if (named.length > MOST[name])
    throw ApiError.badRequest(`invalid ${name}: it names ${named.length} fields, use at most ${MOST[name]}`);
  return named;
}

function numberOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{1,9}$/.test(text))
    throw ApiError.badRequest(`invalid ${name} ${JSON.stringify(text)}: use a number from 0 to 999999999`);
  return Number(text);
}
