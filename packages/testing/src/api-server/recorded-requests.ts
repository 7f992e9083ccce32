import type { IncomingMessage, ServerResponse } from "node:http";
import { pathInfo, type RequestInfo, requestInfo } from "@virtual-workspaces/framework/request";
import type { InterceptedRequest, RequestRecord } from "@virtual-workspaces/framework/server";
import { isMatch, type RequestMatch } from "./request-match.ts";

/** Options of recorded requests. */
export interface RecordedRequestsOptions {
  /** Maximum number of records; older ones are dropped. @default 1000 */
  readonly most?: number;
  /** Whether to keep bodies of requests up to 64 KiB. Security: they may contain Secrets. @default false */
  readonly bodies?: boolean;
}

/** A request that the server has received. */
export interface RecordedRequest extends Required<RequestMatch> {
  /** HTTP method in upper case. */
  readonly method: string;
  /** Path below the cluster or workspace, such as `/api/v1/namespaces`. */
  readonly path: string;
  /** Query without its question mark. */
  readonly query: string;
  /** API version of the kind, without the group. */
  readonly version: string;
  /** Authenticated user who impersonates `user`, if there is one. */
  readonly impersonator: string | undefined;
  readonly userAgent: string;
  /** HTTP status; `undefined` before the response begins, 0 when the connection ended without one. */
  readonly code: number | undefined;
  /** Text of the body, if `bodies` is set and it has been read. */
  readonly body: string | undefined;
}

/** Longest recorded body, in bytes. */
const LONGEST = 64 * 1024;

/**
 * Requests of clients in the order of their arrival, for assertions. Requests of the server itself and probes are not recorded.
 * One that is rejected before authentication (401, 429) is recorded at its end, with the user "".
 */
export class RecordedRequests {
  readonly #most: number;
  readonly #bodies: boolean;
  #all: Recorded[] = [];
  #dropped = 0;
  /** Ids of open requests that are recorded. */
  readonly #open = new Set<string>();
  readonly #waiting = new Set<(request: Recorded) => void>();

  /** @internal Created by `startTestServer`. @throws RangeError for an invalid `most` */
  constructor({ most = 1000, bodies = false }: RecordedRequestsOptions = {}) {
    if (!Number.isInteger(most) || most < 0)
      throw new RangeError(`invalid requests.most ${most}: use a number from 0 on`);
    this.#most = most;
    this.#bodies = bodies;
  }

  /** Number of records that were dropped for the maximum, since the last {@link clear}. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns the recorded requests, or those that match. */
  list(match: RequestMatch = {}): readonly RecordedRequest[] {
    return this.#all.filter((request) => isMatch(request, match));
  }

  /**
   * Resolves to the first request that matches, which may have arrived already.
   * @throws the reason of `signal`
   */
  async find(match: RequestMatch, { signal }: { readonly signal?: AbortSignal } = {}): Promise<RecordedRequest> {
    const there = this.#all.find((request) => isMatch(request, match));
    if (there !== undefined) return there;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<RecordedRequest>();
    const look = (request: Recorded): void => (isMatch(request, match) ? resolve(request) : undefined);
    const abort = (): void => reject(signal?.reason);
    this.#waiting.add(look);
    signal?.addEventListener("abort", abort, { once: true });
    return promise.finally(() => {
      this.#waiting.delete(look);
      signal?.removeEventListener("abort", abort);
    });
  }

  /** Forgets all records. */
  clear(): void {
    this.#all = [];
    this.#dropped = 0;
  }

  /** @internal Records a request when it arrives. */
  received(request: InterceptedRequest, subject: RequestSubject): void {
    this.#open.add(request.requestId);
    const recorded = new Recorded(subject, request);
    if (this.#bodies) recorded.readBody(request.req);
    this.#add(recorded);
  }

  /** @internal Records a request at its end, unless it was recorded before. */
  ended({ stage, requestId, method, verb, path, code, user = "" }: RequestRecord): void {
    if (stage !== "ResponseComplete" || this.#open.delete(requestId) || verb === "") return;
    const info = infoOf(method, path);
    const { group, version, namespace, name } = info;
    const subject = { verb, group, version, resource: resourceOf(info), namespace, name, user };
    this.#add(new Recorded({ ...subject, method, path: info.path, query: "", impersonator: undefined }, { code }));
  }

  #add(recorded: Recorded): void {
    this.#all.push(recorded);
    if (this.#all.length > this.#most) {
      this.#all.shift();
      this.#dropped += 1;
    }
    for (const look of this.#waiting) look(recorded);
  }
}

/** Attributes of a request, known when it arrives. */
export type RequestSubject = Omit<RecordedRequest, "code" | "body" | "userAgent">;

class Recorded implements RecordedRequest {
  declare readonly verb: string;
  declare readonly group: string;
  declare readonly version: string;
  declare readonly resource: string;
  declare readonly namespace: string;
  declare readonly name: string;
  declare readonly user: string;
  declare readonly method: string;
  declare readonly path: string;
  declare readonly query: string;
  declare readonly impersonator: string | undefined;
  readonly userAgent: string;
  body: string | undefined;
  #code: number | undefined;
  /** Response, until it has closed. */
  #res: ServerResponse | undefined;

  constructor(
    subject: RequestSubject,
    { req, res, code }: { readonly req?: IncomingMessage; readonly res?: ServerResponse; readonly code?: number },
  ) {
    Object.assign(this, subject);
    this.userAgent = req?.headers["user-agent"] ?? "";
    this.#code = code;
    this.#res = res;
    res?.once("close", () => {
      this.#code = this.code ?? 0;
      this.#res = undefined;
    });
  }

  get code(): number | undefined {
    return this.#res?.headersSent === true ? this.#res.statusCode : this.#code;
  }

  /** Keeps a copy of the body while the server reads it: a reader before that would take it away. */
  readBody(req: IncomingMessage): void {
    const pieces: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer): void => {
      length += piece.length;
      if (length <= LONGEST) pieces.push(piece);
    };
    const join = (event: string): void => {
      if (event !== "data") return;
      req.off("newListener", join);
      req.on("data", take).once("end", () => {
        if (length <= LONGEST) this.body = Buffer.concat(pieces).toString("utf8");
      });
    };
    req.on("newListener", join);
  }
}

/** Returns the attributes of a request. */
export function subjectOf(request: InterceptedRequest): RequestSubject {
  const { verb, group, version, namespace, name, user, impersonator, req, path } = request;
  const { method = "", url = "" } = req;
  const at = url.indexOf("?");
  return {
    verb,
    group,
    version,
    resource: resourceOf(request),
    namespace,
    name,
    user: user.name,
    impersonator: impersonator?.name,
    method,
    path,
    query: at === -1 ? "" : url.slice(at + 1),
  };
}

/** Returns the resource with its subresource, as in RBAC. */
function resourceOf({ resource, subresource }: Pick<RequestInfo, "resource" | "subresource">): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}

function infoOf(method: string, path: string): RequestInfo {
  const tail = path.replace(/^\/clusters\/[^/]*/, "");
  try {
    return requestInfo({ method, tail, query: new URLSearchParams() });
  } catch {
    return pathInfo(method.toLowerCase(), tail);
  }
}
