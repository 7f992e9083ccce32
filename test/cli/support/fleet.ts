// Replicas of `virtual-workspaces serve`, with several workers each, over one workspace server.
import { join } from "node:path";
import { root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { createAuthority, type TestAuthority } from "../../_support/server.ts";
import { type Balancer, balanceConnections, balanceRequests } from "./balancer.ts";
import { Start } from "./start.ts";
import { ask, Serve, USERS } from "./views-of-workspaces.ts";

/** Headers of an administrator with all rights. */
export const ROOT = { authorization: "Bearer root-token" };
const FLEET_VIEWS: string = join(root, "test/cli/fixtures/fleet.fixture.ts");

export interface FleetOptions {
  /** Number of replicas. @default 2 */
  readonly replicas?: number;
  readonly workers: number;
  readonly view?: string;
  readonly flags?: readonly string[];
  /** Unit that the balancer distributes. @default "requests" */
  readonly turns?: "requests" | "connections";
}

/** Replicas behind a balancer. */
export class Fleet implements AsyncDisposable {
  readonly shard: Start;
  readonly replicas: Serve[] = [];
  /** Connections to the replicas, which can fail. */
  readonly wires: readonly Relay[];
  readonly balancer: Balancer;
  /** Certificate authority of the replicas, as servers and among themselves. */
  readonly authority: TestAuthority;
  readonly folder: Tree;
  readonly #options: FleetOptions;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Fleet, "shard" | "wires" | "balancer" | "authority" | "folder">,
    options: FleetOptions,
    stack: AsyncDisposableStack,
  ) {
    this.shard = parts.shard;
    this.wires = parts.wires;
    this.balancer = parts.balancer;
    this.authority = parts.authority;
    this.folder = parts.folder;
    this.#options = options;
    this.#stack = stack;
  }

  static async ready(options: FleetOptions): Promise<Fleet> {
    await using stack = new AsyncDisposableStack();
    const { replicas = 2, turns = "requests" } = options;
    const authority = createAuthority();
    const peer = authority.client("replica", []);
    const folder = stack.use(
      tree({
        ...{ "ca.crt": authority.ca, "tls.crt": authority.server.cert, "tls.key": authority.server.key },
        ...{ "peer.crt": peer.cert, "peer.key": peer.key },
      }),
    );
    const shard = stack.use(await Start.ready({ files: USERS }));
    let fleet: Fleet | undefined;
    const wires: Relay[] = [];
    for (let at = 0; at < replicas; at++) wires.push(stack.use(await startRelay(() => fleet?.replicas[at]?.port ?? 0)));
    const balancer = stack.use(await (turns === "requests" ? balanceRequests(authority) : balanceConnections()));
    balancer.backends = wires;
    fleet = new Fleet({ shard, wires, balancer, authority, folder }, options, stack.move());
    try {
      await Promise.all(wires.map((_, at) => fleet?.start(at)));
      await fleet.acquainted();
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a replica in place of one that has ended. */
  async start(at: number): Promise<void> {
    const { workers, view = FLEET_VIEWS, flags = [] } = this.#options;
    const file = (name: string): string => join(this.folder.path, name);
    const urls = this.wires.map(({ port }) => `https://127.0.0.1:${port}`).join(",");
    const replica = new Serve([
      ...["--view", view, "--kubeconfig", this.shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--bind-address", "127.0.0.1", "--secure-port", "0", "--workers", String(workers)],
      ...["--tls-cert-file", file("tls.crt"), "--tls-private-key-file", file("tls.key")],
      ...(this.wires.length === 1 ? [] : ["--peers", urls, "--peer-ca-file", file("ca.crt")]),
      ...(this.wires.length === 1 ? [] : ["--proxy-client-cert-file", file("peer.crt")]),
      ...(this.wires.length === 1 ? [] : ["--proxy-client-key-file", file("peer.key")]),
      ...flags,
    ]);
    this.replicas[at] = replica;
    await replica.until("ready", () => replica.port !== 0, 60_000);
  }

  /** Resolves when all replicas know all workers. */
  async acquainted(): Promise<void> {
    const { workers } = this.#options;
    for (const [at, replica] of this.replicas.entries())
      for (const [other, { port }] of this.wires.entries())
        if (other !== at) {
          const line = `Replica https://127.0.0.1:${port} has ${workers} workers`;
          await replica.until(line, () => replica.lines.includes(line), 20_000);
        }
  }

  /** Returns the workers that answer now: their process IDs and minters. */
  async workers(): Promise<readonly { readonly pid: number; readonly minter: number }[]> {
    const found = new Map<number, { readonly pid: number; readonly minter: number }>();
    const wanted = this.#options.workers * this.replicas.length;
    for (const deadline = performance.now() + 30_000; found.size < wanted; ) {
      if (performance.now() > deadline) throw new Error(`${found.size} of ${wanted} workers answer`);
      const { code, body } = await ask(`${this.url}/worker`, { ca: this.ca, headers: ROOT });
      if (code !== 200) continue;
      const worker = JSON.parse(body) as { readonly pid: number; readonly minter: number };
      found.set(worker.pid, worker);
    }
    return [...found.values()];
  }

  get url(): string {
    return `https://127.0.0.1:${this.balancer.port}/services`;
  }

  /** Returns the URL of a replica, without the balancer. */
  direct(path: string, replica = 0): string {
    return `https://127.0.0.1:${this.wires[replica]?.port}${path}`;
  }

  get ca(): string {
    return this.authority.ca;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica[Symbol.asyncDispose]()));
    await this.#stack.disposeAsync();
  }
}
