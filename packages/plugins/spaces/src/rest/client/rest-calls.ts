import { isJsonObject, type JsonObject, quote } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import {
  header,
  isTransportError,
  type Outgoing,
  type ResponseHeaders,
  type StreamedResponse,
  type Upstream,
  type WholeResponse,
} from "@virtual-workspaces/transport";
import { ProviderBusy } from "../../provider/provider-calls.ts";
import { type Bodies, type BodyName, problemOf } from "../protocol/bodies.ts";
import { LIMITS, MEDIA, mediaOf } from "../protocol/protocol.ts";

/** Options of {@link RestCalls}. */
export interface RestCallsOptions {
  /** Upstream of the provider; disposed of together with this object. */
  readonly upstream: Upstream;
  /** Time limit of a response, ms. */
  readonly timeout: number;
  /** Longest pause in a watch, ms. */
  readonly silence: number;
}

/** One request to a provider. */
export interface RestRequest extends Pick<Outgoing, "method" | "path" | "signal"> {
  /** JSON body. @default none */
  readonly json?: object;
  /** Maximum length of the response, bytes. @default 64 KiB */
  readonly limit?: number;
}

/**
 * HTTP requests to a provider, with limits on time and length, and a check of the content type. Security: errors do not show the Secret,
 * whose URL path may be a credential.
 */
export class RestCalls implements AsyncDisposable {
  readonly #options: RestCallsOptions;
  readonly #origin: string;

  constructor(options: RestCallsOptions) {
    this.#options = options;
    this.#origin = new URL(options.upstream.url).origin;
  }

  /** Reads a body of the protocol, with its length. @throws Error with the provider's message, or that names what is wrong with the response */
  async json<Name extends BodyName>(
    name: Name,
    request: RestRequest,
  ): Promise<{ readonly value: Bodies[Name]; readonly length: number }> {
    const body = await this.#answer(request, { code: 200, type: MEDIA.json });
    const value = jsonIn(body);
    const problem = problemOf(name, value);
    if (problem !== undefined)
      throw new Error(`${this.#what(request)}: the response is not a valid ${name}: ${problem}`);
    return { value: value as Bodies[Name], length: body.length };
  }

  /** Reads a text of a media type. @throws as {@link json} */
  async text(request: RestRequest, type: string): Promise<string> {
    return (await this.#answer(request, { code: 200, type })).toString("utf8");
  }

  /** Sends a request that the provider accepts with 202. @throws as {@link json} */
  async begin(request: RestRequest): Promise<void> {
    await this.#answer(request, { code: 202 });
  }

  /** Opens a streamed response. @throws as {@link json} */
  async stream(request: RestRequest, type: string): Promise<StreamedResponse> {
    const { timeout, silence } = this.#options;
    const deadlines = { head: timeout, idle: silence };
    const answer = await this.withoutSecrets(() =>
      this.#options.upstream.stream({ ...this.#outgoing(request), long: true, deadlines }),
    );
    if (answer.status === 200 && typeOf(answer) === type) return answer;
    const body = await startOf(answer, LIMITS.answer);
    throw this.#unwanted(request, { ...answer, body }, { code: 200, type });
  }

  /** Runs a request, with {@link failure} applied to its error. */
  async withoutSecrets<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** Returns an error that may be shown for a failed connection: it contains the origin and not the path. */
  failure(error: unknown): unknown {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    if (isLate) return new Error(`${this.#origin}: no complete response within ${this.#options.timeout / 1000} s`);
    if (!isTransportError(error)) return error;
    return new Error(error.message.replaceAll(this.#options.upstream.url, this.#origin));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#options.upstream[Symbol.asyncDispose]();
  }

  async #answer(request: RestRequest, expected: Expected): Promise<Buffer> {
    const { timeout, upstream } = this.#options;
    const { limit = LIMITS.answer, signal } = request;
    const late = AbortSignal.timeout(timeout);
    const until = signal === undefined ? late : AbortSignal.any([signal, late]);
    const answer = await this.withoutSecrets(() => upstream.send({ ...this.#outgoing(request), limit, signal: until }));
    const isWanted = expected.type === undefined || typeOf(answer) === expected.type;
    if (answer.status === expected.code && isWanted) return answer.body;
    throw this.#unwanted(request, answer, expected);
  }

  #outgoing({ method = "GET", path, json, signal }: RestRequest): Outgoing {
    const accept = ["Accept", [MEDIA.json, MEDIA.kubeconfig, MEDIA.events].join(", ")];
    return {
      method,
      path,
      headers: json === undefined ? accept : [...accept, "Content-Type", MEDIA.json],
      ...(json && { body: JSON.stringify(json) }),
      ...(signal && { signal }),
    };
  }

  #unwanted(request: RestRequest, answer: WholeResponse, { code, type = "" }: Expected): Error {
    const what = this.#what(request);
    if (answer.status >= 300) return rejectionOf(what, answer);
    const said = quote(typeOf(answer) || "no content type");
    return new Error(
      answer.status === code
        ? `${what}: unexpected content type ${said} instead of ${type}: check that url is that of a space provider`
        : `${what}: unexpected status ${answer.status} instead of ${code}`,
    );
  }

  #what({ method = "GET", path }: RestRequest): string {
    return `${method} ${this.#origin}${path.split("?", 1)[0]}`;
  }
}

interface Expected {
  readonly code: number;
  /** @default any */
  readonly type?: string;
}

const typeOf = ({ headers }: Pick<WholeResponse, "headers">): string => mediaOf(header(headers, "content-type"));

/** Reads the start of an unwanted response, up to a limit, and closes it. */
async function startOf(answer: StreamedResponse, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      length += piece.length;
      if (length > limit) break;
      pieces.push(piece);
    }
  } catch {
    // The part that has arrived is enough.
  }
  await answer[Symbol.asyncDispose]();
  return Buffer.concat(pieces);
}

/** A response with an error. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** Longest Retry-After that is honored, s. */
const LONGEST_WAIT = 60;

/** Error of a request that the provider rejected. */
export class ProviderRejection extends Error {
  readonly code: number;
  /** Reports whether the response is a 404 about the space with this name. */
  readonly isAbout: (name: string) => boolean;

  constructor(code: number, message: string, isAbout: ProviderRejection["isAbout"] = () => false) {
    super(message);
    this.code = code;
    this.isAbout = isAbout;
  }
}

/**
 * Returns the error of an unsuccessful response, for a condition. It contains the message of a Status, and nothing of any other body, which
 * may come from another server at that address.
 *
 * @param what `GET https://host/v1/spaces`
 */
function rejectionOf(what: string, { status: code, headers, body }: ErrorAnswer): Error {
  if (code >= 300 && code < 400)
    return new ProviderRejection(code, `${what}: ${code} redirect is not followed: set url to its target`);
  const told = mediaOf(header(headers, "content-type")) === MEDIA.json ? jsonIn(body) : undefined;
  if (!isJsonObject(told) || problemOf("Status", told) !== undefined || told["code"] !== code)
    return new ProviderRejection(code, `${what}: ${code} without a Status: check that url is that of a space provider`);
  const message = `${what}: ${code} ${shown(String(told["message"]))}${REMEDIES[code] ?? ""}`;
  const wait = Number(header(headers, "retry-after"));
  if (code === 429) return new ProviderBusy(message, 1000 * Math.min(wait > 0 ? wait : 1, LONGEST_WAIT));
  const details = told["details"];
  const isSpace = code === 404 && isJsonObject(details) && memberOf(details, "kind") === "spaces";
  return new ProviderRejection(code, message, (name) => isSpace && memberOf(details as JsonObject, "name") === name);
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: ": the provider rejects the credential: put one into the Secret that it accepts",
  403: ": the provider does not authorize the user of the Secret",
};

/** Maximum length of a provider's message that is shown, characters. */
const SHOWN = 512;

/** Returns a provider's text for a message. Security: control characters, which could forge a line of a log or a terminal, become spaces. */
export function shown(text: string): string {
  const plain = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** Parses JSON; `undefined` if it is invalid. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
