import { apiVersionOf, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { DiscoveredKind } from "@virtual-workspaces/client";

/** What one workspace has. */
export interface Found {
  readonly path: string;
  readonly kind: DiscoveredKind;
  /** Tables, or lists. */
  readonly pages: readonly JsonObject[];
}

export interface TableOptions {
  /** Columns of less weight as well. */
  readonly wide: boolean;
  /** Whose namespaces are told. */
  readonly namespaces: boolean;
}

interface Column {
  readonly name: string;
  readonly priority: number;
}

const NONE = "<none>";

/**
 * The tables of several workspaces as one, as kubectl prints one: the workspace first, then all columns that any of them has. A cell
 * of a column that a workspace does not have is `<none>`.
 */
export function tableOf(found: readonly Found[], { wide, namespaces }: TableOptions): string {
  const names = [...new Set(found.flatMap(({ pages }) => pages.flatMap((page) => shownIn(page, wide))))];
  const heads = ["WORKSPACE", ...(namespaces ? ["NAMESPACE"] : []), ...names.map((name) => name.toUpperCase())];
  const rows = found.flatMap(({ path, pages }) =>
    pages.flatMap((page) =>
      rowsIn(page).map(({ cells, namespace }) => [
        path,
        ...(namespaces ? [namespace] : []),
        ...names.map((name) => cells.get(name) ?? NONE),
      ]),
    ),
  );
  return aligned([heads, ...rows]);
}

function columnsIn(page: JsonObject): readonly Column[] {
  return objectsIn(page, "columnDefinitions").map(({ name, priority }) => ({
    name: typeof name === "string" ? name : "",
    priority: typeof priority === "number" ? priority : 0,
  }));
}

function shownIn(page: JsonObject, wide: boolean): readonly string[] {
  return columnsIn(page)
    .filter(({ priority }) => wide || priority === 0)
    .map(({ name }) => name);
}

function rowsIn(page: JsonObject): { readonly cells: ReadonlyMap<string, string>; readonly namespace: string }[] {
  const columns = columnsIn(page);
  return objectsIn(page, "rows").map((row) => {
    const values = Array.isArray(row["cells"]) ? row["cells"] : [];
    const { object } = row;
    const metadata = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"] : {};
    const { namespace } = metadata;
    return {
      cells: new Map(columns.map(({ name }, at) => [name, cellOf(values[at])])),
      namespace: typeof namespace === "string" ? namespace : NONE,
    };
  });
}

/** On one line. */
function cellOf(value: unknown): string {
  return value === undefined || value === null ? NONE : String(value).replaceAll("\n", "\\n");
}

/** The objects of lists, which need not say their kind, or the rows of tables. */
export function objectsOf({ kind: { kind, ...gv }, pages }: Found): readonly JsonObject[] {
  const apiVersion = apiVersionOf(gv);
  return pages.flatMap((page) => [
    ...objectsIn(page, "items").map((item) => ({ apiVersion, kind, ...item })),
    ...objectsIn(page, "rows"),
  ]);
}

function objectsIn(object: JsonObject, field: string): readonly JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Three spaces between, as kubectl's printer has it. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd((widths[at] ?? 0) + 3))
        .join("")
        .trimEnd(),
    )
    .join("\n");
}
