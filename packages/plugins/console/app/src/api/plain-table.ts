import { effect, type ReadonlySignal, type Signal } from "@preact/signals";
import { resourcePath, workspacePath } from "./base.ts";
import { isStatusError, request, type StatusError, TABLE } from "./client.ts";
import { reloadable } from "./shared.ts";
import { Soon } from "./soon.ts";
import type { Row, TablePage, TableQuery, TableState } from "./table-query.ts";
import { type Column, clusterOf, type Table } from "./types.ts";
import { listAndWatch } from "./watch.ts";

/** Shows one page of all rows: of a server without query views. */
export function startPlainTable(state: TableState, query: TableQuery): () => void {
  const all = plainRows(query);
  return effect(() => {
    const { columns, rows, state: phase, error, reload } = all.value;
    const text = query.search?.toLowerCase() ?? "";
    const found = text === "" ? rows : rows.filter((row) => matches(row, text));
    const sorted = sortRows(found, columns, query.sort);
    const page: TablePage = {
      columns,
      rows: sorted.slice(query.offset, query.offset + query.limit),
      total: phase === "loading" && rows.length === 0 ? undefined : found.length,
      source: "plain",
      state: phase,
      ...(error !== undefined && { error }),
      reload,
    };
    state.value = page;
  });
}

const matches = ({ cells, object }: Row, text: string): boolean =>
  [object.metadata.name, object.metadata.namespace, ...cells].some((cell) =>
    String(cell ?? "")
      .toLowerCase()
      .includes(text),
  );

interface PlainRows {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly state: TablePage["state"];
  readonly error?: StatusError;
  readonly reload: () => void;
}

const CHUNK = 500;
const GATHER = 300;
/** More changed objects than these are not read one by one. */
const MOST_SINGLE = 10;

/** All rows of a list, shared by its pages and sort orders. */
function plainRows({ workspace, resource, namespace = "", labels = "" }: TableQuery): ReadonlySignal<PlainRows> {
  const path = `${workspacePath(workspace)}/${resourcePath(resource, { namespace })}`;
  const target = { path, labels, objectPath: objectPathOf({ workspace, resource }) };
  const none = { columns: [], rows: [], state: "loading" } as const;
  return reloadable<PlainRows>(`rows ${path} ${labels}`, none, (state) => startRows(state, target));
}

const objectPathOf =
  ({ workspace, resource }: Pick<TableQuery, "workspace" | "resource">) =>
  (key: string): string => {
    const [namespace = "", name = ""] = key.split("/");
    return `${workspacePath(workspace)}/${resourcePath(resource, { namespace, name })}`;
  };

interface Target {
  readonly path: string;
  readonly labels: string;
  readonly objectPath: (key: string) => string;
}

const keyOf = ({ metadata }: Row["object"]): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function startRows(state: Signal<PlainRows>, { path, labels, objectPath }: Target): () => void {
  const rows = new Map<string, Row>();
  const changed = new Set<string>();
  let phase: Pick<PlainRows, "state" | "error"> = { state: "loading" };
  let columns: readonly Column[] = [];
  const show = () => {
    state.value = { columns, rows: [...rows.values()], ...phase, reload: state.peek().reload };
  };
  const parameters = { labelSelector: labels };

  const readAll = async (signal: AbortSignal): Promise<string> => {
    const found: Row[] = [];
    let [next, resourceVersion]: [string | undefined, string] = [undefined, ""];
    do {
      const page = { ...parameters, limit: CHUNK, continue: next };
      const table: Table = await request(path, { parameters: page, accept: TABLE, signal });
      found.push(...(table.rows ?? []));
      [columns, next] = [table.columnDefinitions, table.metadata.continue || undefined];
      resourceVersion = table.metadata.resourceVersion ?? "";
    } while (next !== undefined);
    rows.clear();
    for (const row of found) rows.set(keyOf(row.object), row);
    return resourceVersion;
  };
  const readOne = async (key: string, signal: AbortSignal): Promise<void> => {
    try {
      const table = await request<Table>(objectPath(key), { accept: TABLE, signal });
      for (const row of table.rows ?? []) rows.set(key, row);
    } catch (error) {
      if (isStatusError(error) && error.code === 404) rows.delete(key);
      else throw error;
    }
  };
  // Events have objects and no cells: a page cannot ask for Tables on a WebSocket.
  const again = new Soon(GATHER, async (signal) => {
    const keys = [...changed];
    changed.clear();
    try {
      if (keys.length > MOST_SINGLE) await readAll(signal);
      else await Promise.all(keys.map((key) => readOne(key, signal)));
      show();
    } catch {
      if (!signal.aborted) state.peek().reload();
    }
  });
  const stop = listAndWatch({
    path: () => path,
    parameters: () => parameters,
    async list(signal) {
      const resourceVersion = await readAll(signal);
      phase = { state: "live" };
      show();
      return { resourceVersion };
    },
    onEvent({ type, object }) {
      if (type === "BOOKMARK") return;
      if (type === "DELETED") rows.delete(keyOf(object));
      else changed.add(keyOf(object));
      again.schedule();
    },
    onState({ error, isFinal = false }) {
      phase = error === undefined ? { state: "live" } : { state: isFinal ? "failed" : "retrying", error };
      show();
    },
  });
  return () => {
    again.stop();
    stop();
  };
}

/** Sorts as query views do: numbers before texts, missing values last, ties by namespace and name. */
function sortRows(rows: readonly Row[], columns: readonly Column[], sort = "Name"): Row[] {
  const isReverse = sort.startsWith("-");
  const read = valueReader(columns, isReverse ? sort.slice(1) : sort);
  return rows
    .map((row) => ({ row, value: read(row) }))
    .sort((a, b) => compareValues(a.value, b.value, isReverse) || compareNames(a.row, b.row))
    .map(({ row }) => row);
}

function valueReader(columns: readonly Column[], field: string): (row: Row) => unknown {
  if (field === "Age") return ({ object }) => object.metadata.creationTimestamp;
  const index = columns.findIndex(({ name }) => name === field);
  if (index >= 0) return ({ cells }) => cells[index];
  if (field === "Namespace") return ({ object }) => object.metadata.namespace;
  if (field === "Cluster") return ({ object }) => clusterOf(object);
  return ({ object }) => object.metadata.name;
}

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

function compareValues(a: unknown, b: unknown, isReverse: boolean): number {
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  const order =
    typeof a === "number" && typeof b === "number"
      ? a - b
      : typeof a === "number"
        ? -1
        : typeof b === "number"
          ? 1
          : compareTexts(String(a), String(b));
  return isReverse ? -order : order;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareNames = ({ object: { metadata: a } }: Row, { object: { metadata: b } }: Row): number =>
  compareTexts(a.namespace ?? "", b.namespace ?? "") || compareTexts(a.name, b.name);
