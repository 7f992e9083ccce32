import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import type { Source } from "@virtual-workspaces/client/queue";
import { clusterURL, Mount, type MountStatus, viewURL } from "@virtual-workspaces/kcp";
import { markFalse, markTrue, markUnknown, setSummary } from "@virtual-workspaces/kcp/conditions";
import { exportedKey, paced, type ServedUrls } from "@virtual-workspaces/kcp/informers";
import { type NoTarget, type ProxyTarget, probeTarget, type Target } from "@virtual-workspaces/kcp/targets";
import { type KnownMount, type KnownMounts, mountError, mountKey } from "../targets/known-mounts.ts";
import { none } from "../types/no-target.ts";

/** Options of {@link MountController}. */
export interface MountControllerOptions {
  readonly informer: Source<Mount>;
  readonly mounts: KnownMounts;
  /** Client that writes statuses. */
  readonly client: Client;
  readonly urls: () => ServedUrls | undefined;
  readonly onError: (error: unknown) => void;
}

/** Probe interval of a reachable target, in ms. It grows with more than 750 targets. */
const EVERY = 30_000;
/** Probe interval of an unreachable target, in ms. It grows with more than 50 of them. */
const AGAIN = 2_000;
/** Number of workers. An unresponsive target occupies one for 10 s. */
const WORKERS = 16;

/** Updates the statuses of mounts by the state of their targets. */
export class MountController implements AsyncDisposable {
  readonly #options: MountControllerOptions;
  readonly #controller: Controller<Mount>;
  /** Time of each target's last successful probe, by the process clock in ms. */
  readonly #answered = new WeakMap<ProxyTarget, number>();
  /** Mounts whose targets are probed, by the result of the last probe. */
  readonly #probes = { reachable: new Set<string>(), unreachable: new Set<string>() };
  /** Reasons of the last failed checks, by mount: the log has each once, until the reason changes. */
  readonly #logged = new Map<string, string>();

  constructor(options: MountControllerOptions) {
    this.#options = options;
    const { informer, onError } = options;
    this.#controller = controller<Mount>({
      name: "mounts",
      sources: [{ informer }],
      reconcile: (key, { object, signal }) => {
        if (object !== undefined) return this.#reconcile(key, signal);
        this.#logged.delete(mountKey(key));
        this.#next(key, undefined);
        return undefined;
      },
      workers: WORKERS,
      onError: ({ error }) => onError(error),
    });
  }

  /** Reconciles a mount again. */
  add(key: ObjectKey): void {
    this.#controller.add(key);
  }

  /** Probes a target again, even if the last probe succeeded recently. */
  suspect(key: ObjectKey, target: ProxyTarget): void {
    this.#answered.delete(target);
    this.add(key);
  }

  /** Reconciles all mounts again. */
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
    // A published status stays until it is known to be wrong: a restart does not withdraw what clients use.
    const isKnown = !known.unread && urls() !== undefined;
    if (!isKnown && mount.status?.conditions !== undefined) return undefined;
    const probed = target.kind === "proxy" && target.vouched !== true;
    const found = probed ? await this.#probed(known, target, signal) : target;
    // The target has changed meanwhile, which reconciles the mount again.
    if (mounts.get(key)?.target !== target) return undefined;
    this.#log(key, probed && found.kind === "none" ? found : undefined);
    const status = statusOf(mount, { cluster: key.cluster, target: found, urls: urls(), now: new Date() });
    if (!isDeepStrictEqual(status, mount.status)) {
      const { resourceVersion = "" } = mount.metadata;
      const place = client.cluster(key.cluster).resource(Mount);
      await place.status.mergePatch(key.name, { metadata: { resourceVersion }, status }, { signal });
    }
    return this.#next(key, probed ? found === target : undefined);
  }

  /** Returns when a target is probed again. @param isReachable `undefined` if it is not probed */
  #next(key: ObjectKey, isReachable: boolean | undefined): ReconcileResult | undefined {
    const { reachable, unreachable } = this.#probes;
    const text = mountKey(key);
    if (isReachable !== true) reachable.delete(text);
    if (isReachable !== false) unreachable.delete(text);
    if (isReachable === undefined) return undefined;
    const [least, probed] = isReachable ? [EVERY, reachable] : [AGAIN, unreachable];
    return { requeueAfter: paced(least, probed.add(text).size) };
  }

  async #probed(known: KnownMount, target: ProxyTarget, signal: AbortSignal): Promise<Target | NoTarget> {
    if (performance.now() - (this.#answered.get(target) ?? Number.NEGATIVE_INFINITY) < EVERY) return target;
    const { upstream } = this.#options.mounts.contextOf(known, target);
    const hasCredential = target.identity !== "None" && target.identity !== "Caller";
    const problem = await probeTarget(upstream, { hasCredential, signal });
    if (problem !== undefined)
      return none(problem.reason === "Restricted" ? "Unknown" : "Connecting", problem.reason, problem.message);
    this.#answered.set(target, performance.now());
    return target;
  }

  #log(key: ObjectKey, problem: NoTarget | undefined): void {
    const text = mountKey(key);
    if (problem?.reason === this.#logged.get(text)) return;
    if (problem === undefined) return void this.#logged.delete(text);
    const { reason, message } = problem;
    this.#logged.set(text, reason);
    this.#options.onError(mountError(key, "a check of its target has failed", `${reason}: ${message}`));
  }
}

/** Condition that reports whether a mount has a usable target. */
const REACHABLE = "Reachable";

/** State of a mount for its status. */
interface ObservedMount {
  readonly cluster: string;
  readonly target: Target | NoTarget;
  readonly urls: ServedUrls | undefined;
  readonly now: Date;
}

const UNKNOWN_URL = none(
  "Initializing",
  "URLUnknown",
  "the URLs of this server's views are not known yet: check its Shard",
);

/** Returns the status of a mount: Ready with its URL, or neither, since other controllers read both. */
function statusOf({ metadata, status }: Mount, { cluster, target, urls, now }: ObservedMount): MountStatus {
  const problem = target.kind === "none" ? target : urls === undefined ? UNKNOWN_URL : undefined;
  const url =
    target.kind === "none" || urls === undefined ? status?.URL : urlOf(metadata.name ?? "", { cluster, target, urls });
  const conditions = setSummary(conditionOf(status, problem, now), { now });
  return {
    ...status,
    phase: problem?.phase ?? "Ready",
    conditions,
    // kcp's contract of mount objects has `URL`, the proposal `url`.
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
