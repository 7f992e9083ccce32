import { parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Forwarded, forward, type WritableForwarded } from "@virtual-workspaces/forwarding";
import type { Verb } from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import type { Upstream } from "@virtual-workspaces/transport";
import type { KcpPhase } from "../phase.ts";
import type { WaitingLists } from "../waiting.ts";
import { ShownLogicalCluster, statusRule } from "./shown-logical-cluster.ts";

/** Where the LogicalClusters are, and which. */
export interface WaitingResourcesOptions {
  readonly phase: KcpPhase;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

interface Entry extends WaitingLists {
  readonly reading: Forwarded<object>;
}

/** How many controllers' views are kept ready: the one that was asked for the longest ago makes room. */
const MOST = 1_000;
const READ: readonly Verb[] = ["get", "list", "watch"];

/**
 * The LogicalClusters that wait for one controller, for as many of these as there are: found by labels that the shard keeps, passed
 * as bytes. Memory: a few KiB for each controller that has been asked for, of 1,000 at most.
 */
export class WaitingResources implements AsyncDisposable {
  readonly #options: WaitingResourcesOptions;
  readonly #entries = new Map<string, Entry>();
  /** Asked for what has been read by its labels: what is written insists on the version that was read. */
  readonly #all: WritableForwarded<object>;

  constructor(options: WaitingResourcesOptions) {
    this.#options = options;
    this.#all = forward<object>({ ...this.#place }) as WritableForwarded<object>;
  }

  /** The same lists as long as they are asked for. */
  of(holder: string): WaitingLists {
    const entry = this.#entries.get(holder) ?? this.#made(holder);
    this.#entries.delete(holder);
    this.#entries.set(holder, entry);
    for (const [name, { reading }] of this.#entries) {
      if (this.#entries.size <= MOST) break;
      this.#entries.delete(name);
      reading[Symbol.asyncDispose]().catch(this.#options.onError);
    }
    return entry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all([this.#all, ...all.map(({ reading }) => reading)].map((each) => each[Symbol.asyncDispose]()));
  }

  #made(holder: string): Entry {
    const { phase } = this.#options;
    const reading = forward<object>({ ...this.#place, labels: parseLabelSelector(phase.labels(holder)) });
    // Without a patch of its own: patches are worked out here, so that the rule sees what comes of them.
    const status: Storage = {
      lifecycle: "storage",
      get: (scope, key, options) => reading.get(scope, key, options),
      update: (scope, object, options) => this.#all.update(scope, object, options),
    };
    const admit = statusRule(phase, holder);
    const statusVerbs = ["get", "patch", "update"] as const;
    return {
      reading,
      everywhere: Object.freeze([ShownLogicalCluster.serve(reading, { verbs: READ, statusVerbs: [] })]),
      one: Object.freeze([ShownLogicalCluster.serve(status, { verbs: ["get"], statusVerbs, admit })]),
    };
  }

  get #place() {
    const { upstream, onError } = this.#options;
    return { resource: ShownLogicalCluster, upstream, identity: "none", onError } as const;
  }
}
