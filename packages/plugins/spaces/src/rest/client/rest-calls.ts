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

/** How a provider is asked. */
export interface RestCallsOptions {
  /** It is closed with this. */
  readonly upstream: Upstream;
  /** How long an answer may take, ms. */
  readonly timeout: number;
  /** How long a watch may say nothing, ms. */
  readonly silence: number;
}

/** One question. */
export interface RestRequest extends Pick<Outgoing, "method" | "path" | "signal"> {
  /** What is sent: JSON. @default nothing */
  readonly json?: object;
  /** The longest answer, bytes. @default 64 KiB */
  readonly limit?: number;
}

/** Questions to a provider: bounded in time and length, and answers of the kind that was asked for. What is thrown says nothing of the Secret, whose URL's path may be one. */
export class RestCalls implements AsyncDisposable {
  readonly #options: RestCallsOptions;
  readonly #origin: string;

  constructor(options: RestCallsOptions) {
    this.#options = options;
    this.#origin = new URL(options.upstream.url).origin;
  }

  /** A body of the protocol, and how long it was. @throws Error with what the provider says, or what is wrong with it */
  async json<Name extends BodyName>(
    name: Name,
    request: RestRequest,
  ): Promise<{ readonly value: Bodies[Name]; readonly length: number }> {
    const body = await this.#answer(request, { code: 200, type: MEDIA.json });
    const value = jsonIn(body);
    const problem = problemOf(name, value);
    if (problem !== undefined) throw new Error(`${this.#what(request)}: the answer is no ${name}: ${problem}`);
    return { value: value as Bodies[Name], length: body.length };
  }

  /** A text of a media type. @throws as {@link json} */
  async text(request: RestRequest, type: string): Promise<string> {
    return (await this.#answer(request, { code: 200, type })).toString("utf8");
  }

  /** Something that is begun. @throws as {@link json} */
  async begin(request: RestRequest): Promise<void> {
    await this.#answer(request, { code: 202 });
  }

  /** What comes piece by piece. @throws as {@link json} */
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

  /** What connections fail with, as it may be told. */
  async withoutSecrets<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** As {@link withoutSecrets}. */
  failure(error: unknown): unknown {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    if (isLate) return new Error(`${this.#origin}: no whole answer within ${this.#options.timeout / 1000} s`);
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
        ? `${what}: answered with ${said} instead of ${type}: is the url that of a space provider?`
        : `${what}: answered ${answer.status} instead of ${code}`,
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

/** What has come of an answer that nobody wants, up to a length. Ends it. */
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
    // What there is of it says enough.
  }
  await answer[Symbol.asyncDispose]();
  return Buffer.concat(pieces);
}

/** An answer that is none of what was asked for. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** How long one can make us wait, s. */
const LONGEST_WAIT = 60;

/** A provider has said no. */
export class ProviderRejection extends Error {
  readonly code: number;
  /** Whether it has said, in as many words, that there is no space of this name. */
  readonly isAbout: (name: string) => boolean;

  constructor(code: number, message: string, isAbout: ProviderRejection["isAbout"] = () => false) {
    super(message);
    this.code = code;
    this.isAbout = isAbout;
  }
}

/**
 * What an answer comes to that is no success, for a condition: what the provider says in a Status, and nothing of any other page, which may be of whoever else
 * listens there.
 *
 * @param what `GET https://host/v1/spaces`
 */
function rejectionOf(what: string, { status: code, headers, body }: ErrorAnswer): Error {
  if (code >= 300 && code < 400)
    return new ProviderRejection(
      code,
      `${what}: ${code}, a redirect, which is not followed: give the url that it leads to`,
    );
  const told = mediaOf(header(headers, "content-type")) === MEDIA.json ? jsonIn(body) : undefined;
  if (!isJsonObject(told) || problemOf("Status", told) !== undefined || told["code"] !== code)
    return new ProviderRejection(code, `${what}: ${code} without a Status: is the url that of a space provider?`);
  const message = `${what}: ${code} ${shown(String(told["message"]))}${REMEDIES[code] ?? ""}`;
  const wait = Number(header(headers, "retry-after"));
  if (code === 429) return new ProviderBusy(message, 1000 * Math.min(wait > 0 ? wait : 1, LONGEST_WAIT));
  const details = told["details"];
  const isSpace = code === 404 && isJsonObject(details) && memberOf(details, "kind") === "spaces";
  return new ProviderRejection(code, message, (name) => isSpace && memberOf(details as JsonObject, "name") === name);
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: ": the provider does not take what the Secret has: put the credential there that it knows",
  403: ": the provider does not let the user of the Secret do this",
};

/** How much is told of what a provider says, characters. */
const SHOWN = 512;

/** What a provider says, for a message: control characters could make a line of a log, or a terminal, say something else. */
export function shown(text: string): string {
  const plain = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** What JSON says; `undefined` of what is none. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
