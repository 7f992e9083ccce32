import { createHash } from "node:crypto";
import { parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type Forwarded, forward, type WritableForwarded } from "@virtual-workspaces/forwarding";
import type { ServedResource, Verb } from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import type { Upstream } from "@virtual-workspaces/transport";
import type { KcpPhase } from "../phase.ts";
import type { WaitingLists } from "../waiting.ts";
import { ShownLogicalCluster, statusRule } from "./shown-logical-cluster.ts";

/** Options of {@link WaitingResources}. */
export interface WaitingResourcesOptions {
  readonly phase: KcpPhase;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

interface Entry extends WaitingLists {
  readonly reading: Forwarded<object>;
}

/** Maximum number of cached controller views. The least recently used one is dropped. */
const MOST = 1_000;
const READ: readonly Verb[] = ["get", "list", "watch"];

/** Returns the resource with kcp's entry in discovery: kcp hashes the name of a logical cluster too, which is empty here. */
function listedAsInKcp(resource: ServedResource): ServedResource {
  const { group, version, kind } = ShownLogicalCluster;
  const hash = createHash("sha256").update(`/${group}/${version}/${kind}`).digest();
  const status = { name: "status", verbs: [], kind: ShownLogicalCluster, form: "status" } as const;
  return { ...resource, subresources: [status], storageVersionHash: hash.toString("base64", 0, 8) };
}

/**
 * LogicalClusters that wait for a controller, for any number of controllers. The shard's labels select them, and they are forwarded
 * as bytes. Memory: a few KiB for each requested controller, at most 1,000.
 */
export class WaitingResources implements AsyncDisposable {
  readonly #options: WaitingResourcesOptions;
  readonly #entries = new Map<string, Entry>();
  /** Reads select by labels, so writes carry the version that was read. */
  readonly #all: WritableForwarded<object>;

  constructor(options: WaitingResourcesOptions) {
    this.#options = options;
    this.#all = forward<object>({ ...this.#place }) as WritableForwarded<object>;
  }

  /** Returns the same lists while they are in use. */
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
    // Has no `patch`: this process computes patches, so that the rule sees their result.
    const status: Storage = {
      lifecycle: "storage",
      get: (scope, key, options) => reading.get(scope, key, options),
      update: (scope, object, options) => this.#all.update(scope, object, options),
    };
    const admit = statusRule(phase, holder);
    const statusVerbs = ["get", "patch", "update"] as const;
    return {
      reading,
      everywhere: Object.freeze([
        listedAsInKcp(ShownLogicalCluster.serve(reading, { verbs: READ, statusVerbs: [], entering: phase.entering })),
      ]),
      one: Object.freeze([ShownLogicalCluster.serve(status, { verbs: ["get"], statusVerbs, admit })]),
    };
  }

  get #place() {
    const { upstream, onError } = this.#options;
    return { resource: ShownLogicalCluster, upstream, identity: "none", onError } as const;
  }
}
