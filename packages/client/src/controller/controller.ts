import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Clock, sleep, systemClock } from "@virtual-workspaces/transport";
import { reportingErrors } from "../callbacks.ts";
import type { ControllerOptions, ControllerSource, ReconcileFailure } from "./controller-options.ts";
import { decisionAfter } from "./failure.ts";
import { type Keyed, keyText, type Source } from "./source.ts";
import { WorkQueue, type WorkQueueMetrics } from "./work-queue.ts";

/** Metrics of a controller: controller-runtime's `controller_runtime_…` metrics, and those of its queue. */
export interface ControllerMetrics {
  /** `reconcile_total{result="success"}` and `{result="requeue_after"}` */
  readonly succeeded: number;
  /** `reconcile_errors_total`, including terminal errors and timeouts, but not conflicts. */
  readonly failed: number;
  readonly conflicts: number;
  /** `terminal_reconcile_errors_total` */
  readonly terminal: number;
  readonly timeouts: number;
  /** Number of objects for which `gone` succeeded. */
  readonly gone: number;
  readonly queue: WorkQueueMetrics;
}

/** Phase of a controller's lifecycle. */
export type ControllerState = "starting" | "running" | "stopping" | "stopped";

/** Priority of objects that existed before the start: below that of new events. controller-runtime's `LowPriority`. */
const INITIAL = -100;
/** Time to wait for a reconcile that ignores its aborted signal, in ms. */
const HEED = 5000;

/** Runs a reconcile function until the actual state matches the objects. Created by {@link controller}. */
export class Controller<T extends KubeObject = KubeObject> implements AsyncDisposable {
  readonly name: string;
  /**
   * Resolves when all sources are synced and the workers start. Rejects if a source fails to sync, or if the controller
   * stops before that.
   */
  readonly started: Promise<void>;
  readonly #options: ControllerOptions<T>;
  readonly #clock: Clock;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #subscriptions = new DisposableStack();
  readonly #underWay = new Map<string, AbortController>();
  /** Keys for which `gone` has yet to be called. */
  readonly #gone = new Set<string>();
  readonly #stop = new AbortController();
  readonly #counts = { succeeded: 0, failed: 0, conflicts: 0, terminal: 0, timeouts: 0, gone: 0 };
  #state: ControllerState = "starting";
  #workers: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(options: ControllerOptions<T>) {
    const { name, sources, clock = systemClock, rateLimit, signal } = options;
    this.name = name;
    this.#options = options;
    this.#clock = clock;
    this.#queue = new WorkQueue({
      id: keyText,
      part: ({ cluster }) => cluster,
      clock,
      ...(rateLimit && { rateLimit }),
    });
    for (const source of sources) this.#subscriptions.use(this.#follow(source));
    const failed = (error: Error): void => this.#report({ error, attempt: 1 });
    for (const informer of new Set(sources.map((source): Source => source.informer as unknown as Source)))
      this.#subscriptions.use(informer.onFailure?.(failed));
    this.started = this.#start();
    this.started.catch(() => undefined); // A caller that does not await it gets the error from `onError`.
    const end = (): void => void this.stop();
    signal?.addEventListener("abort", end, { once: true });
    this.#subscriptions.defer(() => signal?.removeEventListener("abort", end));
    if (signal?.aborted === true) end();
  }

  /** Current phase. */
  get state(): ControllerState {
    return this.#state;
  }

  /** Current metrics. */
  get metrics(): ControllerMetrics {
    return { ...this.#counts, queue: this.#queue.metrics };
  }

  /** Enqueues a key for a reason that no source knows. */
  add(key: ObjectKey): void {
    this.#queue.add(key);
  }

  /**
   * Shuts down gracefully: starts no reconcile, waits for running ones within the grace time, then aborts them.
   * Resolves when none runs. A reconcile that ignores its signal for another 5 s is reported and abandoned.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  /** Same as {@link stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #start(): Promise<void> {
    const { sources, workers = 1 } = this.#options;
    const stopped = new Promise<never>((_, reject) => {
      const { signal } = this.#stop;
      signal.addEventListener("abort", () => reject(new Error(`controller ${this.name}: stopped`)), { once: true });
    });
    try {
      await Promise.race([Promise.all(sources.map(({ informer }) => informer.synced)), stopped]);
    } catch (error) {
      if (this.#stopped === undefined) this.#report({ error, attempt: 1 });
      void this.stop();
      throw error;
    }
    if (this.#stopped !== undefined) throw new Error(`controller ${this.name}: stopped`);
    this.#state = "running";
    this.#workers = Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  #follow(source: ControllerSource<T>): Disposable {
    const changed = ({ key: own, initial }: Keyed, ...objects: readonly KubeObject[]): void => {
      const priority = this.#state === "starting" || initial === true ? INITIAL : 0;
      for (const key of this.#concerned(source, own, objects)) {
        if (source.key === undefined) this.#gone.delete(keyText(key));
        this.#queue.add(key, { priority });
      }
    };
    // A controller needs only the keys of its own objects: it reads an object when a worker takes its key.
    if (source.key === undefined && source.informer.onKey !== undefined) return source.informer.onKey(changed);
    return source.informer.on({
      added: (object, event) => changed(event, object),
      updated: (object, before, event) => changed(event, object, before),
      deleted: (object, event) => changed(event, object),
      gone: (object, { key: own }) => {
        for (const key of this.#concerned(source, own, [object])) {
          if (this.#object(key) !== undefined) this.#queue.add(key);
          // Related objects are gone with their cluster. They do not affect an owner that is missing.
          else if (source.key === undefined) this.#leave(key);
        }
      },
    });
  }

  /** Returns the keys to enqueue. If a key function throws, it returns none, so that the informer goes on. */
  #concerned(source: ControllerSource<T>, key: ObjectKey, objects: readonly KubeObject[]): readonly ObjectKey[] {
    try {
      return concerned(source, key, objects);
    } catch (error) {
      this.#report({ error, attempt: 1 });
      return [];
    }
  }

  /** Cancels a key, except for the call of `gone`. */
  #leave(key: ObjectKey): void {
    const id = keyText(key);
    this.#queue.cancel(key);
    this.#underWay.get(id)?.abort(new Error(`${id} is gone: its cluster was disengaged`));
    this.#gone.add(id);
    this.#queue.add(key);
  }

  #object(key: ObjectKey): T | undefined {
    for (const source of this.#options.sources) {
      const object = source.key === undefined ? source.informer.store.get(key) : undefined;
      if (object !== undefined) return object;
    }
    return undefined;
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      await this.#one(key);
      this.#queue.done(key);
    }
  }

  /** Reconciles a key once. Never rejects. */
  async #one(key: ObjectKey): Promise<void> {
    const { timeout = Number.POSITIVE_INFINITY, reconcile, gone } = this.#options;
    const id = keyText(key);
    const isGone = this.#gone.delete(id);
    const attempt = this.#queue.failures(key) + 1;
    const abort = new AbortController();
    this.#underWay.set(id, abort);
    const late = (): void =>
      abort.abort(new DOMException(`reconcile exceeded its timeout of ${timeout} ms`, "TimeoutError"));
    const timer = timeout === Number.POSITIVE_INFINITY ? undefined : this.#clock.after(timeout, late);
    const context = { signal: abort.signal, attempt };
    try {
      const result = isGone
        ? await gone?.(key, context)
        : await reconcile(key, { ...context, object: this.#object(key) });
      this.#queue.forget(key);
      if (isGone) this.#counts.gone++;
      else this.#counts.succeeded++;
      const { requeueAfter } = result ?? {};
      // A key that is gone by now is already queued and must not be delayed.
      if (requeueAfter !== undefined && !this.#gone.has(id)) this.#queue.addAfter(key, requeueAfter);
    } catch (error) {
      this.#failed(key, { error, attempt, isGone, isLate: isTimeout(abort.signal) });
    } finally {
      timer?.[Symbol.dispose]();
      this.#underWay.delete(id);
    }
  }

  #failed(
    key: ObjectKey,
    { error, attempt, isGone, isLate }: { error: unknown; attempt: number; isGone: boolean; isLate: boolean },
  ): void {
    const id = keyText(key);
    // The controller aborted this reconcile, so that is not a failure.
    if (this.#gone.has(id) || this.#stop.signal.aborted) {
      this.#queue.forget(key);
      return;
    }
    const { retries, isReported, atLeast } = decisionAfter(error);
    if (isReported) this.#counts.failed++;
    else this.#counts.conflicts++;
    if (isLate) this.#counts.timeouts++;
    let retryAfter: number | undefined;
    if (retries) {
      // If the object is back by now, `gone` is not called again.
      if (isGone && this.#object(key) === undefined) this.#gone.add(id);
      retryAfter = this.#queue.addRateLimited(key, { atLeast });
    } else {
      this.#counts.terminal++;
      this.#queue.forget(key);
    }
    if (isReported) this.#report({ error, key, attempt, ...(retryAfter !== undefined && { retryAfter }) });
  }

  #report(failure: Omit<ReconcileFailure, "controller">): void {
    reportingErrors(this.#options.onError)({ controller: this.name, ...failure });
  }

  async #end(): Promise<void> {
    const { grace = 30_000 } = this.#options;
    this.#state = "stopping";
    this.#subscriptions.dispose();
    const over = this.#queue.shutdown();
    if (!(await this.#endsWithin(over, grace))) {
      for (const abort of this.#underWay.values()) abort.abort(new Error(`controller ${this.name}: stopping`));
    }
    this.#stop.abort();
    if (!(await this.#endsWithin(over, HEED)))
      for (const id of this.#underWay.keys())
        this.#report({
          error: new Error(
            `reconcile of ${id} ignored its aborted signal and was abandoned: pass the signal to every call`,
          ),
          attempt: 1,
        });
    else await this.#workers;
    this.#state = "stopped";
  }

  async #endsWithin(over: Promise<void>, ms: number): Promise<boolean> {
    const waited = new AbortController();
    const ended = over.then(() => true);
    const late = sleep(ms, { clock: this.#clock, signal: waited.signal }).then(() => false);
    try {
      return await Promise.race([ended, late]);
    } finally {
      waited.abort();
    }
  }
}

function isTimeout({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.name === "TimeoutError";
}

/**
 * Starts a controller. `stop()`, the end of an `await using` block, or its signal stops it.
 *
 * @example
 * ```ts
 * import { Client, controller, Informer } from "@virtual-workspaces/client";
 * import { defineResource } from "@virtual-workspaces/framework";
 *
 * const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
 *
 * await using client = await Client.fromKubeconfig();
 * await using informer = new Informer({ resource: client.resource(ConfigMap) }).start();
 * await using running = controller({
 *   name: "labeller",
 *   sources: [{ informer }],
 *   reconcile: async ({ namespace, name }, { object, signal }) => {
 *     if (object === undefined || object.metadata.labels?.["seen"] === "yes") return;
 *     const labels = { metadata: { labels: { seen: "yes" } } };
 *     await client.resource(ConfigMap).in(namespace).mergePatch(name, labels, { signal });
 *   },
 *   onError: ({ error }) => console.error(String(error)),
 * });
 * ```
 * @see docs/how-to/controllers.md
 */
export function controller<T extends KubeObject>(options: ControllerOptions<T>): Controller<T> {
  return new Controller(options);
}

/** Returns the keys to enqueue for a change of an object in a source, each once. @param key the object's own */
function concerned<T extends KubeObject>(
  source: ControllerSource<T>,
  key: ObjectKey,
  objects: readonly KubeObject[],
): readonly ObjectKey[] {
  if (source.key === undefined) return [key];
  const found = new Map<string, ObjectKey>();
  for (const object of objects) {
    const keys = source.key(object, key);
    for (const each of Array.isArray(keys) ? (keys as readonly ObjectKey[]) : [keys as ObjectKey])
      found.set(keyText(each), each);
  }
  return [...found.values()];
}
