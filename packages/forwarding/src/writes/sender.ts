import { ApiError, apiVersionOf, type Status } from "@virtual-workspaces/apimachinery";
import type { RequestOptions, ResourceDefinition, Scope } from "@virtual-workspaces/framework";
import { header, type Upstream, type WholeResponse } from "@virtual-workspaces/transport";
import { AnsweredObject } from "../outbound/answered-object.ts";
import { answeredError, writeFailure } from "../outbound/failure.ts";
import { outboundHeaders } from "../outbound/headers.ts";
import type { OutboundIdentity } from "../outbound/identity.ts";
import { pathOf, type Query } from "../outbound/path.ts";
import { type ExpectedKind, saysKind } from "../outbound/says-kind.ts";
import { toldStatus } from "../outbound/told-status.ts";
import { warningsIn } from "../outbound/warnings.ts";

/** Where writes go, and as whom. */
export interface SenderOptions {
  readonly resource: ResourceDefinition;
  readonly upstream: Upstream;
  /** The logical cluster there. @default the same as here */
  readonly cluster?: ((scope: Scope) => string) | undefined;
  /** @default "impersonate" */
  readonly identity?: OutboundIdentity | undefined;
  /** Told when the other server could not be asked. @default nobody is told but the caller */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** One request, of those that change something or lead to a change. */
export interface Sending {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly scope: Scope;
  readonly options: RequestOptions;
  /** "" for all of the collection. */
  readonly name: string;
  readonly subresource?: string | undefined;
  readonly query?: Query;
  readonly contentType?: string;
  readonly body?: Buffer | string;
}

/** What came back. */
export interface Sent {
  /** 200, 201 or 202. */
  readonly status: number;
  readonly body: Buffer;
  /** The body, if it is an object of the kind. */
  readonly object: AnsweredObject;
  /** The body of a delete, if it says that all is gone. */
  readonly gone?: Status;
}

/** The longest Status of a delete, bytes. An object that is still there may be longer. */
const LONGEST_STATUS = 64 * 1024;

/**
 * Sends writes to another server, each once: what it did of one that it did not answer nobody knows. Keeps nothing of one
 * request for the next.
 */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** @throws ApiError what the other server said, 403 for a caller who cannot be passed on, 503, 504; the signal's reason */
  async send(sending: Sending): Promise<Sent> {
    const { resource } = this.#options;
    const { scope, options } = sending;
    const answer = await this.#ask(sending);
    for (const text of warningsIn(answer.headers)) options.warn(text);
    const { status, body } = answer;
    if (status >= 300) throw this.#told(answeredError(answer));
    if (header(answer.headers, "content-type")?.startsWith("application/json") !== true)
      throw unlike("otherwise than in JSON");
    const object = new AnsweredObject(body, { cluster: scope.cluster, definition: resource });
    const told = sending.method === "DELETE" && body.length <= LONGEST_STATUS ? toldStatus(body) : undefined;
    if (told?.status === "Success") return { status, body, object, gone: told };
    const expected = expectedOf(sending, resource);
    if (!saysKind(body, expected)) throw unlike(`with something else than a ${expected.kind}`);
    return { status, body, object };
  }

  async #ask(sending: Sending): Promise<WholeResponse> {
    const { resource, upstream, cluster, identity = "impersonate" } = this.#options;
    const { method, scope, options, name, subresource, query, contentType, body } = sending;
    const target = { cluster: cluster?.(scope) ?? scope.cluster, namespace: scope.namespace, name, subresource };
    const path = pathOf(resource, target, query);
    const type = contentType === undefined ? [] : ["Content-Type", contentType];
    const headers = ["Accept", "application/json", ...type, ...outboundHeaders(scope, identity)];
    const { signal } = options;
    try {
      return await upstream.send({ method, path, headers, signal, ...(body === undefined ? {} : { body }) });
    } catch (error) {
      throw this.#told(writeFailure(error));
    }
  }

  /** Tells whoever runs this server of what is theirs to mend. */
  #told(error: unknown): unknown {
    if (error instanceof Error && error.cause !== undefined) this.#options.onError?.(error.cause);
    return error;
  }
}

function expectedOf({ method, name, subresource }: Sending, resource: ResourceDefinition): ExpectedKind {
  if (subresource === "scale") return { kind: "Scale", apiVersion: "autoscaling/v1" };
  const isList = method === "DELETE" && name === "";
  return { kind: isList ? resource.listKind : resource.kind, apiVersion: apiVersionOf(resource) };
}

function unlike(how: string): ApiError {
  return ApiError.internalError(`the server behind this view answered a write ${how}: it may be done`);
}
