import { setTimeout as delay } from "node:timers/promises";
import { isApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type Change,
  type ChangesOptions,
  type Encoded,
  EncodedBytes,
  type FeedSource,
  type ItemList,
  type ListRequest,
  type Past,
  type Scope,
  type Versions,
  type WatchCache,
} from "@virtual-workspaces/framework/storage";
import { type Show, ShownObject } from "../reads/transformed.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";
import { isUnserved, UNSERVED_VERSION } from "../upstream/upstream-resource.ts";
import { readList } from "./read-list.ts";
import { UpstreamHistory } from "./upstream-history.ts";
import { patienceOf, type UpstreamEvent, watchEvents } from "./watch-events.ts";

export interface UpstreamSourceOptions {
  readonly resource: UpstreamResource;
  readonly show: Show | undefined;
  /** In ms. */
  readonly renewEvery: number;
  /** Called for each successful start of a stream. */
  readonly onAnswer: (scope: Scope) => void;
}

/** Interval of checks whether the kind is served, in ms. */
const LOOK_EVERY = 800;
const NOW_SERVED = "too old resource version: the source of this view did not serve this kind before";
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json";

/** Feeds a watch cache from another API server. */
export class UpstreamSource implements FeedSource {
  readonly #options: UpstreamSourceOptions;

  constructor(options: UpstreamSourceOptions) {
    this.#options = options;
  }

  /** Requests one list and splits it as it arrives: pages would each be read from the upstream's own store. */
  async list(scope: Scope, { signal }: Pick<ListRequest, "signal">): Promise<ItemList> {
    const { resource, onAnswer, renewEvery } = this.#options;
    const { definition } = resource;
    const patience = patienceOf(renewEvery);
    const items: Encoded[] = [];
    const item = (bytes: Buffer): void => {
      const object = EncodedBytes.item(bytes, { definition, scope });
      if (object.key.name === "" || object.resourceVersion === "")
        throw new Error("an item without a name or a version");
      items.push(this.#shown(object, scope));
    };
    const reading = { signal, patience, item, kinds: [definition.listKind] };
    const resourceVersion = await this.#orUnserved(readList(resource, scope, reading));
    onAnswer(scope);
    return { items, resourceVersion };
  }

  async head(scope: Scope, { signal }: ChangesOptions): Promise<string> {
    return this.#metadata(scope, { signal, limit: 1, item: () => undefined });
  }

  async objectVersions(scope: Scope, { signal }: ChangesOptions): Promise<Versions> {
    const { definition } = this.#options.resource;
    const objects: { key: Encoded["key"]; resourceVersion: string }[] = [];
    const item = (bytes: Buffer): void => {
      const { key, resourceVersion } = new EncodedBytes(bytes, { definition, scope });
      objects.push({ key, resourceVersion });
    };
    return { resourceVersion: await this.#metadata(scope, { signal, item }), objects };
  }

  async *changes(scope: Scope, after: string, { signal }: ChangesOptions): AsyncGenerator<Change> {
    const { onAnswer, resource } = this.#options;
    if (after === UNSERVED_VERSION && resource.isEmptyUnserved) {
      await this.#served(scope, signal);
      yield { type: "expired", message: NOW_SERVED };
      return;
    }
    // Only an event is a success: an accepted watch may break at once, each time.
    let answered = false;
    try {
      for await (const event of this.watch(scope, after, signal)) {
        if (answered) onAnswer(scope);
        answered = true;
        if (event.type === "BOOKMARK") yield { type: "progress", resourceVersion: event.resourceVersion };
        else if (event.type !== "DELETED") yield { type: "set", object: event.object };
        else {
          const { key, resourceVersion } = event.object;
          yield { type: "delete", key, resourceVersion };
        }
      }
    } catch (error) {
      const isGone = resource.isEmptyUnserved && isUnserved(error);
      if (!isApiError(error) || (error.code !== 410 && !isGone)) throw error;
      yield { type: "expired", message: error.message };
      return;
    }
    onAnswer(scope);
  }

  past(scope: Scope, cache: WatchCache): Past {
    return new UpstreamHistory({ cache, watch: (after, signal) => this.watch(scope, after, signal) });
  }

  /** Watches the upstream after a version, with transformed objects. */
  async *watch(scope: Scope, after: string, signal: AbortSignal): AsyncGenerator<UpstreamEvent, void, undefined> {
    const { resource, renewEvery } = this.#options;
    for await (const event of watchEvents(resource, { scope, after }, { signal, renewEvery }))
      yield event.type === "BOOKMARK" ? event : { type: event.type, object: this.#shown(event.object, scope) };
  }

  /**
   * For one definition across all logical clusters, request whole objects: for metadata-only requests kcp ignores the
   * identity and returns all definitions of that name.
   */
  #metadata(
    scope: Scope,
    reading: { readonly signal: AbortSignal; readonly limit?: number; readonly item: (bytes: Buffer) => void },
  ): Promise<string> {
    const { resource, renewEvery } = this.#options;
    const kinds = [resource.definition.listKind, "PartialObjectMetadataList"];
    const accept = resource.isIdentified && scope.cluster === WILDCARD ? {} : { accept: METADATA };
    const asked = { ...reading, ...accept, patience: patienceOf(renewEvery), kinds };
    return this.#orUnserved(readList(resource, scope, asked));
  }

  /** Returns the version of a list, or of an unserved kind. */
  #orUnserved(version: Promise<string>): Promise<string> {
    if (!this.#options.resource.isEmptyUnserved) return version;
    return version.catch((error: unknown) => {
      if (isUnserved(error)) return UNSERVED_VERSION;
      throw error;
    });
  }

  /** Resolves when the upstream serves the kind. */
  async #served(scope: Scope, signal: AbortSignal): Promise<void> {
    do await delay(LOOK_EVERY * (0.5 + Math.random() / 2), undefined, { signal, ref: false });
    while ((await this.head(scope, { signal })) === UNSERVED_VERSION);
  }

  #shown(object: Encoded, scope: Scope): Encoded {
    const { show } = this.#options;
    return show === undefined ? object : new ShownObject(object, show, scope);
  }
}
