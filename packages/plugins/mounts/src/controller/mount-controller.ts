import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import type { Source } from "@virtual-workspaces/client/queue";
import { clusterURL, Mount, type MountStatus, viewURL } from "@virtual-workspaces/kcp";
import { markFalse, markTrue, markUnknown, setSummary } from "@virtual-workspaces/kcp/conditions";
import { exportedKey, type ServedUrls } from "@virtual-workspaces/kcp/informers";
import type { NoTarget, ProxyTarget, Target } from "@virtual-workspaces/kcp/targets";
import type { KnownMount, KnownMounts } from "../targets/known-mounts.ts";
import { none } from "../types/no-target.ts";
import { probe } from "./probe.ts";

/** What the controller of mounts works with. */
export interface MountControllerOptions {
  readonly informer: Source<Mount>;
  readonly mounts: KnownMounts;
  /** By which statuses are written. */
  readonly client: Client;
  readonly urls: () => ServedUrls | undefined;
  readonly onError: (error: unknown) => void;
}

/** How often a target is asked whether it is still there, ms. */
const EVERY = 30_000;
/** How often one is that is not, ms. */
const AGAIN = 2_000;
/** A target that does not answer holds one of them for 10 s. */
const WORKERS = 16;

/** Keeps the statuses of mounts in step with what they lead to. */
export class MountController implements AsyncDisposable {
  readonly #options: MountControllerOptions;
  readonly #controller: Controller<Mount>;
  /** When targets answered last, by the clock of the process, ms. */
  readonly #answered = new WeakMap<ProxyTarget, number>();

  constructor(options: MountControllerOptions) {
    this.#options = options;
    const { informer, onError } = options;
    this.#controller = controller<Mount>({
      name: "mounts",
      sources: [{ informer }],
      reconcile: (key, { object, signal }) => (object === undefined ? undefined : this.#reconcile(key, signal)),
      workers: WORKERS,
      onError: ({ error }) => onError(error),
    });
  }

  /** A mount is to be looked at again. */
  add(key: ObjectKey): void {
    this.#controller.add(key);
  }

  /** Its target is to be asked again, although it has just answered. */
  suspect(key: ObjectKey, target: ProxyTarget): void {
    this.#answered.delete(target);
    this.add(key);
  }

  /** All are. */
  recheck(): void {
    const { informer } = this.#options;
    for (const mount of informer.store.list()) this.#controller.add(exportedKey(mount));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#controller.stop();
  }

  async #reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { mounts, urls, client } = this.#options;
    const known = mounts.get(key);
    if (known === undefined || known.mount.metadata.deletionTimestamp !== undefined) return undefined;
    const { mount, target } = known;
    // What was said holds until it is known not to: who begins anew does not take back what others go by.
    const isKnown = !known.unread && urls() !== undefined;
    if (!isKnown && mount.status?.conditions !== undefined) return undefined;
    const probed = target.kind === "proxy" && target.vouched !== true;
    const found = probed ? await this.#probed(known, target, signal) : target;
    // It leads elsewhere by now, and is looked at again for that.
    if (mounts.get(key)?.target !== target) return undefined;
    const status = statusOf(mount, { cluster: key.cluster, target: found, urls: urls(), now: new Date() });
    if (!isDeepStrictEqual(status, mount.status)) {
      const { resourceVersion = "" } = mount.metadata;
      const place = client.cluster(key.cluster).resource(Mount);
      await place.status.mergePatch(key.name, { metadata: { resourceVersion }, status }, { signal });
    }
    return probed ? { requeueAfter: found === target ? EVERY : AGAIN } : undefined;
  }

  async #probed(known: KnownMount, target: ProxyTarget, signal: AbortSignal): Promise<Target | NoTarget> {
    if (performance.now() - (this.#answered.get(target) ?? Number.NEGATIVE_INFINITY) < EVERY) return target;
    const problem = await probe(this.#options.mounts.contextOf(known, target), target, signal);
    if (problem === undefined) this.#answered.set(target, performance.now());
    return problem ?? target;
  }
}

/** The condition that says whether a mount leads anywhere. */
const REACHABLE = "Reachable";

/** What is known of a mount. */
interface ObservedMount {
  readonly cluster: string;
  readonly target: Target | NoTarget;
  readonly urls: ServedUrls | undefined;
  readonly now: Date;
}

const UNKNOWN_URL = none(
  "Initializing",
  "URLUnknown",
  "where this server serves its views is not known yet: see its Shard",
);

/** The status of a mount: Ready together with its URL, or neither, since controllers of others look at both. */
function statusOf({ metadata, status }: Mount, { cluster, target, urls, now }: ObservedMount): MountStatus {
  const problem = target.kind === "none" ? target : urls === undefined ? UNKNOWN_URL : undefined;
  const url =
    target.kind === "none" || urls === undefined ? status?.URL : urlOf(metadata.name ?? "", { cluster, target, urls });
  const conditions = setSummary(conditionOf(status, problem, now), { now });
  return {
    ...status,
    phase: problem?.phase ?? "Ready",
    conditions,
    // The contract of mount objects has it in capitals, the proposal does not.
    ...(url !== undefined && { URL: url, url }),
  };
}

function urlOf(
  name: string,
  at: { readonly cluster: string; readonly target: Target; readonly urls: ServedUrls },
): string {
  const { cluster, target, urls } = at;
  if (target.kind === "workspace") return clusterURL(urls.clusters, target.path);
  return viewURL(urls.services, "mounts", cluster, name);
}

function conditionOf(
  status: MountStatus | undefined,
  problem: NoTarget | undefined,
  now: Date,
): NonNullable<MountStatus["conditions"]> {
  const { conditions } = status ?? {};
  if (problem === undefined) return markTrue(conditions, REACHABLE, now);
  const { reason, message, phase } = problem;
  if (phase === "Initializing") return markUnknown(conditions, { type: REACHABLE, reason, message }, now);
  return markFalse(conditions, { type: REACHABLE, severity: "Error", reason, message }, now);
}
