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

/** Where replicas ask one another who there is. */
const ROSTER_PATH = "/peers";
/** As whom they do. */
const REPLICA = "system:replica";

/** The workers of a replica, as it tells others. */
export interface Roster {
  readonly members: readonly Pick<MemberPlace, "name" | "minter">[];
}

/** Tells replicas who works here, and nobody else. */
export function rosterView(group: PeerGroup, roster: () => Roster): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "peers",
    prefix: ROSTER_PATH,
    path: "/",
    authorize: () => allow(), // by certificate, below
    handle: (req, res) => {
      if (!group.isPeer(req))
        throw ApiError.forbidden({
          resource: { group: "", resource: "" },
          message: "only a peer may ask who there is",
        });
      answer(res, roster());
    },
  });
}

/** What another replica has told. @throws Error on what is no roster */
function readRoster(body: Uint8Array): Roster {
  const { members } = JSON.parse(Buffer.from(body).toString("utf8")) as Partial<Roster>;
  if (!Array.isArray(members) || !members.every(isMember)) throw new Error("what it answers names no workers");
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
  /** What names of this replica's own workers begin with: it may be among the others. */
  readonly own: string;
  readonly onMembers: (members: readonly MemberPlace[]) => Promise<void>;
  /** Told of a replica that is there, and when its workers have changed. */
  readonly onFound: (url: string, workers: number) => void;
  readonly log: Log;
}

/** How often others are asked who there is, ms. */
const EVERY = 1_000;
/** How often one may not answer in a row before it counts as gone. */
const PATIENCE = 2;
const HEADERS: readonly string[] = Object.freeze(remoteHeaders({ name: REPLICA }));

interface Replica {
  readonly url: string;
  readonly upstream: Upstream;
  members: readonly MemberPlace[];
  failures: number;
}

/** Keeps up with who works in other replicas. */
export class Replicas implements AsyncDisposable {
  readonly #options: ReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** @throws Error on an authority that is none */
  constructor(options: ReplicasOptions) {
    const { peers } = options;
    this.#options = options;
    this.#replicas = peers.urls.map((url) => ({ url, upstream: toReplica(url, peers), members: [], failures: 0 }));
  }

  /** Resolves when each has been asked once. */
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
      if (answer.status !== 200) throw new Error(`it answers ${answer.status}`);
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
    this.#options.log({ level: "warn", message: "replica is away", url: replica.url, error: String(error) });
  }
}
