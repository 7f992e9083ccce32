// Real etcd members, one or several: the newest version, built from test/go/etcd, and the oldest supported one, Debian's.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EtcdOptions, etcdStore, type Store } from "@virtual-workspaces/store";
import { ETCD_REMEDY, findEtcd } from "../../../tools/etcd.mjs";
import { freePorts } from "../../_support/free-ports.ts";
import { building, goProgram } from "./build.ts";
import { Program } from "./program.ts";

export type EtcdVersion = "3.4" | "3.6";
export const versions: readonly EtcdVersion[] = ["3.4", "3.6"];

/** Hook for `before`: provides an etcd, or skips the suite with a message. */
export function etcdThere(version: EtcdVersion): (this: Mocha.Context) => Promise<void> | void {
  if (version === "3.6") return building("etcd");
  return function () {
    if (findEtcd() !== undefined) return;
    if (process.env["CI"] !== undefined) throw new Error(ETCD_REMEDY);
    process.stderr.write(`SKIPPED: ${ETCD_REMEDY}\n`);
    this.skip();
  };
}

export interface EtcdFlags {
  readonly [flag: string]: string | number | boolean;
}

export interface ClusterOptions {
  readonly version: EtcdVersion;
  /** Number of members. @default 1 */
  readonly members?: number;
  /** More flags of etcd. */
  readonly flags?: EtcdFlags;
  /** Whether clients use TLS; flags set the certificates. @default false */
  readonly tls?: boolean;
}

interface MemberPlace {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  readonly folder: string;
}

/** Cluster that outlives its members: they can be killed, and restarted over the same data. */
export class EtcdCluster implements AsyncDisposable {
  readonly endpoints: readonly string[];
  readonly #options: ClusterOptions;
  readonly #places: readonly MemberPlace[];
  readonly #folder: string;
  readonly #running: (Program | undefined)[] = [];
  #prefixes = 0;

  private constructor(options: ClusterOptions, places: readonly MemberPlace[], folder: string) {
    this.#options = options;
    this.#places = places;
    this.#folder = folder;
    this.endpoints = places.map(({ client }) => client);
  }

  /** Starts all members. They answer shortly afterwards, and clients wait for that. */
  static async start(options: ClusterOptions): Promise<EtcdCluster> {
    const folder = await mkdtemp(join(tmpdir(), "etcd-"));
    const count = options.members ?? 1;
    const ports = await freePorts(2 * count);
    const places = Array.from({ length: count }, (_, index) => ({
      name: `m${index}`,
      client: `${options.tls ? "https" : "http"}://localhost:${ports[2 * index]}`,
      peer: `http://127.0.0.1:${ports[2 * index + 1]}`,
      folder: join(folder, `m${index}`),
    }));
    const cluster = new EtcdCluster(options, places, folder);
    for (const index of places.keys()) cluster.launch(index);
    return cluster;
  }

  /** Opens a store over it, by default with a prefix of its own. @throws when a member has exited by itself */
  async store(options: Partial<EtcdOptions> = {}): Promise<Store> {
    const store = await etcdStore({ endpoints: this.endpoints, prefix: this.prefix(), ...options });
    const ended = this.#running.find((member) => member?.running === false);
    if (ended === undefined) return store;
    await store[Symbol.asyncDispose]();
    throw new Error(`an etcd member exited: ${ended.stderr}`);
  }

  /** Returns an unused prefix. */
  prefix(): string {
    return `/test/${this.#prefixes++}`;
  }

  /** Starts a member that is not running. */
  launch(index = 0, others: EtcdFlags = {}): void {
    const { name, client, peer, folder } = this.#place(index);
    const flags: EtcdFlags = {
      name,
      "data-dir": folder,
      "listen-client-urls": client.replace("localhost", "127.0.0.1"), // it binds only to addresses
      "advertise-client-urls": client,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": this.#places.map((place) => `${place.name}=${place.peer}`).join(","),
      "heartbeat-interval": 50,
      "election-timeout": 500,
      "log-level": "error",
      ...this.#options.flags,
      ...others,
    };
    const file = this.#options.version === "3.6" ? goProgram("etcd", "etcd") : (findEtcd() ?? "etcd");
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    this.#running[index] = new Program(file, args);
  }

  /** Kills a member like a crash, and resolves when it has exited. */
  async kill(index = 0): Promise<void> {
    await this.#running[index]?.[Symbol.asyncDispose]();
    this.#running[index] = undefined;
  }

  /** Kills a single member, and starts an empty one in its place. */
  async replace(flags: EtcdFlags = {}): Promise<void> {
    await this.kill();
    await rm(this.#place(0).folder, { recursive: true });
    this.launch(0, flags);
  }

  /** Stops a member, which then keeps its connections without answering, or resumes it. */
  signal(signal: "SIGSTOP" | "SIGCONT", index = 0): void {
    this.#running[index]?.signal(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#places.map((_, index) => this.kill(index)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #place(index: number): MemberPlace {
    const place = this.#places[index];
    if (place === undefined) throw new Error(`unknown member ${index}`);
    return place;
  }
}
