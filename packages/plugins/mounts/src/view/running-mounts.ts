import { Client } from "@virtual-workspaces/client";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { Mount, type MountPhase } from "@virtual-workspaces/kcp";
import { ExportedObjects, ShardLocation } from "@virtual-workspaces/kcp/informers";
import { mountTypes } from "@virtual-workspaces/kcp/targets";
import { MountController } from "../controller/mount-controller.ts";
import { restrictedDial } from "../dial/restricted-dial.ts";
import { Addresses, refusal } from "../dial/restrictions.ts";
import { KnownMounts } from "../targets/known-mounts.ts";
import { urlMount } from "../types/url.ts";
import { redirectMount, workspaceMount } from "../types/workspace-types.ts";
import type { MountsViewOptions } from "./options.ts";

/** Values of the label `phase`. */
const PHASES: readonly MountPhase[] = ["Ready", "Connecting", "Unknown", "Initializing"];

/** Watches the mounts of a shard, resolves them and updates their statuses. */
export class RunningMounts {
  readonly mounts: KnownMounts;
  readonly #informer: ExportedObjects<Mount>;
  readonly #urls: ShardLocation;
  readonly #options: Required<Pick<MountsViewOptions, "onError">> & MountsViewOptions;
  #controller: MountController | undefined;

  /** @throws Error on invalid options */
  constructor(options: Required<Pick<MountsViewOptions, "onError">> & MountsViewOptions) {
    const { upstream, everywhere = upstream, shard, urls, onError, lookup } = options;
    const { types = [urlMount(), redirectMount(), workspaceMount()], allow = [], callerHosts = [] } = options;
    this.#options = options;
    const addresses = new Addresses(allow);
    const everywhereClient = new Client({ upstream: everywhere, cluster: "*" });
    this.#informer = new ExportedObjects<Mount>({
      client: new Client({ upstream, cluster: "*" }),
      everywhere: everywhereClient,
      name: Mount.group,
      kind: Mount,
      onError,
    });
    this.mounts = new KnownMounts({
      types: mountTypes(types),
      client: new Client({ upstream, cluster: "*" }),
      everywhere: everywhereClient,
      dial: restrictedDial({ addresses, ...(lookup && { lookup }) }),
      refuse: refusal({ addresses, callerHosts }),
      pathOf: (url) => this.#urls.pathOf(url),
      changed: (key) => this.#controller?.add(key),
      failed: (key, target) => this.#controller?.suspect(key, target),
      onError,
    });
    this.#urls = new ShardLocation({
      client: everywhereClient,
      shard,
      urls,
      changed: () => {
        this.mounts.resolveAll();
        this.#controller?.recheck();
      },
      onError,
    });
  }

  /** Resolves when the existing mounts are read, also without an export. */
  ready(): Promise<void> {
    return this.#informer.synced;
  }

  /** Returns the metrics: the number of mounts in each phase. */
  families(): readonly MetricFamily[] {
    const mounts = [...this.#informer.store.list()];
    const count = (phase: MountPhase): number =>
      mounts.filter(({ status }) => (status?.phase ?? "Initializing") === phase).length;
    return [
      {
        name: "virtual_workspaces_mounts",
        help: "Mounts of the shard, by phase of their status.",
        type: "gauge",
        labelNames: ["phase"],
        samples: PHASES.map((phase) => ({ labels: [phase], value: count(phase) })),
      },
    ];
  }

  /** Starts the informers and the controller, until the result is disposed. */
  start(): AsyncDisposable {
    const { upstream, onError } = this.#options;
    const informer = this.#informer;
    // This handler resolves a mount before the controller's runs.
    informer.on({
      added: (mount) => this.mounts.set(mount),
      updated: (mount) => this.mounts.set(mount),
      deleted: (_, { key }) => this.mounts.delete(key),
    });
    this.#controller = new MountController({
      informer,
      mounts: this.mounts,
      client: new Client({ upstream, cluster: "*" }),
      urls: () => this.#urls.get(),
      onError,
    });
    this.#urls.start();
    informer.start();
    return {
      [Symbol.asyncDispose]: async () => {
        await Promise.all([
          this.#controller?.[Symbol.asyncDispose](),
          informer[Symbol.asyncDispose](),
          this.#urls[Symbol.asyncDispose](),
        ]);
        await this.mounts[Symbol.asyncDispose]();
      },
    };
  }
}
