import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import type { EncodedList, ListRequest, Scope } from "@virtual-workspaces/framework/storage";
import { header, type StreamedResponse } from "@virtual-workspaces/transport";
import type { UpstreamRequest } from "../upstream/answer.ts";
import { checkJson, passWarnings, streamedError } from "../upstream/answer.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";

/** Requests a list or a page. @throws ApiError of the upstream; 503 without a response */
export async function askList(
  resource: UpstreamResource,
  scope: Scope,
  options: ListRequest & { readonly gzip: boolean },
): Promise<StreamedResponse> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch, shard, signal, warn, gzip } = options;
  const page = { limit, continue: token, resourceVersion, resourceVersionMatch, shardSelector: shard?.toString() };
  const answer = await resource.stream({
    scope,
    signal,
    query: { ...resource.selectorsOf(scope), ...page },
    headers: gzip ? ["Accept-Encoding", "gzip"] : [],
  });
  passWarnings(answer.headers, warn);
  if (answer.status !== 200) throw await streamedError(answer, resource);
  try {
    checkJson(answer.headers, resource);
    return answer;
  } catch (error) {
    await answer[Symbol.asyncDispose]();
    throw error;
  }
}

/** Forwards a list as bytes without decoding, compressed if the client accepts that. @throws as {@link askList} */
export async function passList(resource: UpstreamResource, scope: Scope, options: ListRequest): Promise<EncodedList> {
  const answer = await askList(resource, scope, { ...options, gzip: takesGzip(options.acceptEncoding) });
  const { headers } = answer;
  const encoding = header(headers, "content-encoding");
  const encoded = encoding !== undefined && encoding !== "identity";
  const length = Number(header(headers, "content-length"));
  const body = await begun(resource, answer, encoded ? beginsAs(encoding) : beginsWell);
  return {
    body,
    ...(encoded ? { contentEncoding: encoding } : {}),
    ...(headers["content-length"] !== undefined && Number.isSafeInteger(length) ? { length } : {}),
  };
}

/** Reads the first chunk of a body, so that an early fault can still become a Status. */
async function begun(
  resource: UpstreamResource,
  answer: StreamedResponse,
  check: (first: Buffer, kind: string) => string | undefined,
): Promise<AsyncIterable<Buffer>> {
  const rest = answer.body[Symbol.asyncIterator]();
  const first = await rest.next().catch((error: unknown) => {
    throw upstreamFailure(error, resource);
  });
  const fault = first.done === true ? "an empty list" : check(first.value, resource.definition.listKind);
  if (fault === undefined) return new Rejoined(first, rest, resource);
  await rest.return?.();
  throw upstreamFault(resource.origin, `answered with ${fault}`);
}

/** Returns why the start of a body is not a list of this kind. */
function beginsWell(first: Buffer, listKind: string): string | undefined {
  const beginning = first.toString("latin1", 0, Math.min(256, first.length)).trimStart();
  if (!beginning.startsWith("{")) return "a body that is not JSON";
  const kind = /^\{\s*(?:"apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"kind"\s*:\s*"([^"]*)"/.exec(beginning)?.[1];
  return kind === undefined || kind === listKind ? undefined : `a ${kind} instead of a ${listKind}`;
}

/** Returns why the start of a body does not have this encoding; checks gzip only. */
function beginsAs(encoding: string): (first: Buffer) => string | undefined {
  return (first) => (encoding === "gzip" && first[0] !== 0x1f ? "invalid gzip" : undefined);
}

/** Body whose first chunk was read already. */
class Rejoined implements AsyncIterableIterator<Buffer> {
  #first: IteratorResult<Buffer> | undefined;
  readonly #rest: AsyncIterator<Buffer>;
  readonly #fail: (error: unknown) => never;

  constructor(first: IteratorResult<Buffer>, rest: AsyncIterator<Buffer>, asked: UpstreamRequest) {
    this.#first = first;
    this.#rest = rest;
    this.#fail = (error) => {
      throw upstreamFailure(error, asked);
    };
  }

  next(): Promise<IteratorResult<Buffer>> {
    const first = this.#first;
    if (first === undefined) return this.#rest.next().then(undefined, this.#fail);
    this.#first = undefined;
    return Promise.resolve(first);
  }

  return(): Promise<IteratorResult<Buffer>> {
    return this.#rest.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Returns whether a client accepts gzip, the only encoding that API servers use and all readers here support. */
function takesGzip(acceptEncoding: string | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(acceptEncoding ?? "");
}
