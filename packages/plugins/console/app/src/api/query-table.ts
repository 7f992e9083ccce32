import { type Parameters, queryPath, resourcePath } from "./base.ts";
import { request, TABLE } from "./client.ts";
import { Soon } from "./soon.ts";
import type { TableQuery, TableState } from "./table-query.ts";
import type { Table } from "./types.ts";
import { listAndWatch } from "./watch.ts";

/** Time from a change to the next answer, in milliseconds: many changes take one request. */
const GATHER = 200;

/**
 * Keeps one page of a query view. The watch of the window says when something on the page changes. Its events have objects and no cells,
 * because a page cannot ask for Tables on a WebSocket. So the page is then read again, once for many events. `onMissing` is called if the
 * server has no such query view, or the user no right to it.
 */
export function startQueryTable(state: TableState, query: TableQuery, onMissing?: () => void): () => void {
  const path = pathOf(query);
  const parameters = parametersOf(query);
  const read = async (signal: AbortSignal): Promise<Table> => {
    const counted = { ...parameters, countBy: query.countBy };
    const table = await request<Table>(path, { parameters: counted, accept: TABLE, signal });
    const counts = query.countBy === undefined ? undefined : table.metadata.query?.counts?.[query.countBy];
    state.value = {
      columns: table.columnDefinitions,
      rows: table.rows ?? [],
      total: table.metadata.query?.total ?? table.rows?.length ?? 0,
      ...(counts !== undefined && { counts }),
      unavailable: table.metadata.query?.unavailableShards ?? [],
      source: "query",
      state: "live",
      reload: state.peek().reload,
    };
    return table;
  };
  const again = new Soon(GATHER, async (signal) => {
    await read(signal).catch(() => {
      if (!signal.aborted) state.peek().reload();
    });
  });
  const stop = listAndWatch({
    path: () => path,
    parameters: () => parameters,
    async list(signal) {
      const { metadata } = await read(signal);
      return { resourceVersion: metadata.resourceVersion ?? "", parameters: { rights: metadata.query?.rights } };
    },
    onEvent: ({ type, query: change }) => {
      const { total } = state.peek();
      // A bookmark without another total says nothing about this page.
      if (type !== "BOOKMARK" || (change?.total !== undefined && change.total !== total)) again.schedule();
    },
    onState: ({ error, isFinal = false, isListed = false }) => {
      const isMissing = isFinal && !isListed && (error?.code === 403 || error?.code === 404);
      if (isMissing && onMissing !== undefined) return onMissing();
      const { error: _, ...before } = state.peek();
      if (error === undefined) state.value = { ...before, state: "live" };
      else state.value = { ...before, source: "query", state: isFinal ? "failed" : "retrying", error };
    },
  });
  return () => {
    again.stop();
    stop();
  };
}

function pathOf({ workspace, resource, namespace = "", isOverAll = false, identity = "" }: TableQuery): string {
  const name = isOverAll && identity !== "" ? `${resource.resource}:${identity}` : resource.resource;
  return `${queryPath(isOverAll ? "*" : workspace)}/${resourcePath({ ...resource, resource: name }, { namespace })}`;
}

function parametersOf({ sort, search, labels, filter, offset, limit }: TableQuery): Parameters {
  return { sortBy: sort ?? "Name", search, labelSelector: labels, filter, offset: offset || undefined, limit };
}
