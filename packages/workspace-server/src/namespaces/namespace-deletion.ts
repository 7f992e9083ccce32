import { formatTime, isApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { StoredPlace } from "@virtual-workspaces/store";
import { Workers } from "../controllers/workers.ts";
import { NAMESPACE_FINALIZER, Namespace, type NamespaceCondition, type NamespaceContent } from "../kinds/namespace.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { keyText } from "../state/informers/key-index.ts";
import { modify } from "../state/modify.ts";
import { type RemainingContent, StoredContent } from "../state/stored-content.ts";

/** Window in which deletions of content cause one check only, in milliseconds. */
const TOGETHER = 50;

/**
 * Empties namespaces under deletion, then removes their finalizer (Kubernetes' namespace controller). It checks again only
 * when content goes: a finalizer that is never removed costs nothing. Failures are retried with backoff.
 */
export class NamespaceDeletion implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #workers: Workers<ObjectKey>;
  readonly #following = new DisposableStack();
  readonly #stop = new AbortController();
  /** `<logical cluster>/<namespace>` of the namespaces under deletion. */
  readonly #leaving = new Set<string>();

  constructor(context: ShardContext) {
    const { state, feed, log, name: shard } = context;
    this.#context = context;
    this.#workers = new Workers<ObjectKey>({
      clock: context.clock,
      id: keyText,
      part: ({ cluster }) => cluster,
      count: 4,
      work: (key) => this.#work(key),
      onError: (error, key) => {
        if (this.#stop.signal.aborted) return;
        log({ level: "warn", message: "failed to empty namespace", shard, key: keyText(key), error: String(error) });
      },
    });
    const see = (namespace: ObjectOf<NamespaceContent>, { key }: { readonly key: ObjectKey }): void => {
      if (!isLeaving(namespace)) return;
      this.#leaving.add(`${key.cluster}/${key.name}`);
      this.#workers.add(key);
    };
    this.#following.use(
      state.namespaces.on(
        {
          added: see,
          updated: (namespace, before, event) => (isLeaving(before) ? undefined : see(namespace, event)),
          deleted: (_, { key }) => void this.#leaving.delete(`${key.cluster}/${key.name}`),
        },
        { existing: "deleting" },
      ),
    );
    const changed = (place: StoredPlace): void => this.#changed(place);
    this.#following.use(feed.on({ set: changed, deleted: changed, synced: () => this.#all() }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#following.dispose();
    await this.#workers[Symbol.asyncDispose]();
  }

  /** Handles a change or deletion of an object in a namespace. */
  #changed({ key: { cluster, namespace } }: StoredPlace): void {
    if (namespace === "" || this.#leaving.size === 0 || !this.#leaving.has(`${cluster}/${namespace}`)) return;
    this.#workers.add({ cluster, namespace: "", name: namespace }, TOGETHER);
  }

  #all(): void {
    for (const place of this.#leaving) {
      const [cluster = "", name = ""] = place.split("/");
      this.#workers.add({ cluster, namespace: "", name });
    }
  }

  async #work(key: ObjectKey): Promise<void> {
    const { objects, state, registry } = this.#context;
    // The bindings determine which kinds the namespace can contain.
    await registry.load(key.cluster);
    const known = state.namespaces.store.get(key);
    if (known === undefined || !isLeaving(known)) return;
    const attempt = await this.#attempt(key);
    const isEmpty =
      attempt.discovery === undefined && attempt.failures.length === 0 && attempt.remains.objects.size === 0;
    await modify(objects.of(Namespace), key, (namespace) => {
      if (namespace.metadata.uid !== known.metadata.uid || !isLeaving(namespace)) return undefined;
      const { finalizers = [] } = namespace.spec ?? {};
      if (isEmpty) {
        const left = finalizers.filter((finalizer) => finalizer !== NAMESPACE_FINALIZER);
        namespace.spec = left.length === 0 ? {} : { finalizers: left };
      }
      const conditions = deletionConditions(namespace.status?.conditions ?? [], attempt, new Date());
      namespace.status = { ...namespace.status, phase: "Terminating", conditions };
      return namespace;
    });
    const [failure] = attempt.discovery === undefined ? attempt.failures : [attempt.discovery];
    if (failure !== undefined) throw new Error(failure);
  }

  async #attempt({ cluster, name: namespace }: ObjectKey): Promise<Attempt> {
    const { signal } = this.#stop;
    const content = new StoredContent({ kinds: this.#context.kinds, cluster, namespace });
    try {
      const failures = await content.deleteAll(signal);
      return { failures, remains: await content.remaining(signal) };
    } catch (error) {
      if (!isApiError(error) || signal.aborted) throw error;
      return { discovery: error.message, failures: [], remains: { objects: new Map(), finalizers: new Map() } };
    }
  }
}

function isLeaving({ metadata, spec }: ObjectOf<NamespaceContent>): boolean {
  return metadata.deletionTimestamp !== undefined && spec?.finalizers?.includes(NAMESPACE_FINALIZER) === true;
}

/** Outcome of an attempt to empty a namespace. */
interface Attempt {
  /** Error of discovery, while the kinds are unknown. */
  readonly discovery?: string;
  /** Errors of deletions. */
  readonly failures: readonly string[];
  readonly remains: RemainingContent;
}

type Said = Pick<NamespaceCondition, "status" | "reason" | "message">;

/** Reason and message of each condition in the absence of failures, in order of the conditions. */
const FINE: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  NamespaceDeletionDiscoveryFailure: ["ResourcesDiscovered", "All resources successfully discovered"],
  NamespaceDeletionGroupVersionParsingFailure: ["ParsedGroupVersions", "All legacy kube types successfully parsed"],
  NamespaceDeletionContentFailure: [
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  NamespaceContentRemaining: ["ContentRemoved", "All content successfully removed"],
  NamespaceFinalizersRemaining: ["ContentHasNoFinalizers", "All content-preserving finalizers finished"],
};

/** Returns the conditions of a namespace under deletion, with Kubernetes' texts; other conditions stay. */
function deletionConditions(before: readonly NamespaceCondition[], attempt: Attempt, now: Date): NamespaceCondition[] {
  const wrong = problems(attempt);
  const own = Object.entries(FINE).map(([type, [reason, message]]): NamespaceCondition => {
    const said: Said = wrong.get(type) ?? { status: "False", reason, message };
    const was = before.find((condition) => condition.type === type);
    const since = was?.status === said.status ? was.lastTransitionTime : undefined;
    return { type, ...said, lastTransitionTime: since ?? formatTime(now) };
  });
  return [...before.filter(({ type }) => FINE[type] === undefined), ...own];
}

function problems({ discovery, failures, remains }: Attempt): ReadonlyMap<string, Said> {
  const wrong = new Map<string, Said>();
  const say = (type: string, reason: string, message: string): void =>
    void wrong.set(type, { status: "True", reason, message });
  if (discovery !== undefined)
    say(
      "NamespaceDeletionDiscoveryFailure",
      "DiscoveryFailed",
      `Discovery failed for some groups, 1 failing: ${discovery}`,
    );
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(", ")}`;
    say("NamespaceDeletionContentFailure", "ContentDeletionFailed", message);
  }
  if (remains.objects.size > 0) {
    const texts = [...remains.objects].map(([kind, count]) => `${kind} has ${count} resource instances`).sort();
    say("NamespaceContentRemaining", "SomeResourcesRemain", `Some resources are remaining: ${texts.join(", ")}`);
  }
  if (remains.finalizers.size > 0) {
    const texts = [...remains.finalizers].map(([name, count]) => `${name} in ${count} resource instances`).sort();
    const message = `Some content in the namespace has finalizers remaining: ${texts.join(", ")}`;
    say("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message);
  }
  return wrong;
}
