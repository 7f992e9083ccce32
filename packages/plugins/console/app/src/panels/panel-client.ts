import { effect } from "@preact/signals";
import type {
  PanelAccess,
  PanelAddress,
  PanelClient,
  PanelCollection,
  PanelList,
  PanelObject,
  PanelParameters,
  PanelRequest,
  PanelWatched,
} from "@virtual-workspaces/framework/panel";
import { denialAt } from "../api/access.ts";
import { apiUrl, resourcePath } from "../api/base.ts";
import { isStatusError, request } from "../api/client.ts";
import { liveList } from "../api/live-list.ts";
import { FIELD_MANAGER } from "../api/objects.ts";
import type { List } from "../api/types.ts";
import { listEverywhere } from "./everywhere.ts";
import { texts } from "./texts.ts";

interface ClientParts {
  /** Path of the API by default. */
  readonly api: () => string;
  /** Aborts when the panel ends. */
  readonly signal: AbortSignal;
  /** Calls a listener of the panel, whose exceptions are those of the panel. */
  readonly call: (listener: () => void) => void;
  /** Gets each error that a promise of the panel rejects with: what it does not handle is a failure of the panel. */
  readonly onError: (error: unknown) => void;
}

/** Creates the client of a panel, over that of the page. */
export function panelClient({ api, signal, call, onError }: ClientParts): PanelClient {
  const at = (where: PanelCollection | PanelAddress): string => {
    const { api: own = api(), namespace, group, version, resource } = where;
    const names = { ...(namespace !== undefined && { namespace }), ...("name" in where && { name: where.name }) };
    return `${own}/${resourcePath({ group, version, resource }, names)}`;
  };
  const ask = async <T>(path: string, options: PanelRequest = {}): Promise<T> => {
    try {
      signal.throwIfAborted();
      return await request<T>(below(path), { ...options, signal });
    } catch (error) {
      if (!signal.aborted) onError(error);
      throw error;
    }
  };
  const written = (options: PanelRequest): PanelRequest => ({
    ...options,
    parameters: { fieldManager: FIELD_MANAGER },
  });
  return {
    get: (address) => ask(at(address)),
    list: async <Item extends PanelObject>(where: PanelCollection, parameters: PanelParameters = {}) => {
      const list = await ask<List<Item>>(at(where), { parameters });
      return list.items ?? [];
    },
    watch: <Item extends PanelObject>(
      { parameters = {}, everywhere = false, ...where }: PanelWatched,
      listener: (list: PanelList<Item>) => void,
    ) => {
      if (signal.aborted) return () => undefined;
      const path = below(at(where));
      const read = () =>
        everywhere
          ? listEverywhere(where, { own: below(where.api ?? api()), parameters })
          : { ...liveList(path, parameters).value, isPartial: false };
      const stop = effect(() => {
        const { items, state, error, isPartial } = read();
        const list = { items: items as unknown as readonly Item[], state, ...(error !== undefined && { error }) };
        call(() => listener({ ...list, ...(isPartial && { isPartial }) }));
      });
      signal.addEventListener("abort", stop);
      return () => {
        signal.removeEventListener("abort", stop);
        stop();
      };
    },
    create: (where, body) => ask(at(where), written({ method: "POST", body })),
    replace: (address, body) => ask(at(address), written({ method: "PUT", body })),
    patch: (address, body) =>
      ask(at(address), written({ method: "PATCH", body, contentType: "application/merge-patch+json" })),
    delete: (address) => ask(at(address), { method: "DELETE" }),
    may: async ({ api: own = api(), ...access }: PanelAccess) => {
      try {
        signal.throwIfAborted();
        return (await denialAt(below(own), access, signal)) === undefined;
      } catch (error) {
        if (isStatusError(error) && (error.code === 404 || error.code === 405)) return true;
        if (!signal.aborted) onError(error);
        throw error;
      }
    },
    request: ask,
  };
}

/**
 * A path below the URL of the server.
 *
 * Security: what fields of objects have put into it must not lead the session's requests to another server, or out of the prefix of this
 * one.
 */
function below(path: string): string {
  const base = apiUrl("").href;
  if (!apiUrl(path).href.startsWith(base)) throw new Error(texts.elsewhere(path));
  return path;
}
