import { HOME_PATH_PREFIX, homeClusterName } from "../names/names.ts";
import { hashesOf } from "./by-path.ts";
import type { Graph } from "./graph.ts";
import type { Link } from "./nodes.ts";
import { type ClusterNode, OddWorkspace, targetOf, workspaceIn, workspaceKey } from "./nodes.ts";
import type { FoundWorkspace, Lookup, UnreachableWorkspace } from "./types.ts";

const SEPARATOR = ":";
const SYSTEM = "system:";
const HOME_PREFIX = `${HOME_PATH_PREFIX}:`;

type Absence = UnreachableWorkspace["kind"];
const ABSENCES: Readonly<Record<Absence, string>> = {
  unknown: "is not known",
  pending: "is not ready yet: try again later",
  gone: "was deleted",
};

/** Returns the end of the name that starts here. */
function endOf(path: string, start: number): number {
  const colon = path.indexOf(SEPARATOR, start);
  return colon < 0 ? path.length : colon;
}

/** Returns the logical cluster name at the start of a path, and its end. */
function begin(path: string): { first: string; end: number } {
  if (path.startsWith(SYSTEM)) return { first: path, end: path.length };
  const end = endOf(path, 0);
  const first = path.slice(0, end);
  if (first !== HOME_PATH_PREFIX || end === path.length) return { first, end };
  const userEnd = endOf(path, end + 1);
  return { first: homeClusterName(path.slice(end + 1, userEnd)), end: userEnd };
}

/**
 * Looks up a path. The hash table mostly has the whole path, or the parent's for a mount or a missing workspace. From there, or
 * from its start, the lookup goes down name by name.
 */
export function lookup(graph: Graph, path: string): Lookup {
  const last = path.lastIndexOf(SEPARATOR);
  if (last > 0 && !path.startsWith(SYSTEM) && !path.startsWith(HOME_PREFIX)) {
    const { whole, above } = hashesOf(path, last);
    const node = graph.byPath.find(path, { hash: whole, end: path.length });
    if (node !== undefined) return foundCluster(graph, node, path);
    const parent = graph.byPath.find(path, { hash: above, end: last });
    if (parent !== undefined) return goDown(graph, path, { node: parent, end: last });
  }
  const { first, end } = begin(path);
  const node = graph.clusters.get(first);
  if (node?.shard === undefined) return unreachable(absence(graph, first), path.slice(0, end));
  return goDown(graph, path, { node, end });
}

/** Walks down a path, in time proportional to its existing names. */
function goDown(graph: Graph, path: string, from: { readonly node: ClusterNode; readonly end: number }): Lookup {
  let { node, end } = from;
  let unavailable: string | undefined;
  while (end < path.length) {
    const start = end + 1;
    end = endOf(path, start);
    const name = path.slice(start, end);
    const entry = workspaceIn(node, name);
    if (entry === undefined) return unreachable(absenceIn(node, name), path.slice(0, end));
    if (entry instanceof OddWorkspace && entry.unavailable) unavailable = path.slice(0, end);
    const target = targetOf(entry);
    if (entry instanceof OddWorkspace && entry.mountURL !== undefined)
      return unavailable === undefined
        ? foundMount(graph, { link: { parent: node, name }, url: entry.mountURL, rest: path.slice(end + 1) })
        : outOfOrder(unavailable);
    if (target?.shard === undefined)
      return unreachable(target === undefined ? "pending" : absence(graph, target.name), path.slice(0, end));
    node = target;
  }
  return unavailable === undefined ? foundCluster(graph, node, path) : outOfOrder(unavailable);
}

/** Returns why no shard has a logical cluster with this name. */
function absence(graph: Graph, name: string): Absence {
  for (const { deleted } of graph.shards.values()) if (deleted.has(name)) return "gone";
  return graph.clusters.has(name) ? "pending" : "unknown";
}

/** Returns why a workspace with this name does not exist. */
const absenceIn = ({ name: cluster, shard }: ClusterNode, name: string): Absence =>
  shard?.deleted.has(workspaceKey(cluster, name)) ? "gone" : "unknown";

function unreachable(kind: Absence, path: string): Lookup {
  return { kind, reason: `workspace ${path} ${ABSENCES[kind]}` };
}

function outOfOrder(path: string): Lookup {
  return { kind: "unavailable", code: 503, reason: `workspace ${path} is not available: try again later` };
}

function foundCluster(graph: Graph, node: ClusterNode, path: string): Lookup {
  const { name: cluster, shard, type } = node;
  if (shard?.urls === undefined) return unreachable("pending", path);
  const { baseURL, virtualWorkspaceURL } = shard.urls;
  return {
    kind: "cluster",
    cluster,
    shard: shard.name,
    baseURL,
    virtualWorkspaceURL,
    path: pathOf(graph, node),
    type: type?.text,
  };
}

function foundMount(graph: Graph, { link, url, rest }: { link: Link; url: string; rest: string }): Lookup {
  const workspace = workspaceOf(link);
  const path = `${pathOf(graph, link.parent)}${SEPARATOR}${link.name}`;
  if (workspace === undefined) return unreachable("pending", path);
  return { kind: "mount", url, workspace, path, rest };
}

/** Returns the public form of a workspace; undefined if no shard has its logical cluster. */
export function workspaceOf({ parent, name }: Link): FoundWorkspace | undefined {
  return parent.shard === undefined ? undefined : { cluster: parent.name, name, shard: parent.shard.name };
}

/** Returns the first by name of the workspaces that count, so that the result does not depend on their order. */
export function linkOf(graph: Graph, node: ClusterNode): Link | undefined {
  let first: Link | undefined;
  for (const link of graph.links(node)) {
    const counts = targetOf(workspaceIn(link.parent, link.name)) === node;
    if (counts && (first === undefined || isBefore(link, first))) first = link;
  }
  return first;
}

const isBefore = (a: Link, b: Link): boolean =>
  a.parent === b.parent ? a.name < b.name : a.parent.name < b.parent.name;

/** Returns the canonical path: the shard's, else that of the workspaces, else the name. */
export function pathOf(graph: Graph, node: ClusterNode): string {
  const said = saidPath(node);
  if (said !== undefined) return said;
  const names: string[] = [];
  let mark: ClusterNode | undefined;
  for (let at = node; ; ) {
    const link = saidPath(at) === undefined ? linkOf(graph, at) : undefined;
    if (link === undefined) return [saidPath(at) ?? at.name, ...names.reverse()].join(SEPARATOR);
    // A cycle of workspaces has no path: the walk meets the mark again at some point (Brent's algorithm).
    if (at === mark) return node.name;
    if ((names.length & (names.length - 1)) === 0) mark = at;
    names.push(link.name);
    at = link.parent;
  }
}

const saidPath = ({ prefix, base }: ClusterNode): string | undefined =>
  base === undefined || prefix === undefined ? base : `${prefix.text}${SEPARATOR}${base}`;
