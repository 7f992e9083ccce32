import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { header, type Outgoing, type StreamedResponse, type Upstream, warningsOf } from "@virtual-workspaces/transport";
import { reportingErrors } from "../callbacks.ts";
import { bodyOf, errorOf, malformed } from "./answer.ts";
import type { RetryOptions } from "./retry.ts";
import { type Repeatable, retrying } from "./retry.ts";

export interface RequestsOptions {
  readonly upstream: Upstream;
  /** Path before every request: `/clusters/<path>` or "". */
  readonly prefix: string;
  /** Headers of every request. */
  readonly headers: readonly string[];
  readonly onWarning: ((text: string) => void) | undefined;
  /** Retry policy; `false` disables retries. */
  readonly retries: Required<RetryOptions> | false;
}

/** Request, with its retry policy. */
export interface ApiRequest extends Outgoing {
  /** Effect of sending it twice. @default "safe" for reads, "unsafe" for others */
  readonly repeatable?: Repeatable;
  /** `false` disables retries. @default the client's `retries` */
  readonly retries?: false | undefined;
}

/** JSON body of a response, and its headers. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly etag: string | undefined;
}

/** Maximum response size, compressed and decompressed, in bytes. */
const LONGEST = 256 * 1024 * 1024;

/** Sends a client's requests: JSON in both directions, and errors as {@link ApiError}. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** @throws ApiError if the server answers with an error, TransportError if there is no answer, or not one of an API server */
  async json(request: ApiRequest): Promise<JsonObject> {
    return (await this.answer(request)).body;
  }

  /** Same as {@link json}, with status and headers. A 304 is not an error. */
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

  /** Opens a watch. @throws as {@link json} */
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

  /** Describes a request for messages. Security: the query may hold confidential values, so it is omitted. */
  #what({ method = "GET", path }: ApiRequest): string {
    return `${method} ${this.url(path)}`;
  }

  /** Returns the URL of a request without the query, for messages. It has no user or password: an upstream rejects them. */
  url(path: string): string {
    const { upstream, prefix } = this.#options;
    return `${upstream.url}${prefix}${path.split("?", 1)[0]}`;
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
  throw malformed(
    what,
    `the response is not a JSON object but ${type ?? "of no type"}: check that the URL is that of an API server`,
  );
}
