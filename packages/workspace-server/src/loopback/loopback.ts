import { randomBytes } from "node:crypto";
import { impersonationHeaders } from "@virtual-workspaces/client/http";
import { type Relay, type RelayOptions, relay, sameCaller, type Workspaces } from "@virtual-workspaces/forwarding";
import {
  createServer,
  type RawRequest,
  type Server,
  type ServerOptions,
  staticTokens,
  type User,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { authenticatedUser, callersTokenHeaders } from "@virtual-workspaces/framework/authn";
import { cancellationOf, type DispatchedRequest } from "@virtual-workspaces/framework/request";
import { type Cancellation, type InProcessServer, Upstream } from "@virtual-workspaces/transport";

/** User of loopback requests that name no other identity (Kubernetes' `user.APIServerUser`). */
const SELF = authenticatedUser({ name: "system:apiserver", groups: ["system:masters"] });
/** Maximum of concurrent requests; others wait. As many as requests from outside, each of which may make one. */
const IN_FLIGHT = 400;
/** Longest wait of views for workspaces that are still being read, in milliseconds. */
const LONGEST_START = 30_000;

type Raw = RawRequest<unknown>;

/** Shards of a process, for views over the workspaces of all of them. */
export interface ServedShards {
  /** Workspaces of each shard that runs, by its name, as at its own address. */
  readonly running: ReadonlyMap<string, VirtualWorkspace>;
  /** Names of shards that may have workspaces, and do not run now. */
  readonly missing: readonly string[];
  /** Notifies after a shard has begun to run, has stopped, or was deleted. */
  listen(listener: () => void): Disposable;
}

/** Workspaces of a server for views that read its resources in the process. */
export interface ServedWorkspaces {
  /** The view below `/clusters` that clients use. */
  readonly workspaces: VirtualWorkspace | undefined;
  /** @default one shard */
  readonly shards?: (() => ServedShards) | undefined;
}

/** Handlers that forward requests as their callers. */
export type Forwarder = Pick<Relay, "handle" | "upgrade">;

interface LoopbackForwarding extends Pick<RelayOptions, "what" | "onError"> {
  /** Whether views get the caller's own token. Security: it does not leave the process. @default false */
  readonly token?: boolean;
}

/**
 * A server's own workspaces for the views that it runs: create it first, then pass it to the views and to the server.
 * Requests stay in the process. They run as a member of `system:masters`, with a token that exists nowhere else; with
 * {@link Workspaces.identity} they are authorized as the caller's. They have a concurrency limit of their own, so that
 * views that wait for workspaces do not block the requests they wait for. The audit log shows `system:apiserver`, the
 * impersonated caller, the user agent `virtual-workspaces/loopback` and no address.
 */
export class Loopback implements Workspaces, AsyncDisposable {
  readonly upstream: Upstream;
  readonly identity: Workspaces["identity"] = sameCaller;
  readonly #token = randomBytes(32).toString("base64url");
  readonly #started = Promise.withResolvers<void>();
  #isStarted = false;
  #served: InProcessServer | undefined;
  #server: Server | undefined;
  #workspaces: ServedWorkspaces | undefined;

  constructor() {
    const headers = Object.freeze(["Authorization", `Bearer ${this.#token}`]);
    const credential = Object.freeze({ headers });
    this.upstream = new Upstream({
      url: "http://loopback",
      credentials: { get: () => credential },
      userAgent: "virtual-workspaces/loopback",
      connections: IN_FLIGHT,
      deadlines: { connect: LONGEST_START },
      inProcess: {
        ready: this.#started.promise,
        serve: (request, response) => (this.#served ?? unserved()).serve(request, response),
      },
      dial: async () => {
        await this.#started.promise;
        return (this.#server ?? unserved()).connect();
      },
    });
  }

  /**
   * Serves the server to itself, with the audit log and metrics of `within`. The server calls it once.
   * @throws Error when another server already uses this loopback
   */
  serve(
    options: Pick<ServerOptions, "virtualWorkspaces" | "impersonation" | "log" | "within">,
    workspaces?: ServedWorkspaces,
  ): void {
    if (this.#server !== undefined)
      throw new Error("the loopback already serves another server: create one for each server");
    this.#workspaces = workspaces;
    this.#server = createServer({
      ...options,
      // Only this process sends requests here: a token that a request names is its caller's.
      takesCallersTokens: true,
      authentication: [staticTokens({ [this.#token]: SELF })],
      limits: { inFlight: IN_FLIGHT, mutating: IN_FLIGHT, perUser: 1, perVirtualWorkspace: 1 },
      closeTimeout: 0,
    });
    this.#served = this.#server.inProcess(this.#started.promise);
  }

  /**
   * Starts to answer; earlier requests have been waiting for this.
   *
   * @param known further condition for requests; the start itself does not wait for it
   */
  async start(known?: Promise<void>): Promise<void> {
    await this.#server?.start();
    this.#started.resolve(known);
    this.#started.promise.then(
      () => {
        this.#isStarted = true;
      },
      () => undefined, // requests fail with it
    );
  }

  /** @internal Resolves when it answers. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /**
   * Workspaces as the view below `/clusters` serves them to clients, for views that read its resources in the process. The
   * server runs it.
   *
   * Security: call its `authorize` before its resources.
   * @throws Error before the server has it
   */
  get workspaces(): VirtualWorkspace {
    return this.#workspaces?.workspaces ?? unserved();
  }

  /** Shards of the server that it shows as one; `undefined` if there is one. */
  get shards(): ServedShards | undefined {
    return this.#workspaces?.shards?.();
  }

  /**
   * Forwards requests, as their callers, without HTTP: the pipeline of the loopback writes to the client itself. Upgrades, and
   * requests that arrive before {@link start}, use a connection.
   */
  forwarding({ token: forwardsToken = false, ...options }: LoopbackForwarding): Forwarder {
    const besides = ({ token }: Raw): readonly string[] => callersTokenHeaders(token);
    const caller = { identity: sameCaller, ...(forwardsToken && { besides }) };
    const passing = relay({ ...options, ...caller, upstream: this.upstream });
    return {
      handle: (req, res, request) => {
        if (!this.#isStarted || this.#server === undefined) return passing.handle(req, res, request);
        return this.#server.dispatch(req, res, new Dispatched(request, forwardsToken));
      },
      upgrade: passing.upgrade,
    };
  }

  /** Aborts all requests in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
    await this.#server?.close();
  }
}

function unserved(): never {
  throw new Error("the loopback has no server yet: create that first");
}

/** A request as the pipeline of the loopback gets it. */
class Dispatched implements DispatchedRequest {
  readonly impersonator = SELF;
  readonly target: string;
  readonly requestId: string;
  readonly user: User;
  readonly hops: number;
  readonly token: string | undefined;
  readonly #request: Raw;

  constructor(request: Raw, forwardsToken: boolean) {
    this.#request = request;
    this.target = request.prefix + request.tail + request.search;
    this.requestId = request.requestId;
    this.user = request.user;
    this.hops = request.hops + 1;
    this.token = forwardsToken ? request.token : undefined;
  }

  get via(): string {
    return this.#request.via;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get cancellation(): Cancellation | undefined {
    return cancellationOf(this.#request);
  }

  get ending(): AbortSignal {
    return this.#request.ending;
  }

  get impersonation(): readonly string[] {
    return impersonationHeaders(this.user);
  }

  takeTime(): void {
    this.#request.takeTime();
  }
}

/** Returns the workspaces of the server that receives it later, for views that the same server runs. */
export function loopback(): Loopback {
  return new Loopback();
}
