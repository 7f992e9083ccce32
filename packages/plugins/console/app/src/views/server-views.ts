import { useEffect, useState } from "preact/hooks";
import { apiUrl } from "../api/base.ts";
import { asStatusError, request, type StatusError } from "../api/client.ts";

/** A virtual workspace of the server. */
export interface ServerView {
  readonly name: string;
  /** With parameters in braces; undefined if the user may not read it. */
  readonly path?: string;
  /** Paths that lead to other servers: the view is no API of its own. */
  readonly mappedPaths?: readonly string[];
  /** Undefined if the server does not say. */
  readonly isReady?: boolean;
}

export interface ServerViews {
  readonly views: readonly ServerView[];
  readonly isLoading: boolean;
  /** Why there are no paths. */
  readonly error?: StatusError;
  readonly reload: () => void;
}

interface Statusz {
  readonly virtualWorkspaces?: readonly (Pick<ServerView, "name" | "mappedPaths"> & { readonly path: string })[];
}

const STATUSZ = "application/json;as=Statusz;v=v1beta1;g=config.k8s.io";
/** Checks of `/readyz` that are no views. */
const NO_VIEWS: ReadonlySet<string> = new Set(["shutdown", "ping", "store", "shards"]);

/** Reads the virtual workspaces of the server: their paths from `/statusz`, and their state from `/readyz`, which anyone may read. */
async function readViews(stop: AbortSignal): Promise<Omit<ServerViews, "reload" | "isLoading">> {
  const [listed, checks] = await Promise.all([
    request<Statusz>("statusz", { accept: STATUSZ, signal: stop, keepsSession: true }).catch(asStatusError),
    readChecks(stop),
  ]);
  stop.throwIfAborted();
  if (listed instanceof Error || listed.virtualWorkspaces === undefined) {
    const named = [...checks].filter(([name]) => !NO_VIEWS.has(name)).map(([name, isReady]) => ({ name, isReady }));
    return { views: named, ...(listed instanceof Error && { error: listed }) };
  }
  const views = listed.virtualWorkspaces.map((view) => {
    const isReady = checks.get(view.name);
    return { ...view, ...(isReady !== undefined && { isReady }) };
  });
  return { views };
}

/** Reads the checks of the server. It answers 503 with the same text while one fails. */
async function readChecks(stop: AbortSignal): Promise<ReadonlyMap<string, boolean>> {
  try {
    const answer = await fetch(apiUrl("readyz", { verbose: true }), { signal: stop, cache: "no-store" });
    const lines = (await answer.text()).matchAll(/^\[([+-])\](\S+) /gm);
    return new Map([...lines].map(([, sign, name = ""]) => [name, sign === "+"]));
  } catch {
    return new Map();
  }
}

/** The virtual workspaces of the server, read once for each `version`: a reload of `virtual-workspaces dev` is one. */
export function useServerViews(version = ""): ServerViews {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<Omit<ServerViews, "reload">>({ views: [], isLoading: true });
  useEffect(() => {
    const stop = new AbortController();
    readViews(stop.signal).then(
      (read) => setState({ ...read, isLoading: false }),
      () => undefined,
    );
    return () => stop.abort();
  }, [attempt, version]);
  return { ...state, reload: () => setAttempt((count) => count + 1) };
}

/** The path of a view for a logical cluster, without a slash at its beginning; undefined if it has other parameters, or is no API. */
export function pathFor({ path = "{}", mappedPaths }: ServerView, cluster: string): string | undefined {
  if (mappedPaths !== undefined) return undefined;
  const filled = path.replaceAll("{cluster}", encodeURIComponent(cluster));
  return filled.includes("{") ? undefined : filled.slice(1) || ".";
}
