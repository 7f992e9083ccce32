import type { AuthorizeRequest } from "../authz/authorization.ts";
import type { Exchange } from "../exchange.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import type { WorkspaceRequest } from "../virtual-workspace.ts";

type Params = Readonly<Record<string, string>>;

// Classes, because a getter in an object literal makes a hidden class for each object, which lives until the next full
// collection and keeps the whole request alive: that alone cost a GET a quarter of its CPU time.

/** On whose behalf a hook is asked: a request, or open watches whose request is over. */
export type Asker = Pick<Exchange, "params" | "user" | "signal">;

/** What hooks are told of a request. The signal is made when first read: most never do. */
export class HookRequest implements WorkspaceRequest<Params> {
  readonly #asker: Asker;
  readonly user: User;
  readonly params: Params;

  constructor(asker: Asker) {
    this.#asker = asker;
    this.user = asker.user as User;
    this.params = asker.params;
  }

  get signal(): AbortSignal {
    return this.#asker.signal;
  }
}

/** The question that `authorize` answers. */
export class AuthorizeQuestion extends HookRequest implements AuthorizeRequest {
  readonly isResource: boolean;
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly identity: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly longRunning: boolean;
  readonly upgrade: boolean;

  constructor(asker: Asker, info: RequestInfo) {
    super(asker);
    this.isResource = info.isResource;
    this.verb = info.verb;
    this.path = info.path;
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.identity = info.identity;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.longRunning = info.longRunning;
    this.upgrade = info.upgrade;
  }
}
