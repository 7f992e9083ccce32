import { isDeepStrictEqual } from "node:util";
import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { StoredPlace } from "@virtual-workspaces/store";
import { untilAborted } from "@virtual-workspaces/transport";
import { Workers } from "../controllers/workers.ts";
import { membersOf, specOf } from "../kinds/problems.ts";
import { formatCount } from "../kinds/quantity.ts";
import { ResourceQuota } from "../kinds/resource-quota.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { keyText } from "../state/informers/key-index.ts";
import { modify } from "../state/modify.ts";
import { countedResource, type QuotaIndex, type QuotaLimits } from "./quota-limits.ts";
import type { QuotaMeter } from "./quota-meter.ts";
import type { QuotaUsage } from "./quota-usage.ts";

/** Time after which a change of the kinds is served, in milliseconds. */
const SERVED = 500;

/** Interval of the resync of all quotas, in milliseconds, as in kcp. */
const RESYNC = 300_000;

/** Key spaces of objects that add or remove kinds. */
const KINDS: ReadonlySet<string> = new Set([
  "apis.kcp.io/apibindings",
  "apiextensions.k8s.io/customresourcedefinitions",
]);

/** Options of a {@link QuotaController}. */
export interface QuotaControllerOptions {
  readonly quotas: QuotaIndex;
  readonly usage: QuotaUsage;
  readonly meter: QuotaMeter;
}

/**
 * Writes the status of quotas: `hard` from the spec, and `used` from the number of objects. Only for clients: admission
 * counts by itself.
 */
export class QuotaController implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #options: QuotaControllerOptions;
  readonly #workers: Workers<ObjectKey>;
  readonly #subscriptions = new DisposableStack();
  readonly #stop = new AbortController();
  #resync: Disposable | undefined;

  constructor(context: ShardContext, options: QuotaControllerOptions) {
    const { state, feed, log, name: shard } = context;
    this.#context = context;
    this.#options = options;
    this.#workers = new Workers<ObjectKey>({
      clock: context.clock,
      id: keyText,
      part: ({ cluster }) => cluster,
      count: 4,
      work: (key) => this.#work(key),
      onError: (error, key) => {
        if (this.#stop.signal.aborted) return;
        log({ level: "warn", message: "failed to count a quota", shard, key: keyText(key), error: String(error) });
      },
    });
    const enqueue = (_: unknown, { key }: { readonly key: ObjectKey }): void => this.#workers.add(key);
    this.#subscriptions.use(
      state.resourceQuotas.on({
        added: enqueue,
        updated: (quota, _before, event) => enqueue(quota, event),
        deleted: (_, { key: { cluster } }) => this.#forget(cluster),
      }),
    );
    this.#subscriptions.use(
      options.usage.on(({ cluster, resource, namespace }) => {
        for (const { key } of options.quotas.limiting(cluster, resource, namespace)) this.#workers.add(key);
      }),
    );
    const changed = ({ space, key }: StoredPlace): void => {
      if (KINDS.has(space)) this.#requeue(key.cluster);
    };
    this.#subscriptions.use(feed.on({ set: changed, deleted: changed, synced: () => this.#all() }));
    this.#subscriptions.use(options.meter.add(() => this.#workers.metrics));
    this.#subscriptions.defer(() => this.#resync?.[Symbol.dispose]());
    this.#resyncLater();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#subscriptions.dispose();
    await this.#workers[Symbol.asyncDispose]();
  }

  #resyncLater(): void {
    this.#resync = this.#context.clock.after(RESYNC, () => {
      this.#all();
      this.#resyncLater();
    });
  }

  #all(): void {
    for (const { key } of this.#options.quotas.all()) this.#workers.add(key);
  }

  #requeue(cluster: string): void {
    for (const { key } of this.#options.quotas.in(cluster)) this.#workers.add(key, SERVED);
  }

  #forget(cluster: string): void {
    const limited = new Set(
      this.#options.quotas.in(cluster).flatMap(({ limits }) => limits.map((each) => each.resource)),
    );
    this.#options.usage.retain(cluster, (resource) => limited.has(resource));
  }

  async #work(key: ObjectKey): Promise<void> {
    const { objects, registry } = this.#context;
    await registry.load(key.cluster);
    const quota = this.#options.quotas.get(key);
    if (quota === undefined) return;
    const used = await this.#used(quota);
    await modify(objects.of(ResourceQuota), key, (current) => withUsage(current, used));
  }

  /** Returns the usage by names in `spec.hard`, of kinds that are served. */
  async #used({ key: { cluster }, namespace, limits }: QuotaLimits): Promise<Readonly<Record<string, string>>> {
    const used: Record<string, string> = {};
    const kinds = this.#context.kinds.in(cluster);
    for (const { name, resource } of limits) {
      const kind = kinds.named(resource);
      if (kind?.deletable !== true) continue;
      const count = this.#options.usage.of(cluster, kind);
      await untilAborted(count.ready, this.#stop.signal);
      used[name] = formatCount(count.stored(namespace));
    }
    return used;
  }
}

/** Names that this server does not count keep the usage that others report. */
function withUsage(quota: KubeObject, counted: Readonly<Record<string, string>>): KubeObject {
  const before = membersOf(membersOf(quota["status"])["used"]);
  const hard: Record<string, string> = {};
  const used: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(membersOf(specOf(quota)["hard"]))) {
    hard[name] = String(value);
    const usage = counted[name] ?? (countedResource(name) === undefined ? before[name] : undefined);
    if (usage !== undefined) used[name] = usage;
  }
  const status = { hard, used };
  return isDeepStrictEqual(quota["status"], status) ? quota : { ...quota, status };
}
