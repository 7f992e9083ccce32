import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { header, type Outgoing, type StreamedResponse, type Upstream, warningsOf } from "@virtual-workspaces/transport";
import { reportingErrors } from "../callbacks.ts";
import { bodyOf, errorOf, malformed } from "./answer.ts";
import type { RetryOptions } from "./retry.ts";
import { type Repeatable, retrying } from "./retry.ts";

export interface RequestsOptions {
  readonly upstream: Upstream;
  /** `/clusters/<path>` or "". */
  readonly prefix: string;
  /** Sent with every request. */
  readonly headers: readonly string[];
  readonly onWarning: ((text: string) => void) | undefined;
  /** `false` for one attempt. */
  readonly retries: Required<RetryOptions> | false;
}

/** A request, and whether it may be sent again. */
export interface ApiRequest extends Outgoing {
  /** @default "safe" of reads, "unsafe" of everything else */
  readonly repeatable?: Repeatable;
  /** `false`: it is sent once. @default the client's */
  readonly retries?: false | undefined;
}

/** What came, and with which headers. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly etag: string | undefined;
}

/** The longest answer that is read whole, bytes, packed and unpacked. */
const LONGEST = 256 * 1024 * 1024;

/** Requests of one client: JSON there and back, and errors as {@link ApiError}. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** @throws ApiError what the server answered, TransportError when it did not, or not what API servers do */
  async json(request: ApiRequest): Promise<JsonObject> {
    return (await this.answer(request)).body;
  }

  /** As {@link json}, with what its head says; a 304 is an answer too. */
  answer(request: ApiRequest): Promise<JsonAnswer> {
    return this.#repeatedly(request, async () => {
      await using answer = await this.#options.upstream.stream(this.#complete(request, ["Accept-Encoding", "gzip"]));
      this.#warn(answer);
      const { status } = answer;
      const what = this.#what(request);
      const etag = header(answer.headers, "etag");
      if (status === 304) return { status, body: {}, etag };
      if (status >= 300) throw await errorOf(answer, what);
      const body = await bodyOf(answer, { what, limit: request.limit ?? LONGEST });
      return { status, body: objectOf(body, { what, type: header(answer.headers, "content-type") }), etag };
    });
  }

  /** A watch. @throws as {@link json} */
  stream(request: ApiRequest): Promise<StreamedResponse> {
    return this.#repeatedly({ repeatable: "watch", ...request }, async () => {
      const answer = await this.#options.upstream.stream({ ...this.#complete(request, []), long: true });
      this.#warn(answer);
      if (answer.status < 300) return answer;
      throw await errorOf(answer, this.#what(request));
    });
  }

  #repeatedly<R>(request: ApiRequest, attempt: () => Promise<R>): Promise<R> {
    const { method = "GET", repeatable = method === "GET" ? "safe" : "unsafe", signal } = request;
    const retries = request.retries ?? this.#options.retries;
    return retries === false ? attempt() : retrying(retries, { repeatable, signal }, attempt);
  }

  #warn({ headers }: StreamedResponse): void {
    const { onWarning } = this.#options;
    if (onWarning !== undefined && headers["warning"] !== undefined)
      for (const text of warningsOf(headers)) reportingErrors(onWarning)(text);
  }

  /** For messages: without the query, which may hold what not everybody is to see. */
  #what({ method = "GET", path }: ApiRequest): string {
    const { upstream, prefix } = this.#options;
    return `${method} ${upstream.url}${prefix}${path.split("?", 1)[0]}`;
  }

  #complete({ repeatable: _repeatable, retries: _retries, ...request }: ApiRequest, more: readonly string[]): Outgoing {
    const { prefix, headers } = this.#options;
    const own = request.headers ?? [];
    const accept = own.includes("Accept") ? [] : ["Accept", "application/json"];
    return { ...request, path: prefix + request.path, headers: [...accept, ...more, ...headers, ...own] };
  }
}

function objectOf(
  body: Buffer,
  { what, type }: { readonly what: string; readonly type: string | undefined },
): JsonObject {
  let value: unknown;
  try {
    value = parseOwnJson(body.toString("utf8"));
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) return value;
  throw malformed(what, `the answer is no JSON object but ${type ?? "of no type"}: is this the URL of an API server?`);
}
