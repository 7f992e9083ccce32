import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { remoteHeaders } from "@virtual-workspaces/client/http";
import type { PeerGroup } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Upstream } from "@virtual-workspaces/transport";
import type { PeersOptions } from "./group-options.ts";
import { toReplica } from "./routes.ts";
import type { MemberPlace } from "./worker-messages.ts";

/** Path at which replicas list each other's workers. */
const ROSTER_PATH = "/peers";
/** User name of replicas. */
const REPLICA = "system:replica";

/** Workers of a replica, as other replicas see them. */
export interface Roster {
  readonly members: readonly Pick<MemberPlace, "name" | "minter">[];
}

/** Serves the list of workers to other replicas only. */
export function rosterView(group: PeerGroup, roster: () => Roster): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "peers",
    prefix: ROSTER_PATH,
    path: "/",
    authorize: () => allow(), // the handler checks the certificate
    handle: (req, res) => {
      if (!group.isPeer(req))
        throw ApiError.forbidden({
          resource: { group: "", resource: "" },
          message: "only a replica may list the workers",
        });
      answer(res, roster());
    },
  });
}

/** Parses the answer of another replica. @throws Error when it is invalid */
function readRoster(body: Uint8Array): Roster {
  const { members } = JSON.parse(Buffer.from(body).toString("utf8")) as Partial<Roster>;
  if (!Array.isArray(members) || !members.every(isMember)) throw new Error("invalid answer: it lists no workers");
  return { members };
}

function isMember({ name, minter }: Roster["members"][number]): boolean {
  return typeof name === "string" && Number.isInteger(minter);
}

function answer(res: ServerResponse, roster: Roster): void {
  const body = JSON.stringify(roster);
  res.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}

export interface ReplicasOptions {
  readonly peers: PeersOptions;
  /** Prefix of the names of this replica's workers, whose URL may be in the list. */
  readonly own: string;
  readonly onMembers: (members: readonly MemberPlace[]) => Promise<void>;
  /** Receives a found replica, and later changes of its workers. */
  readonly onFound: (url: string, workers: number) => void;
  readonly log: Log;
}

/** Interval of the requests to other replicas, ms. */
const EVERY = 1_000;
/** Consecutive failures after which a replica counts as gone. */
const PATIENCE = 2;
const HEADERS: readonly string[] = Object.freeze(remoteHeaders({ name: REPLICA }));

interface Replica {
  readonly url: string;
  readonly upstream: Upstream;
  members: readonly MemberPlace[];
  failures: number;
}

/** Tracks the workers of other replicas. */
export class Replicas implements AsyncDisposable {
  readonly #options: ReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** Creates the clients. @throws Error on an invalid certificate authority */
  constructor(options: ReplicasOptions) {
    const { peers } = options;
    this.#options = options;
    this.#replicas = peers.urls.map((url) => ({ url, upstream: toReplica(url, peers), members: [], failures: 0 }));
  }

  /** Resolves after one request to each replica. */
  async start(): Promise<void> {
    await this.#look();
    this.#running = this.#follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#replicas.map(({ upstream }) => upstream[Symbol.asyncDispose]()));
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await delay(EVERY, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => this.#ask(replica)));
    if (!this.#stop.signal.aborted) await this.#options.onMembers(this.#replicas.flatMap(({ members }) => members));
  }

  async #ask(replica: Replica): Promise<void> {
    const { url, upstream } = replica;
    try {
      const answer = await upstream.send({ path: ROSTER_PATH, headers: HEADERS, deadlines: { head: EVERY } });
      if (answer.status !== 200) throw new Error(`unexpected status ${answer.status}`);
      const { members } = readRoster(answer.body);
      const isOwn = members.some(({ name }) => name.startsWith(`${this.#options.own}/`));
      this.#found(replica, isOwn ? [] : members.map(({ name, minter }) => ({ name, minter, at: url })));
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#missed(replica, error);
    }
  }

  #found(replica: Replica, members: readonly MemberPlace[]): void {
    const isKnown = isDeepStrictEqual(replica.members, members);
    replica.members = members;
    replica.failures = 0;
    if (isKnown) return;
    this.#options.onFound(replica.url, members.length);
  }

  #missed(replica: Replica, error: unknown): void {
    replica.failures += 1;
    if (replica.failures < PATIENCE) return;
    replica.members = [];
    if (replica.failures > PATIENCE) return;
    this.#options.log({ level: "warn", message: "replica unavailable", url: replica.url, error: String(error) });
  }
}
