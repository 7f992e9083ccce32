import { isApiError } from "@virtual-workspaces/apimachinery";
import type { ListOptions } from "../resource/call-options.ts";
import type { ResourceList } from "../resource/list.ts";
import type { ResourceClient } from "../resource/resource-client.ts";
import { UpstreamFault } from "./checked.ts";

export interface PagedListOptions<T> {
  readonly select: Pick<ListOptions, "labels" | "fields">;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Begins anew: what was given before counts for nothing. */
  readonly begin: () => void;
  /** Takes a page. */
  readonly page: (list: ResourceList<T>) => void;
  /** A continue token was too old. */
  readonly expired: () => void;
}

/**
 * Reads a list page by page, so that neither side ever holds all of it as one text. A server that has forgotten the list by
 * the time the next page is asked for (410) is asked anew; if that happens once more, for everything at once.
 */
export async function readPages<T extends object>(
  resource: ResourceClient<T>,
  options: PagedListOptions<T>,
): Promise<void> {
  const { select, limit, signal, begin, page, expired } = options;
  for (const size of [limit, limit, undefined]) {
    begin();
    let token: string | undefined;
    try {
      do {
        const more = { ...(token && { continue: token }), ...(size && { limit: size }) };
        const list = await resource.list({ ...select, ...more, signal, retries: false });
        page(list);
        const next = list.metadata.continue ?? "";
        if (next !== "" && next === token) throw new UpstreamFault("the server gave the same continue token twice");
        token = next;
      } while (token !== "");
      return;
    } catch (error) {
      if (!isApiError(error) || error.code !== 410 || token === undefined) throw error;
      expired();
    }
  }
  throw new UpstreamFault("the server gave continue tokens for a list that it was to give whole");
}
