import { nameProblems } from "@virtual-workspaces/apimachinery";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  type PhysicalSpace,
  type ProviderCall,
  rejectParent,
  type SpaceAccess,
  type SpaceProvider,
} from "../../provider/provider.ts";
import { ReachedServer } from "../reached-server.ts";
import { Creations } from "./creations.ts";
import { printed, type ToolOptions } from "./tool.ts";

/** Returns the arguments of a tool for a cluster. `folder` is a temporary directory for files of the tool. */
export type ClusterArguments = (name: string, folder: string) => readonly string[];

/** Options of {@link Clusters}. */
export interface ClustersOptions extends ToolOptions {
  readonly list: readonly string[];
  readonly parse: (printed: string) => readonly string[];
  readonly kubeconfig: ClusterArguments;
  readonly incluster: ClusterArguments | undefined;
  readonly create: ClusterArguments | undefined;
  readonly delete: ClusterArguments | undefined;
  readonly longestName: number;
  /** ms */
  readonly within: number;
  readonly createWithin: number;
  readonly answerWithin: number;
  readonly log: Log;
}

/** Maximum age of a kubeconfig, ms: the credentials of the cluster may have been replaced while the former ones are still valid. */
const FRESH = 60_000;
/** Maximum number of concurrent readiness checks. */
const AT_ONCE = 4;
/** Valid cluster names. */
const NAME = /^[\w.-]{1,253}$/;
/** Names that no tool takes for a flag or a path. */
const PLAIN = /^[A-Za-z0-9]/;

/** Time limit for the deletion of incomplete clusters at shutdown, ms. */
const LAST = 10_000;

/** A cluster and its last kubeconfig. */
interface ReachedCluster {
  readonly server: ReachedServer;
  readonly text: string;
  /** Time when the tool printed the kubeconfig, ms. */
  readonly since: number;
}

/** Clusters of a command-line tool, which is the only source of their state. */
export class Clusters implements SpaceProvider, AsyncDisposable {
  readonly #options: ClustersOptions;
  readonly #known = new Map<string, ReachedCluster>();
  readonly #creations = new Creations();
  readonly create?: (name: string, call: ProviderCall) => Promise<void>;
  readonly delete?: (name: string, call: ProviderCall) => Promise<void>;

  constructor(options: ClustersOptions) {
    this.#options = options;
    const { create, delete: remove } = options;
    if (create !== undefined) this.create = (name, call) => this.#create(name, create, call);
    if (remove !== undefined) this.delete = (name, call) => this.#delete(name, remove, call);
  }

  async list({ parent, signal }: ProviderCall): Promise<readonly PhysicalSpace[]> {
    if (parent !== undefined) return [];
    const names = (await this.#names(signal)).filter((name) => !this.#creations.has(name));
    for (const name of this.#known.keys()) if (!names.includes(name)) await this.#forget(name);
    const left = names.values();
    const spaces: PhysicalSpace[] = [];
    const look = async (): Promise<void> => {
      for (const name of left) spaces.push(await this.#space(name, signal));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
    return spaces;
  }

  async get(name: string, { parent, signal }: ProviderCall): Promise<PhysicalSpace | undefined> {
    if (parent !== undefined || this.#creations.has(name)) return undefined;
    return (await this.#names(signal)).includes(name) ? this.#space(name, signal) : undefined;
  }

  async access(name: string, { parent, signal }: ProviderCall): Promise<SpaceAccess> {
    rejectParent(parent);
    const { kubeconfig, incluster } = this.#options;
    const said = async (args: ClusterArguments): Promise<string> => {
      await using server = ReachedServer.by(await this.#print({ args, name, signal }), name);
      return server.kubeconfig;
    };
    const external = await said(kubeconfig);
    return incluster === undefined ? { external } : { external, incluster: await said(incluster) };
  }

  /** Aborts creations in progress, since no manager would receive their results. */
  async [Symbol.asyncDispose](): Promise<void> {
    const half = await this.#creations.endAll();
    const { delete: remove, log } = this.#options;
    const signal = AbortSignal.timeout(LAST);
    const left = (name: string, error: unknown): void =>
      log({ level: "warn", message: "an incomplete cluster was not deleted", name, error: String(error) });
    if (remove !== undefined)
      await Promise.all(
        half.map((name) => this.#print({ args: remove, name, signal }).catch((error: unknown) => left(name, error))),
      );
    for (const name of this.#known.keys()) await this.#forget(name);
  }

  async #create(name: string, args: ClusterArguments, { parent, signal }: ProviderCall): Promise<void> {
    rejectParent(parent);
    this.#check(name);
    if (!this.#creations.has(name) && (await this.#names(signal)).includes(name)) return;
    this.#creations.see(name, async (over) => {
      const { delete: remove, createWithin } = this.#options;
      // An incomplete cluster would block the next creation.
      if (this.#creations.hasFailed(name) && remove !== undefined)
        await this.#print({ args: remove, name, signal: over });
      await this.#print({ args, name, signal: over, within: createWithin });
    });
  }

  async #delete(name: string, args: ClusterArguments, { parent, signal }: ProviderCall): Promise<void> {
    if (parent !== undefined || !isPlain(name)) return;
    await this.#creations.end(name);
    await this.#print({ args, name, signal });
    await this.#forget(name);
  }

  async #names(signal: AbortSignal): Promise<readonly string[]> {
    const { name, list, parse, within } = this.#options;
    const text = await printed(this.#options, { args: () => list, within, signal });
    try {
      const names = parse(text);
      if (names.every((one) => typeof one === "string" && NAME.test(one))) return [...new Set(names)].filter(isPlain);
    } catch {
      // Security: the parser's error may contain anything that the tool printed, and is not shown.
    }
    throw new Error(
      `${name}: ${list.slice(0, 2).join(" ")} did not print a list of clusters: check that this is the right program`,
    );
  }

  async #space(name: string, signal: AbortSignal): Promise<PhysicalSpace> {
    const { answerWithin } = this.#options;
    let known = this.#known.get(name);
    let message = known && (await known.server.problem(answerWithin, signal));
    if (known === undefined || message !== undefined || performance.now() - known.since > FRESH) {
      try {
        known = await this.#reach(name, signal);
        message = await known.server.problem(answerWithin, signal);
      } catch (error) {
        signal.throwIfAborted();
        message = (error as Error).message;
      }
    }
    const { id, version } = known?.server ?? {};
    return {
      name,
      ...(message === undefined ? { phase: "Ready" } : { phase: "Initializing", message }),
      ...(id !== undefined && { id }),
      ...(version !== undefined && { accessVersion: version }),
    };
  }

  /** Connects with the cluster's current kubeconfig. @throws Error; SecretFault that names the problem */
  async #reach(name: string, signal: AbortSignal): Promise<ReachedCluster> {
    const text = await this.#print({ args: this.#options.kubeconfig, name, signal });
    const before = this.#known.get(name);
    const since = performance.now();
    const server = before?.text === text ? before.server : ReachedServer.by(text, name);
    const known = { server, text, since };
    // Set at once, since a concurrent call would otherwise connect a second time, and one of the connections would stay open.
    this.#known.set(name, known);
    if (server !== before?.server) await before?.server[Symbol.asyncDispose]();
    return known;
  }

  async #forget(name: string): Promise<void> {
    const known = this.#known.get(name);
    this.#known.delete(name);
    await known?.server[Symbol.asyncDispose]();
  }

  /** @throws Error */
  #print({ args, name, signal, within = this.#options.within }: Printing): Promise<string> {
    return printed(this.#options, { args: (folder) => args(name, folder), within, signal });
  }

  /** Validates the name of a new cluster. Existing clusters keep theirs. @throws Error */
  #check(cluster: string): void {
    const { name, longestName } = this.#options;
    const [problem] = nameProblems(cluster);
    if (problem !== undefined)
      throw new Error(`metadata.name: ${name} cannot create a cluster with this name, ${problem}`);
    if (cluster.length > longestName)
      throw new Error(`metadata.name: too long for ${name}: use at most ${longestName} characters`);
  }
}

interface Printing {
  readonly args: ClusterArguments;
  readonly name: string;
  readonly signal: AbortSignal;
  /** ms */
  readonly within?: number;
}

const isPlain = (name: string): boolean => NAME.test(name) && PLAIN.test(name);
