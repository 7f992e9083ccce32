import { queryPath, type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import type { StatusError } from "../api/client.ts";
import { type LiveList, liveList } from "../api/live-list.ts";
import type { KubernetesObject } from "../api/types.ts";

export interface Found<T> {
  readonly items: readonly T[];
  readonly isLoading: boolean;
  /** Of the first list that failed, if no list has answered. */
  readonly error?: StatusError;
  /** Of a list that exists and that the user may read, which the server does not answer now: items may be missing. */
  readonly trouble?: StatusError;
  /** The server has no view over all workspaces, or the user has no right to it: the rest may be incomplete. */
  readonly isPartial: boolean;
  /** Shards that the server has searched, if it has several. */
  readonly shards: readonly string[];
  /** Shards whose objects may be missing or out of date. */
  readonly unavailable: readonly string[];
}

/** Objects of a workspace, live. To be read while a component is rendered. */
export const inWorkspace = <T extends KubernetesObject>(workspace: string, id: ResourceId): LiveList<T> =>
  liveList<T>(`${workspacePath(workspace)}/${resourcePath(id)}`).value;

/**
 * Objects of all workspaces in which the user may list them, live, and those of `others`, each once. To be read while a component is
 * rendered.
 *
 * `filter` is a CEL expression over `object`; `others` are paths of further lists.
 */
export function everywhere<T extends KubernetesObject>(
  id: ResourceId,
  { filter, others = [] }: { readonly filter?: string; readonly others?: readonly string[] } = {},
): Found<T> {
  const all = liveList<T>(`${queryPath("*")}/${resourcePath(id)}`, { filter }).value;
  const lists = [all, ...others.map((path) => liveList<T>(path).value)];
  const byUid = new Map<string, T>();
  for (const { items } of lists.toReversed()) for (const one of items) byUid.set(one.metadata.uid ?? "", one);
  const error = lists.every(({ state }) => state === "failed") ? lists[0]?.error : undefined;
  const trouble = lists.find((one) => one.error?.isTransient)?.error;
  return {
    items: [...byUid.values()],
    isLoading: lists.some(({ state }) => state === "loading"),
    isPartial: all.state === "failed",
    shards: all.shards ?? [],
    unavailable: all.unavailable ?? [],
    ...(error !== undefined && { error }),
    ...(trouble !== undefined && { trouble }),
  };
}

/** A text of a CEL expression. */
export const celText = (text: string): string => JSON.stringify(text);
