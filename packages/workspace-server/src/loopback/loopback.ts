import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { sameCaller, type Workspaces } from "@virtual-workspaces/forwarding";
import { createServer, type Server, type ServerOptions, staticTokens } from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";

/** Who asks by a loopback, unless they ask as somebody else (Kubernetes' `user.APIServerUser`). */
const SELF = "system:apiserver";
/** Requests at a time, before others wait: as many as come from outside may each ask once. */
const IN_FLIGHT = 400;
/** How long views wait for workspaces that have yet to be read, ms. */
const LONGEST_START = 30_000;

/**
 * A server's own workspaces for views that it runs itself: made first, given to views, and then to the server that has the
 * workspaces. Requests leave the process nowhere. They are made as a member of `system:masters`, by a token that nobody else
 * has; with {@link Workspaces.identity} on behalf of callers, whom the server judges as if they had asked it themselves. They
 * have turns of their own, so that views that wait for workspaces do not hold up what they wait for. In the audit log they are
 * of `system:apiserver`, and of the caller as whom it asks, by the user agent `virtual-workspaces/loopback` and from no address.
 */
export class Loopback implements Workspaces, AsyncDisposable {
  readonly upstream: Upstream;
  readonly identity: Workspaces["identity"] = sameCaller;
  readonly #token = randomBytes(32).toString("base64url");
  readonly #started = Promise.withResolvers<void>();
  #server: Server | undefined;

  constructor() {
    const headers = Object.freeze(["Authorization", `Bearer ${this.#token}`]);
    const credential = Object.freeze({ headers });
    this.upstream = new Upstream({
      url: "http://loopback",
      credentials: { get: () => credential },
      userAgent: "virtual-workspaces/loopback",
      connections: IN_FLIGHT,
      deadlines: { connect: LONGEST_START },
      dial: async () => {
        await this.#started.promise;
        return this.#connect();
      },
    });
  }

  /**
   * Serves what the server serves to itself; `within` it, what is asked is in its audit log and metrics. Called once, by the
   * server. @throws Error when it is another server's already
   */
  serve(options: Pick<ServerOptions, "virtualWorkspaces" | "impersonation" | "log" | "within">): void {
    if (this.#server !== undefined) throw new Error("a loopback is of one server: make another");
    this.#server = createServer({
      ...options,
      // Nobody but this process asks: whose token it says it has is the caller's.
      takesCallersTokens: true,
      authentication: [staticTokens({ [this.#token]: { name: SELF, groups: ["system:masters"] } })],
      limits: { inFlight: IN_FLIGHT, mutating: IN_FLIGHT, perUser: 1, perVirtualWorkspace: 1 },
      closeTimeout: 0,
    });
  }

  /**
   * From now on it answers; whoever has asked before has waited.
   *
   * @param known whoever asks waits for this as well; the start itself does not
   */
  async start(known?: Promise<void>): Promise<void> {
    await this.#server?.start();
    this.#started.resolve(known);
  }

  /** Ends all requests under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
    await this.#server?.close();
  }

  #connect(): Duplex {
    if (this.#server === undefined) throw new Error("the server that has the workspaces has not been made yet");
    return this.#server.connect();
  }
}

/** Workspaces of the server that it is then given to, for views that the same server runs. */
export function loopback(): Loopback {
  return new Loopback();
}
