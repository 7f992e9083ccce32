import { readFileSync } from "node:fs";
import { fileCredentials } from "@virtual-workspaces/client";
import type { Peer } from "@virtual-workspaces/forwarding";
import { processMinter } from "@virtual-workspaces/framework/storage";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { Upstream } from "@virtual-workspaces/transport";
import type { PeersOptions } from "./group-options.ts";
import type { GroupTrust, MemberPlace } from "./worker-messages.ts";

/** Time to keep connections to a peer that has left, for its last answers, ms. */
const LINGER = 30_000;

/** Upstreams of the other processes: workers of this replica by port, those of other replicas by URL. */
export class Routes implements AsyncDisposable {
  readonly #trust: GroupTrust;
  readonly #replicas: PeersOptions | undefined;
  readonly #upstreams = new Map<MemberPlace["at"], Upstream>();

  constructor(trust: GroupTrust, replicas: PeersOptions | undefined) {
    this.#trust = trust;
    this.#replicas = replicas;
  }

  /** Returns the members as peers of this process. */
  to(members: readonly MemberPlace[]): readonly Peer[] {
    const places = new Set(members.map(({ at }) => at));
    for (const [at, upstream] of this.#upstreams) if (!places.has(at)) this.#leave(at, upstream);
    return members.map(({ name, minter, at }) => {
      const near = typeof at === "number";
      return minter === processMinter.id ? { name, minter } : { name, minter, near, upstream: this.#upstreamAt(at) };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  #upstreamAt(at: MemberPlace["at"]): Upstream {
    const upstream =
      this.#upstreams.get(at) ?? (typeof at === "number" ? this.#near(at) : toReplica(at, this.#replicas));
    this.#upstreams.set(at, upstream);
    return upstream;
  }

  #near(port: number): Upstream {
    const { ca, client } = this.#trust;
    return new Upstream({
      url: `https://127.0.0.1:${port}`,
      tls: { ca, serverName: WORKER_NAME },
      credentials: { get: () => client },
    });
  }

  #leave(at: MemberPlace["at"], upstream: Upstream): void {
    this.#upstreams.delete(at);
    setTimeout(() => void upstream[Symbol.asyncDispose](), LINGER).unref();
  }
}

/** Returns the upstream of a replica, with this replica's certificate. @throws Error on an invalid certificate authority */
export function toReplica(url: string, options: PeersOptions | undefined): Upstream {
  if (options === undefined)
    throw new Error(`cannot connect to replica ${url}: this process has no options for replicas`);
  return new Upstream({
    url,
    tls: { ca: readFileSync(options.caFile, "utf8") },
    credentials: fileCredentials(options),
    deadlines: { connect: 1_000 },
  });
}

/** Server name of workers. It is not resolvable, so no client can be led to it. */
export const WORKER_NAME = "worker.virtual-workspaces.internal";

/** Creates the keys by which workers of one start authenticate each other. */
export async function groupTrust(now: Date): Promise<GroupTrust> {
  const subject = { name: WORKER_NAME, groups: [] };
  const authority = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
  const [server, client] = await Promise.all([
    issueCertificate({ subject, purpose: { kind: "server", hosts: [WORKER_NAME], addresses: [] }, now }, authority),
    issueCertificate({ subject, purpose: { kind: "client" }, now }, authority),
  ]);
  return { ca: authority.cert, server, client };
}
