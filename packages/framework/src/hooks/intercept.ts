import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest } from "../authz/authorization.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { type Asker, AuthorizeQuestion } from "./hooks.ts";

/** An authenticated request before its authorization, with the user after impersonation. */
export interface InterceptedRequest extends AuthorizeRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The response's `Audit-Id`. */
  readonly requestId: string;
  /** Logical cluster, `*` for all of them; "" where the path names none. */
  readonly cluster: string;
  /** Authenticated user who impersonates `user` (Kubernetes' impersonation). */
  readonly impersonator: User | undefined;
  /**
   * Ends a watch that has begun: cleanly, or with an ERROR event. Other requests are not affected.
   * @returns whether it did
   */
  endWatch(error?: ApiError): boolean;
}

/** An open watch. */
export interface EndableWatch {
  /** Ends it cleanly. */
  end(): void;
  /** Ends it with an ERROR event. */
  fail(error: ApiError): void;
}

/**
 * Hook that delays a request, answers it, or rejects it with an ApiError.
 * @returns whether it has answered the request, or has cut its connection
 */
export type Intercept = (request: InterceptedRequest) => Awaitable<boolean>;

/** Request that is intercepted. */
interface Intercepted extends Asker {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly cluster: string;
  readonly impersonator: User | undefined;
  readonly info: RequestInfo;
  /** The watch, once its stream has begun. */
  readonly watch: EndableWatch | undefined;
}

/** Argument of {@link Intercept}. */
export class InterceptQuestion extends AuthorizeQuestion implements InterceptedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly cluster: string;
  readonly impersonator: User | undefined;
  readonly #request: Intercepted;

  constructor(request: Intercepted) {
    super(request, request.info);
    this.#request = request;
    this.req = request.req;
    this.res = request.res;
    this.requestId = request.requestId;
    this.cluster = request.cluster;
    this.impersonator = request.impersonator;
  }

  endWatch(error?: ApiError): boolean {
    const { watch, res } = this.#request;
    if (watch === undefined || res.writableEnded) return false;
    if (error === undefined) watch.end();
    else watch.fail(error);
    return true;
  }
}
