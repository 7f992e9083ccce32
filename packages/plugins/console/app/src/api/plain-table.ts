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
    const { columns, rows, order, remaining, state: phase, error, reload } = all.value;
    const found = order.find(rows, { columns, sort: query.sort ?? "Name", text: query.search?.toLowerCase() ?? "" });
    // While the list is read, the server says how many rows are left: of a search, nothing is known of these.
    const total = found.length + (query.search ? 0 : remaining);
    const page: TablePage = {
      columns,
      rows: found.slice(query.offset, query.offset + query.limit),
      total: phase === "loading" && rows.size === 0 ? undefined : total,
      source: "plain",
      state: phase,
      ...(error !== undefined && { error }),
      reload,
    };
    state.value = page;
  });
}

interface PlainRows {
  readonly columns: readonly Column[];
  /** By namespace and name. Another map after each change. */
  readonly rows: ReadonlyMap<string, Row>;
  /** Number of rows that the server has not sent yet. */
  readonly remaining: number;
  readonly order: SortedRows;
  readonly state: TablePage["state"];
  readonly error?: StatusError;
  readonly reload: () => void;
}

/** Objects of the first answer, which is soon there, and of the others, which are fewer requests. */
const [FIRST, CHUNK] = [500, 2_500];
/** Time in which changes are gathered, and between two looks at a list that is being read, in ms. */
const [GATHER, LOOK] = [300, 1_000];
/** Changed objects are read one by one, so many at a time, if there are at most `MOST_SINGLE`, or one among `SINGLE_OF`; else all objects are. */
const [SINGLE_AT_ONCE, MOST_SINGLE, SINGLE_OF] = [4, 10, 100];

/** All rows of a list, shared by its pages and sort orders. */
function plainRows({ workspace, resource, namespace = "", labels = "" }: TableQuery): ReadonlySignal<PlainRows> {
  const path = `${workspacePath(workspace)}/${resourcePath(resource, { namespace })}`;
  const target = { path, labels, objectPath: objectPathOf({ workspace, resource }) };
  const none = { columns: [], rows: new Map(), remaining: 0, order: new SortedRows(), state: "loading" } as const;
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
  const { order } = state.peek();
  let rows = new Map<string, Row>();
  const changed = new Set<string>();
  /** Deleted since the rows are read again: an answer may be older. */
  const deleted = new Set<string>();
  let phase: Pick<PlainRows, "state" | "error"> = { state: "loading" };
  let [columns, remaining, reads]: [readonly Column[], number, number] = [[], 0, 0];
  const show = () => {
    state.value = { columns, rows: new Map(rows), remaining, order, ...phase, reload: state.peek().reload };
  };
  const parameters = { labelSelector: labels };

  const readAll = async (signal: AbortSignal): Promise<string> => {
    const [isFirst, read] = [rows.size === 0, ++reads];
    const found = new Map<string, Row>();
    let [next, resourceVersion]: [string | undefined, string] = [undefined, ""];
    let looked = Number.NEGATIVE_INFINITY;
    do {
      const page = { ...parameters, limit: next === undefined ? FIRST : CHUNK, continue: next };
      const table: Table = await request(path, { parameters: page, accept: TABLE, signal });
      for (const row of table.rows ?? []) found.set(keyOf(row.object), slim(row));
      if (!isEqual(columns, table.columnDefinitions)) columns = table.columnDefinitions;
      next = table.metadata.continue || undefined;
      resourceVersion = table.metadata.resourceVersion ?? "";
      if (isFirst && next !== undefined && performance.now() > looked + LOOK) {
        [rows, remaining] = [found, table.metadata.remainingItemCount ?? 0];
        show();
        looked = performance.now();
      }
    } while (next !== undefined);
    for (const key of deleted) found.delete(key);
    // A later list is newer.
    if (read === reads) [rows, remaining] = [found, 0];
    return resourceVersion;
  };
  const readOne = async (key: string, to: Map<string, Row>, signal: AbortSignal): Promise<void> => {
    try {
      const table = await request<Table>(objectPath(key), { accept: TABLE, signal });
      if (deleted.has(key)) return;
      for (const row of table.rows ?? []) to.set(key, slim(row));
    } catch (error) {
      if (isStatusError(error) && error.code === 404) to.delete(key);
      else throw error;
    }
  };
  // Events have objects and no cells: a page cannot ask for Tables on a WebSocket.
  const again = new Soon(GATHER, async (signal) => {
    const [keys, to] = [[...changed], rows];
    changed.clear();
    deleted.clear();
    try {
      if (keys.length > Math.max(MOST_SINGLE, rows.size / SINGLE_OF)) await readAll(signal);
      else {
        const left = keys.values();
        const read = async (): Promise<void> => {
          for (const key of left) await readOne(key, to, signal);
        };
        await Promise.all(Array.from({ length: SINGLE_AT_ONCE }, read));
      }
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
      const key = keyOf(object);
      if (type === "DELETED") {
        rows.delete(key);
        changed.delete(key);
        deleted.add(key);
      } else {
        deleted.delete(key);
        changed.add(key);
      }
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

const isEqual = (a: readonly Column[], b: readonly Column[]): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Without its managed fields, which a table does not show. */
function slim(row: Row): Row {
  delete (row.object.metadata as { managedFields?: unknown }).managedFields;
  return row;
}

interface Entry {
  readonly key: string;
  readonly row: Row;
  readonly value: unknown;
  /** Cells in lower case, once they have been searched. */
  text?: string;
}

interface Order {
  readonly columns: readonly Column[];
  readonly sort: string;
  /** In lower case. */
  readonly text: string;
}

/** The rows of a list in the order of their last sort: a few changes among many rows cost little. */
class SortedRows {
  #entries: readonly Entry[] = [];
  #rows: ReadonlyMap<string, Row> = new Map();
  #columns: readonly Column[] = [];
  #sort = "";

  /** Sorts as query views do: numbers before texts, missing values last, ties by namespace and name. */
  find(rows: ReadonlyMap<string, Row>, { columns, sort, text }: Order): readonly Row[] {
    if (rows !== this.#rows || sort !== this.#sort || columns !== this.#columns) this.#read(rows, columns, sort);
    const found = text === "" ? this.#entries : this.#entries.filter((entry) => searched(entry).includes(text));
    return found.map(({ row }) => row);
  }

  #read(rows: ReadonlyMap<string, Row>, columns: readonly Column[], sort: string): void {
    const isReverse = sort.startsWith("-");
    const read = valueReader(columns, isReverse ? sort.slice(1) : sort);
    const isSame = sort === this.#sort && columns === this.#columns;
    // Almost sorted already, which makes the sort fast.
    const entries: Entry[] = [];
    const left = new Map(rows);
    for (const entry of this.#entries) {
      const row = left.get(entry.key);
      if (row === undefined) continue;
      left.delete(entry.key);
      entries.push(isSame && row === entry.row ? entry : { key: entry.key, row, value: read(row) });
    }
    for (const [key, row] of left) entries.push({ key, row, value: read(row) });
    entries.sort((a, b) => compareValues(a.value, b.value, isReverse) || compareNames(a.row, b.row));
    [this.#entries, this.#rows, this.#columns, this.#sort] = [entries, rows, columns, sort];
  }
}

function searched(entry: Entry): string {
  const { cells, object } = entry.row;
  entry.text ??= [object.metadata.name, object.metadata.namespace, ...cells].join("\n").toLowerCase();
  return entry.text;
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
