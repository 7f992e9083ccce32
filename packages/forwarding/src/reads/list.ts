import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { type EncodedList, type ListRequest, type Scope, TYPED_ITEMS } from "@virtual-workspaces/framework/storage";
import { type BodySink, header, type SinkControl, type StreamedResponse } from "@virtual-workspaces/transport";
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
  // Only the server of this process is sure to know the parameter.
  const isTyped = options.typedItems === true && resource.upstream.isInProcess;
  const page = { limit, continue: token, resourceVersion, resourceVersionMatch, shardSelector: shard?.toString() };
  const answer = await resource.stream({
    scope,
    signal,
    query: { ...resource.selectorsOf(scope), ...page },
    headers: gzip ? ["Accept-Encoding", "gzip"] : [],
    ...(isTyped && { accept: TYPED_ITEMS }),
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
    ...(answer.into !== undefined && { into: (sink) => body.into(sink) }),
    ...(encoded ? { contentEncoding: encoding } : {}),
    ...(headers["content-length"] !== undefined && Number.isSafeInteger(length) ? { length } : {}),
    ...(header(headers, "content-type") === TYPED_ITEMS && { typedItems: true }),
  };
}

/** Reads the first chunk of a body, so that an early fault can still become a Status. */
async function begun(
  resource: UpstreamResource,
  answer: StreamedResponse,
  check: (first: Buffer, kind: string) => string | undefined,
): Promise<Rejoined> {
  const rest = answer.body[Symbol.asyncIterator]();
  const first = await rest.next().catch((error: unknown) => {
    throw upstreamFailure(error, resource);
  });
  const fault = first.done === true ? "an empty list" : check(first.value, resource.definition.listKind);
  if (fault === undefined) return new Rejoined(first, { ...answer, rest }, resource);
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

/** Rest of a body after its first chunk: to read, or to give to a sink. */
interface Rest extends Pick<StreamedResponse, "into"> {
  readonly rest: AsyncIterator<Buffer>;
}

/** Body whose first chunk was read already. */
class Rejoined implements AsyncIterableIterator<Buffer> {
  #first: IteratorResult<Buffer> | undefined;
  readonly #rest: AsyncIterator<Buffer>;
  readonly #into: StreamedResponse["into"];
  readonly #request: UpstreamRequest;
  readonly #fail: (error: unknown) => never;

  constructor(first: IteratorResult<Buffer>, { rest, into }: Rest, request: UpstreamRequest) {
    this.#first = first;
    this.#rest = rest;
    this.#into = into;
    this.#request = request;
    this.#fail = (error) => {
      throw upstreamFailure(error, request);
    };
  }

  /** Gives all chunks to a sink. Only where the response can do so. */
  into(sink: BodySink): SinkControl {
    if (this.#into === undefined) throw new Error("this body can only be read");
    if (this.#first?.value !== undefined) sink.write(this.#first.value);
    return this.#into({
      write: (piece) => sink.write(piece),
      end: () => sink.end(),
      fail: (error) => sink.fail(upstreamFailure(error, this.#request)),
    });
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
