import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { type BackoffOptions, backoffDelay, retry, sleep, untilAborted } from "@virtual-workspaces/transport";
import type { KindVersions, TypedDefinition } from "../definition.ts";
import type { Collection } from "../resource/collection/collection.ts";
import type { CacheLease, Storage } from "../storage.ts";
import type { SetupContext } from "../virtual-workspace.ts";
import type { PolledOptions } from "./polled-options.ts";
import { SourceScanner } from "./source-scanner.ts";

/** A source outside that is read again and again. Made by {@link polled}. */
export class Polled<T extends object> implements Storage<ObjectOf<T>> {
  readonly resource: TypedDefinition<T>;
  readonly local = true;
  readonly versions: KindVersions;
  readonly garbageCollected: boolean;
  readonly #collection: Collection<T>;
  readonly #options: PolledOptions<T>;
  readonly #scanner: SourceScanner<T>;
  readonly #lease: CacheLease;
  #runs = 0;

  /** @internal Use `polled()`. @throws Error on an invalid duration */
  constructor(options: PolledOptions<T>, scanner: SourceScanner<T> = new SourceScanner(options)) {
    const { collection } = options;
    this.#collection = collection;
    this.#options = options;
    this.#scanner = scanner;
    this.#lease = { ...collection.cache(), confirm: scanner.confirm };
    this.resource = collection.resource;
    this.versions = collection.versions;
    this.garbageCollected = collection.garbageCollected;
  }

  /**
   * Reads the source at once, and then every so often, until the result is disposed of. The last one also aborts a read under
   * way. The result is what `setup` returns: `setup: (context) => books.start(context)`.
   */
  start({ log, signal }: Partial<SetupContext> = {}): AsyncDisposable {
    if (log !== undefined) this.#scanner.log = log;
    this.#runs += 1;
    const ended = new AbortController();
    const running = this.#run(signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]));
    return {
      [Symbol.asyncDispose]: async () => {
        if (!ended.signal.aborted) {
          ended.abort();
          this.#runs -= 1;
          if (this.#runs === 0) this.#scanner.stop();
        }
        await running;
      },
    };
  }

  /**
   * Reads the source now, after the reads and writes under way, and serves what it has. Concurrent calls share a read that
   * begins after them. For events of the source, such as a webhook.
   *
   * @throws what `read` throws, and ApiError 422 for a bad object
   */
  scan(): Promise<void> {
    return this.#scanner.scan();
  }

  /**
   * Ready hook for a virtual workspace: resolves once the source has been read, and stays ready when later reads fail.
   *
   * @throws ApiError 503 after a failed first read, Error without {@link start}
   */
  readonly ready = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    if (this.#runs === 0)
      throw new Error(`polled ${this.#scanner.name} is not started: return the result of start from setup`);
    await untilAborted(this.#scanner.tried, signal);
    this.#scanner.checkRead();
  };

  /** All callers share a stream, since they see the same objects. */
  shareKey(): string {
    return this.#collection.shareKey();
  }

  /** Keeps clients from changing the logical cluster of an object. */
  ownAnnotations(key: string): boolean {
    return this.#collection.ownAnnotations(key);
  }

  /** Reads are 503 until the source has been read once. While it cannot be read they have a warning. */
  cache(): CacheLease {
    return this.#lease;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { every, backoff = {}, clock } = this.#options;
    const growing = { first: Math.min(every, 1_000), most: Math.max(every, 30_000), ...backoff };
    const steady: BackoffOptions = { ...backoff, first: every, most: every, jitter: [0.9, 1] };
    const waiting = { signal, clock, ref: false };
    while (!signal.aborted) {
      const delayAfter = (_error: unknown, failures: number): number => backoffDelay(failures, growing);
      // Only the end of the run ends the attempts; the scanner reports their failures.
      await retry(() => untilAborted(this.scan(), signal), { ...waiting, delayAfter }).catch(() => undefined);
      await sleep(backoffDelay(1, steady), waiting);
    }
  }
}
