import { isApiError, isJsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { ListSplitter, type Scope } from "@virtual-workspaces/framework/storage";
import { checkJson, streamedError } from "../upstream/answer.ts";
import type { ResourceRequest, UpstreamResource } from "../upstream/upstream-resource.ts";

export interface ListReading extends Pick<ResourceRequest, "signal" | "accept"> {
  readonly limit?: number;
  /** Maximum time until the upstream answers, and of each pause, in ms. */
  readonly patience: number;
  readonly item: (bytes: Buffer) => void;
  /** Accepted list kinds. */
  readonly kinds: readonly string[];
}

/** Maximum size of a list in memory, in bytes. */
const LARGEST = 2 ** 30;
/** Maximum number of pages: the request has no limit, and a server may page endlessly. */
const MOST_PAGES = 1_000;
/** Maximum size of a list for a single item, in bytes. */
const LARGEST_OF_ONE = 2 ** 25;
/** Memory of an item in addition to its bytes, so that an endless list of tiny items is limited too. */
const ITEM_COST = 1024;

/** Reads a whole list item by item. @returns its version @throws ApiError of the upstream, 503 for an invalid list */
export async function readList(resource: UpstreamResource, scope: Scope, reading: ListReading): Promise<string> {
  let version: string | undefined;
  const taken = { bytes: 0, pages: 0 };
  for (let token: string | undefined; ; ) {
    const page = await readPage(resource, scope, { ...reading, token, taken });
    version ??= page.resourceVersion;
    if (page.continue === "" || reading.limit !== undefined) return version;
    token = page.continue;
  }
}

interface PageMeta {
  readonly resourceVersion: string;
  readonly continue: string;
}

interface Page extends ListReading {
  readonly token: string | undefined;
  /** Totals of the whole list so far. */
  readonly taken: { bytes: number; pages: number };
}

async function readPage(
  resource: UpstreamResource,
  scope: Scope,
  { signal, accept, limit, patience, token, item, kinds, taken }: Page,
): Promise<PageMeta> {
  const answer = await resource.stream({
    scope,
    ...(signal && { signal }),
    ...(accept && { accept }),
    deadlines: { head: patience, idle: patience },
    query: { ...resource.selectorsOf(scope), limit, continue: token },
  });
  if (answer.status !== 200) throw await streamedError(answer, resource);
  const around: Buffer[] = [];
  const most = limit === 1 ? LARGEST_OF_ONE : LARGEST;
  const splitter = new ListSplitter({
    around: (bytes) => void around.push(Buffer.from(bytes)),
    item: (bytes) => {
      taken.bytes += ITEM_COST;
      item(bytes);
    },
  });
  try {
    taken.pages += 1;
    if (taken.pages > MOST_PAGES) throw new RangeError(`it has more than ${MOST_PAGES} pages`);
    checkJson(answer.headers, resource);
    for await (const piece of answer.body) {
      taken.bytes += piece.length;
      if (taken.bytes > most) throw new RangeError(`it has more than ${most} bytes`);
      splitter.push(piece);
    }
    splitter.end();
    return listMetadataOf(parseOwnJson(Buffer.concat(around).toString("utf8")), kinds);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    const failure = upstreamFailure(error, resource);
    if (isApiError(failure)) throw failure;
    throw upstreamFault(resource.origin, `answered with an invalid list: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await answer[Symbol.asyncDispose]();
  }
}

function listMetadataOf(list: unknown, kinds: readonly string[]): PageMeta {
  const { kind, metadata } = (isJsonObject(list) ? list : {}) as { kind?: unknown; metadata?: unknown };
  if (!kinds.includes(String(kind))) throw new Error(`a ${String(kind).slice(0, 60)} instead of a ${kinds[0]}`);
  const { resourceVersion, continue: token } = (metadata ?? {}) as { resourceVersion?: unknown; continue?: unknown };
  if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion))
    throw new Error("a list without a version");
  return { resourceVersion, continue: typeof token === "string" ? token : "" };
}
