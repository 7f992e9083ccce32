// In-memory store that fails on demand, as one across a network does.
import { setTimeout as delay } from "node:timers/promises";
import {
  type Batch,
  memoryStore,
  type Store,
  StoreError,
  type StoreErrorCode,
  type Watch,
} from "@virtual-workspaces/store";

type Call = "head" | "get" | "range" | "commit" | "watch" | "grant";

/** Failure of a call. */
interface Failure {
  readonly code: StoreErrorCode;
  /** Whether the call takes effect anyway. */
  readonly done: boolean;
}

export class FailingStore implements Store {
  readonly name = "failing";
  readonly inner: Store = memoryStore({ revision: 1 });
  readonly compact: Store["compact"] = (revision) => this.inner.compact(revision);
  readonly renew: Store["renew"] = (lease) => this.inner.renew(lease);
  readonly revoke: Store["revoke"] = (lease) => this.inner.revoke(lease);
  readonly remaining: Store["remaining"] = (id) => this.inner.remaining(id);
  /** All leases ever granted. */
  readonly leases: string[] = [];
  /** Delay of watch events, in ms. */
  lag = 0;
  /** Number of open watches. */
  watching = 0;
  readonly #failing = new Map<Call, Failure & { times: number }>();
  #disturbance: (call: Call) => Failure | undefined = () => undefined;
  readonly #open = new Set<(error: StoreError) => void>();

  /** Makes calls fail. @param done whether they take effect anyway */
  fail(call: Call, code: StoreErrorCode, { times = Number.POSITIVE_INFINITY, done = false } = {}): void {
    this.#failing.set(call, { code, done, times });
  }

  /** Decides for each call whether it fails. */
  disturb(how: (call: Call) => Failure | undefined): void {
    this.#disturbance = how;
  }

  mend(): void {
    this.#failing.clear();
  }

  /** Breaks all open watches. */
  cut(code: StoreErrorCode): void {
    for (const fail of this.#open) fail(new StoreError(code, "cut by a test"));
  }

  head: Store["head"] = (options) => this.#ask("head", async () => this.inner.head(options));
  get: Store["get"] = (key, options) => this.#ask("get", async () => this.inner.get(key, options));
  range: Store["range"] = (range, options) => this.#ask("range", () => this.inner.range(range, options));
  commit: Store["commit"] = (transaction) => this.#ask("commit", () => this.inner.commit(transaction));
  grant: Store["grant"] = async (ttl) => {
    const lease = await this.#ask("grant", () => this.inner.grant(ttl));
    this.leases.push(lease.id);
    return lease;
  };

  watch: Store["watch"] = (range, options): Watch => {
    const inner = this.inner.watch(range, options);
    return {
      requestProgress: () => inner.requestProgress(),
      [Symbol.asyncIterator]: () => this.#cuttable(inner),
    };
  };

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.inner[Symbol.asyncDispose]());
  }

  async *#cuttable(inner: Watch): AsyncGenerator<Batch> {
    await this.#ask("watch", async () => undefined);
    const cut = Promise.withResolvers<never>();
    cut.promise.catch(() => undefined);
    this.#open.add(cut.reject);
    this.watching += 1;
    const batches = inner[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await Promise.race([batches.next(), cut.promise]);
        if (done === true) return;
        await delay(this.lag);
        yield value;
      }
    } finally {
      this.#open.delete(cut.reject);
      this.watching -= 1;
      void batches.return?.();
    }
  }

  async #ask<R>(call: Call, ask: () => Promise<R>): Promise<R> {
    const failure = this.#disturbance(call) ?? this.#expected(call);
    if (failure === undefined) return ask();
    if (failure.done) await ask();
    throw new StoreError(failure.code, `${call} fails by a test`);
  }

  #expected(call: Call): Failure | undefined {
    const failing = this.#failing.get(call);
    if (failing === undefined || failing.times === 0) return undefined;
    failing.times -= 1;
    return failing;
  }
}
