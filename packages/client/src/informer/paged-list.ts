import { isApiError } from "@virtual-workspaces/apimachinery";
import type { ListOptions } from "../resource/call-options.ts";
import type { ResourceList } from "../resource/list.ts";
import type { ResourceClient } from "../resource/resource-client.ts";
import { UpstreamFault } from "./checked.ts";

export interface PagedListOptions<T> {
  readonly select: Pick<ListOptions, "labels" | "fields">;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called at the start and at each restart: earlier pages are void. */
  readonly begin: () => void;
  /** Called for each page. */
  readonly page: (list: ResourceList<T>) => void;
  /** Called when a continue token has expired. */
  readonly expired: () => void;
}

/**
 * Lists in pages, so that neither side holds the whole list as one text. If the server answers 410 for a page, the list
 * restarts; the second time it requests everything at once.
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
        if (next !== "" && next === token) throw new UpstreamFault("the server sent the same continue token twice");
        token = next;
      } while (token !== "");
      return;
    } catch (error) {
      if (!isApiError(error) || error.code !== 410 || token === undefined) throw error;
      expired();
    }
  }
  throw new UpstreamFault("the server sent a continue token for a list without a limit");
}
