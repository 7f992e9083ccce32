import type { Log, MetricFamily } from "@virtual-workspaces/framework/server";
import type { ShardsOptions } from "../shards/shards.ts";
import type { FromIndex } from "./messages.ts";
import { ObservedAuthentication, ObservedIndex } from "./observed.ts";
import { OwnPlaces } from "./own-places.ts";
import { type IndexConnection, IndexPublisher } from "./publisher.ts";

/** Options of {@link SharedIndex}. */
export interface SharedIndexOptions {
  /** Server of `root`, with the credentials of an administrator. The caller closes it. */
  readonly root: ShardsOptions["root"];
  /** Options of the connection to each shard, with the credentials of an administrator; all but its URL. */
  readonly read: ShardsOptions["shards"];
  /** Whether to read the authentication settings of workspace types. @default false */
  readonly workspaceAuthentication?: boolean;
  readonly log: Log;
}

/**
 * The index of the workspaces of all shards, for front proxies in other processes: see {@link RemoteIndex}. Those keep what they have
 * looked up; a change makes them forget it with one message, which precedes every later answer.
 *
 * Security: it answers every holder of a connection, without authorization. Connect processes of the same program only.
 */
export class SharedIndex implements AsyncDisposable {
  readonly #places: OwnPlaces;
  readonly #publisher: IndexPublisher;
  #isStarted = false;

  /** Begins to read the shards. */
  constructor({ root, read, workspaceAuthentication = false, log }: SharedIndexOptions) {
    const publisher = new IndexPublisher({
      lookup: (path) => this.#places.lookup(path),
      issuers: (type) => authentication?.configurationsOf(type) ?? [],
      shards: (): FromIndex & { readonly type: "shards" } => ({
        ...{ type: "shards", shards: this.#places.shards.urls, isStarted: this.#isStarted },
      }),
    });
    const authentication = workspaceAuthentication ? new ObservedAuthentication(publisher.types) : undefined;
    const onError = (error: unknown, shard: string | undefined): void =>
      log({ level: "warn", message: "cannot read shard", ...(shard && { shard }), error: String(error) });
    this.#publisher = publisher;
    this.#places = new OwnPlaces(
      { root, shards: read, index: new ObservedIndex(publisher.names), onError, authentication },
      publisher.shards,
    );
    void this.started.then(
      () => {
        this.#isStarted = true;
        publisher.shards();
      },
      () => undefined,
    );
  }

  /** Resolves after the first attempt to read all shards. Rejects if closed before. */
  get started(): Promise<void> {
    return this.#places.started;
  }

  /** Connects another process, and sends it the shards. @param send sends in order */
  connect(send: (message: FromIndex) => void): IndexConnection {
    return this.#publisher.connect(send);
  }

  /** Returns the metrics of the index. */
  families(): readonly MetricFamily[] {
    return this.#places.families();
  }

  /** Stops reading the shards, and sends nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publisher.close();
    await this.#places[Symbol.asyncDispose]();
  }
}
