import {
  apiVersionOf,
  formatGroupResource,
  isApiError,
  isJsonObject,
  type JsonObject,
} from "@virtual-workspaces/apimachinery";
import type { DiscoveredKind } from "@virtual-workspaces/client";
import { Failure, UsageError } from "../process/failure.ts";
import type { WsCommand, WsFlags } from "./flags.ts";
import { note, say } from "./session/output.ts";
import { ask, ConcurrencyLimit, refusal } from "./session/requests.ts";
import type { Session } from "./session/session.ts";
import { ownPaths, problemsIn, readTree } from "./tree/nodes.ts";

/** Maximum number of concurrent requests. */
const AT_ONCE = 8;
const FORMATS: readonly string[] = ["", "wide", "name", "json", "yaml"];

export const get: WsCommand = {
  words: [1, 1],
  async run(session, [resource = ""], values) {
    const { recursive, output = "" } = values;
    if (recursive !== true) throw new UsageError("--recursive is required: for a single workspace, use kubectl get");
    if (!FORMATS.includes(output))
      throw new UsageError(`invalid value "${output}" for --output: use wide, name, json or yaml`);
    const tree = await readTree(session, session.pathOf(values.workspace));
    for (const { path, problem } of problemsIn(tree)) note(`cannot list the workspaces in ${path}: ${problem}`);
    const found = await lookedFor(session, ownPaths(tree), { resource, values });
    await show(found, { values, path: tree.path });
  },
};

interface Search {
  readonly resource: string;
  readonly values: WsFlags;
}

/** Searches workspaces, and keeps their order. @throws Failure when none of them has the kind */
async function lookedFor(session: Session, paths: readonly string[], search: Search): Promise<readonly Found[]> {
  const atOnce = new ConcurrencyLimit(AT_ONCE);
  const answers = await Promise.all(paths.map((path) => atOnce.run(() => foundIn(session, path, search))));
  const found = answers.filter((one) => one !== undefined);
  if (found.length > 0) return found;
  throw new Failure(`no workspace here has a resource ${JSON.stringify(search.resource)} that you may list`);
}

/** Searches one workspace. Returns `undefined` if it has no such kind, or denies access, which is printed. */
async function foundIn(session: Session, path: string, { resource, values }: Search): Promise<Found | undefined> {
  try {
    // Workspaces may have different versions of a kind, or different kinds of that name.
    const kind = await session.client(path).discovery().findResource(resource, session.patience);
    if (kind === undefined) return undefined;
    return { path, kind, pages: await pagesOf(session, path, askedOf(session, kind, values)) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (!isUnserved(error)) note(`${path}: ${error.message}`);
    return undefined;
  }
}

function askedOf(session: Session, kind: DiscoveredKind, values: WsFlags): ListQuery {
  const { output = "", selector: labels } = values;
  const as = output === "" || output === "wide" ? "Table" : "objects";
  return { kind, namespace: values["all-namespaces"] ? "" : session.namespace, labels, as };
}

async function show(
  found: readonly Found[],
  { values, path }: { readonly values: WsFlags; readonly path: string },
): Promise<void> {
  const { output = "" } = values;
  if (output === "json" || output === "yaml") {
    const list = { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items: found.flatMap(objectsOf) };
    if (output === "json") say(JSON.stringify(list, undefined, 4));
    else say((await import("yaml")).stringify(list, { version: "1.1" }).trimEnd());
  } else if (found.every((one) => objectsOf(one).length === 0)) note(`No resources found in ${path} and below.`);
  else if (output === "name") {
    for (const one of found) for (const object of objectsOf(one)) say(`${one.path} ${nameOf(one.kind, object)}`);
  } else {
    const namespaces = values["all-namespaces"] === true && found.some(({ kind }) => kind.scope === "Namespaced");
    say(tableOf(found, { wide: output === "wide", namespaces }));
  }
}

/** Formats a name as kubectl does: `deployment.apps/web`. */
function nameOf({ group, singular, kind }: DiscoveredKind, { metadata }: JsonObject): string {
  const resource = formatGroupResource({ group, resource: singular || kind.toLowerCase() });
  return `${resource}/${isJsonObject(metadata) ? metadata["name"] : ""}`;
}

/** Query for each workspace. */
interface ListQuery {
  readonly kind: DiscoveredKind;
  /** Namespace; "" for all. */
  readonly namespace: string;
  readonly labels: string | undefined;
  /** Format of the answer: tables for people, or objects. */
  readonly as: "Table" | "objects";
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json";
/** Objects per page. */
const PAGE = "500";

/** Reads all pages of a list in one workspace. @throws ApiError, TransportError */
async function pagesOf(session: Session, path: string, asked: ListQuery): Promise<readonly JsonObject[]> {
  const pages: JsonObject[] = [];
  let more = "";
  do {
    const page = await pageOf(session, `/clusters/${path}${listPath(asked)}${queryOf(asked, more)}`, asked.as);
    pages.push(page);
    const { metadata } = page;
    more = isJsonObject(metadata) && typeof metadata["continue"] === "string" ? metadata["continue"] : "";
  } while (more !== "");
  return pages;
}

async function pageOf(session: Session, path: string, as: ListQuery["as"]): Promise<JsonObject> {
  const answer = await ask(session, path, as === "Table" ? TABLE : "application/json");
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  throw refusal(path, answer);
}

function listPath({ kind: { group, version, plural, scope }, namespace }: ListQuery): string {
  const within = scope === "Namespaced" && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}${within}/${plural}`;
}

function queryOf({ labels, as }: ListQuery, more: string): string {
  const query = new URLSearchParams({ limit: PAGE });
  if (labels !== undefined) query.set("labelSelector", labels);
  if (as === "Table") query.set("includeObject", "Metadata");
  if (more !== "") query.set("continue", more);
  return `?${query}`;
}

/** Returns whether the error means that the resource is not served. */
function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}

/** Result of one workspace. */
interface Found {
  readonly path: string;
  readonly kind: DiscoveredKind;
  /** Tables or lists. */
  readonly pages: readonly JsonObject[];
}

interface TableOptions {
  /** Whether to show columns of lower priority. */
  readonly wide: boolean;
  /** Whether to show namespaces. */
  readonly namespaces: boolean;
}

interface Column {
  readonly name: string;
  readonly priority: number;
}

const NONE = "<none>";

/**
 * Merges the tables of several workspaces as kubectl prints them: first the workspace, then the columns of all tables.
 * Missing cells are `<none>`.
 */
function tableOf(found: readonly Found[], { wide, namespaces }: TableOptions): string {
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

/** Formats a cell on one line. */
function cellOf(value: unknown): string {
  return value === undefined || value === null ? NONE : String(value).replaceAll("\n", "\\n");
}

/** Returns the objects of lists, whose items may lack their kind, or the rows of tables. */
function objectsOf({ kind: { kind, ...gv }, pages }: Found): readonly JsonObject[] {
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

/** Aligns columns with three spaces in between, like kubectl. */
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
