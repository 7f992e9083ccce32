import { computed } from "@preact/signals";
import { onlyWorkspace } from "../api/session.ts";
import { type ShownObject, shownObjects } from "../panels/tree-objects.ts";
import { navigate, route, withQuery } from "../route.ts";
import {
  ancestorsOf,
  childWorkspaces,
  nameOf,
  shardOf,
  topOf,
  type Workspace,
  type WorkspaceList,
} from "./workspace.ts";

/** A visible row of the tree: a workspace, an object of a panel in it, or a note in place of the rows of an open workspace. */
export interface TreeRow {
  readonly kind: "workspace" | "object" | "note";
  /** Of the element in the document. */
  readonly id: string;
  /** Path of the workspace, and for a note that of the open workspace. */
  readonly path: string;
  readonly name: string;
  /** From 1. */
  readonly level: number;
  readonly position: number;
  readonly setSize: number;
  readonly isOpen: boolean;
  /** Undefined at the top of the tree. */
  readonly workspace?: Workspace;
  /** Of a note. */
  readonly list?: WorkspaceList;
  /** Of an object. */
  readonly shown?: ShownObject;
}

/** Id of the row of a workspace. */
export const rowId = (path: string): string => `workspace-${path}`;

/** An empty set in the address: no workspace is open. */
const NONE = "-";

/** Open workspaces: those of the address, or else the way to the current one. */
export const openPaths = computed<ReadonlySet<string>>(() => {
  const { query, workspace } = route.value;
  if (query.open === undefined) return new Set(["root", ...ancestorsOf(workspace).slice(0, -1), topOf(workspace)]);
  return new Set(query.open.split(","));
});

/** Tops of the tree: root, or the only workspace of the session, and that of the current workspace if it is elsewhere. */
const tops = computed(() => [...new Set([onlyWorkspace.value ?? "root", topOf(route.value.workspace)])]);

const search = computed(() => (route.value.query.find ?? "").trim().toLowerCase());

export const treeRows = computed<readonly TreeRow[]>(() => {
  const rows: TreeRow[] = [];
  tops.value.forEach((path, index) => {
    const row = { kind: "workspace", id: rowId(path), path, name: path, level: 1, setSize: tops.value.length } as const;
    addRow(rows, { ...row, position: index + 1, isOpen: openPaths.value.has(path) });
  });
  return rows;
});

/** Whether the open workspaces are on more than one shard: only then is it worth a place in each row. */
export const hasShards = computed(() => {
  const shards = treeRows.value.map(({ workspace }) => (workspace === undefined ? undefined : shardOf(workspace)));
  return new Set(shards.filter((shard) => shard !== undefined)).size > 1;
});

/** Number of workspaces that the search finds. */
export const foundCount = computed(() => {
  const text = search.value;
  return text === "" ? 0 : treeRows.value.filter((row) => row.kind === "workspace" && matches(row.name, text)).length;
});

/** Id of the first row that the search finds. */
export const firstFound = computed(
  () => treeRows.value.find((row) => row.kind === "workspace" && matches(row.name, search.value))?.id,
);

const matches = (name: string, text: string): boolean => name.toLowerCase().includes(text);

/** Adds a row and those below it. Returns whether it or one below it is found. */
function addRow(rows: TreeRow[], row: TreeRow): boolean {
  const text = search.value;
  const isFound = text === "" || matches(row.name, text);
  const before = rows.length;
  rows.push(row);
  const isFoundBelow = row.isOpen && addChildren(rows, row);
  if (isFound || isFoundBelow || row.level === 1) return isFound || isFoundBelow;
  rows.length = before;
  return false;
}

function addChildren(rows: TreeRow[], { path, level, workspace }: TreeRow): boolean {
  const list = childWorkspaces(path).value;
  const shown = shownObjects(path, workspace?.spec?.cluster);
  const setSize = list.items.length + shown.length;
  const open = openPaths.value;
  let isFound = false;
  list.items.forEach((childWorkspace, index) => {
    const { name } = childWorkspace.metadata;
    const child = `${path}:${name}`;
    const row: TreeRow = {
      kind: "workspace",
      id: rowId(child),
      path: child,
      name,
      level: level + 1,
      position: index + 1,
      setSize,
      workspace: childWorkspace,
      isOpen: open.has(child),
    };
    if (addRow(rows, row)) isFound = true;
  });
  shown.forEach((object, index) => {
    const id = `object-${path}-${object.panel.name}-${object.namespace}-${object.name}`;
    const place = { level: level + 1, position: list.items.length + index + 1, setSize };
    const row: TreeRow = { kind: "object", id, path, name: object.name, ...place, isOpen: false, shown: object };
    if (addRow(rows, row)) isFound = true;
  });
  if ((setSize === 0 && search.value === "") || list.error !== undefined)
    rows.push({
      kind: "note",
      id: `note-${path}`,
      path,
      name: "",
      level: level + 1,
      position: 1,
      setSize: 1,
      isOpen: false,
      list,
    });
  return isFound;
}

/** Opens or closes a workspace in the tree. */
export function setOpen(path: string, isOpen: boolean): void {
  const next = new Set(openPaths.peek());
  next.delete(NONE);
  if (isOpen) next.add(path);
  else for (const one of [...next]) if (one === path || one.startsWith(`${path}:`)) next.delete(one);
  navigate(withQuery(route.peek(), { open: [...next].sort().join(",") || NONE }), { replace: true });
}

/** Opens the way to a workspace. */
export function reveal(path: string): void {
  const next = new Set(openPaths.peek());
  const closed = ancestorsOf(path)
    .slice(0, -1)
    .filter((one) => !next.has(one));
  if (closed.length === 0) return;
  next.delete(NONE);
  for (const one of closed) next.add(one);
  navigate(withQuery(route.peek(), { open: [...next].sort().join(",") }), { replace: true });
}

/** The Workspace object of a path, from the list of its parent; undefined while that is unknown. */
export const workspaceAt = (parent: string, path: string): Workspace | undefined =>
  childWorkspaces(parent).value.items.find(({ metadata }) => metadata.name === nameOf(path));
