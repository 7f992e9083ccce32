import { isApiError, isJsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { ListSplitter, type Scope } from "@virtual-workspaces/framework/storage";
import { checkJson, streamedError } from "../upstream/answer.ts";
import type { ResourceRequest, UpstreamResource } from "../upstream/upstream-resource.ts";

export interface ListReading extends Pick<ResourceRequest, "signal" | "accept"> {
  readonly limit?: number;
  /** How long the other server may take to begin its answer, and pause within it, ms. */
  readonly patience: number;
  readonly item: (bytes: Buffer) => void;
  /** Of the lists that may come. */
  readonly kinds: readonly string[];
}

/** The most that a list which is kept may have, bytes. */
const LARGEST = 2 ** 30;
/** It is asked for whole: a server that pages all the same, and without end, must not keep us for ever. */
const MOST_PAGES = 1_000;
/** The same of one that is asked for a single item. */
const LARGEST_OF_ONE = 2 ** 25;
/** What an item costs besides its bytes: a list without end of tiny ones must not take more memory than one of large ones. */
const ITEM_COST = 1024;

/** Reads a whole list item by item. @returns its version @throws ApiError what the other server says, 503 on what is no list */
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
  /** Of the whole list so far. */
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
    throw upstreamFault(resource.origin, `answered what is no list: ${(error as Error).message}`, { cause: error });
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
