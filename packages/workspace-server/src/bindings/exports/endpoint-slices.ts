import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type APIExport, APIExportEndpointSlice, clusterOf, type Partition } from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { follow } from "../../controllers/sources.ts";
import type { ShardController } from "../../state/context.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { type Exports, exportText, exportURL, placeOf } from "./exports.ts";
import {
  type EndpointSlice,
  type Fault,
  partitionSelector,
  pathOf,
  publish,
  type SliceStatus,
  selectorText,
  setEndpoints,
} from "./slice-urls.ts";

type Held<Kind> = Kind extends { readonly type?: (object: infer Content) => unknown } ? Content : never;

/** References of a slice: the conditions that hold, and the export whose consumers use the URLs, or what is wrong. */
export type SliceReferences = { readonly holds: readonly string[] } & (
  | { readonly found: APIExport }
  | { readonly fault: Fault }
);

/** A kind of endpoint slices. */
export interface SliceKind {
  /** Name of the controller. */
  readonly name: string;
  readonly resource: TypedDefinition<object>;
  /** Index `export`: `<path or logical cluster>:<name>`. */
  readonly informer: Informer<object>;
  /** Checks the references. @returns `undefined` while a shard does not run that may have what is missing */
  check(slice: EndpointSlice, cluster: string): SliceReferences | undefined;
  /** Returns the URL of the view, on a shard with this view URL. */
  urlAt(virtualWorkspaceURL: string, key: ObjectKey, found: APIExport): string;
  /** Watches further objects that a shard has. @param add reconciles a slice again @default none */
  follow?(shard: ShardPeer, add: (key: ObjectKey) => void): Disposable;
}

/** Options of {@link EndpointSliceController}. */
export interface EndpointSliceOptions {
  readonly kind: SliceKind;
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly partitions: Informer<Held<typeof Partition>>;
  readonly shards: () => readonly ShardPeer[];
  /** Resolves when all objects of the shards are loaded; `undefined` if they are. */
  readonly whole: () => Promise<void> | undefined;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

/** Returns the slices of exports (kcp's `kcp-apiexportendpointslice`). */
export function apiExportSlices(state: ShardState, exports: Exports): SliceKind {
  return {
    name: "apiexportendpointslice",
    resource: APIExportEndpointSlice as never,
    informer: state.apiExportEndpointSlices as never,
    check: ({ spec }, cluster) => {
      const found = spec && exports.find(spec.export, cluster);
      if (found !== undefined) return { holds: ["APIExportValid"], found };
      if (exports.missing.length > 0) return undefined;
      const message = `Error getting APIExport ${spec === undefined ? "" : exportText(spec.export, cluster)}`;
      return { holds: [], fault: { type: "APIExportValid", reason: "APIExportNotFound", message } };
    },
    urlAt: (url, _, found) => exportURL(url, { cluster: clusterOf(found), name: found.metadata.name ?? "" }),
  };
}

/**
 * Writes the URLs of a view into endpoint slices: one URL for each shard of the partition with a binding to the export
 * (in kcp the controllers of the slices and the URL writers of its shards in one).
 */
export class EndpointSliceController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: EndpointSliceOptions;
  readonly #controller: Controller<EndpointSlice>;
  readonly #stack = new DisposableStack();
  #later: Promise<void> | undefined;

  constructor(options: EndpointSliceOptions) {
    const { kind, partitions, onError } = options;
    this.#options = options;
    this.#controller = controller<EndpointSlice>({
      name: kind.name,
      sources: [{ informer: this.#slices }],
      reconcile: (key, { object }) => (object === undefined ? undefined : this.#reconcile(key)),
      onError,
    });
    this.started = this.#controller.started;
    this.#stack.use(
      follow(partitions, (_, { cluster, name }) => {
        for (const slice of this.#slices.store.list(cluster)) if (slice.spec?.partition === name) this.#add(slice);
      }),
    );
  }

  /** Watches the exports, bindings and labels of any shard. @returns stops watching */
  follow(shard: ShardPeer): Disposable {
    const { kind, exports } = this.#options;
    const { state } = shard;
    const stack = new DisposableStack();
    const referred = (name: string, places: readonly string[]): void => {
      for (const place of new Set(places))
        for (const key of this.#slices.store.keysBy("export", `${place}:${name}`)) this.#controller.add(key);
    };
    stack.use(
      follow(
        state.apiExports,
        (found, { cluster, name }) => referred(name, [cluster, pathOf(found, cluster)]),
        ({ metadata, spec }) => [metadata.uid, metadata.annotations?.[PATH_ANNOTATION], spec?.resources],
      ),
    );
    stack.use(
      follow(
        state.apiBindings,
        ({ spec }, { cluster }) => {
          const reference = spec.reference.export;
          if (reference === undefined) return;
          // Only the first and the last binding of a shard change the result.
          const named = `${placeOf(reference, cluster)}:${reference.name}`;
          if (state.apiBindings.store.countBy("export", named) > 1) return;
          const found = exports.find(reference, cluster);
          if (found === undefined) return;
          const there = clusterOf(found);
          referred(reference.name, [there, pathOf(found, there)]);
        },
        ({ metadata }) => metadata.uid,
      ),
    );
    stack.use(
      follow(
        state.shards,
        () => this.shardsChanged(),
        ({ metadata, spec }) => [metadata.labels, spec?.virtualWorkspaceURL],
      ),
    );
    const more = kind.follow?.(shard, (key) => this.#controller.add(key));
    if (more !== undefined) stack.use(more);
    return stack;
  }

  /** Reconciles all slices after a shard was added, removed or changed. */
  shardsChanged(): void {
    for (const slice of this.#slices.store.list()) this.#add(slice);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  get #slices(): Informer<Pick<EndpointSlice, "spec" | "status">> {
    return this.#options.kind.informer as never;
  }

  #add(slice: EndpointSlice): void {
    this.#controller.add({ cluster: clusterOf(slice), namespace: "", name: slice.metadata.name ?? "" });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    if (this.#options.whole() === undefined) await this.#say(key);
    this.#later ??= this.#options.whole()?.then(() => {
      this.#later = undefined;
      if (!this.#stack.disposed) this.shardsChanged();
    });
  }

  async #say(key: ObjectKey): Promise<void> {
    const { kind, objects, whole } = this.#options;
    await modify<object>(objects.of(kind.resource), key, (found) => {
      // With missing objects, an export would seem unbound and lose its URL. A shard may have joined in between.
      if (whole() !== undefined) return undefined;
      const slice = found as EndpointSlice;
      const status: SliceStatus = { ...slice.status };
      this.#fill(status, slice, key);
      return { ...slice, status } as ObjectOf<object>;
    });
  }

  #fill(status: SliceStatus, slice: EndpointSlice, key: ObjectKey): void {
    const { kind, partitions, shards, now } = this.#options;
    const hold = (type: string): void => {
      status.conditions = markTrue(status.conditions, type, now());
    };
    const fail = (fault: Fault): void => {
      status.conditions = markFalse(status.conditions, { ...fault, severity: "Error" }, now());
      setEndpoints(status, slice, []);
    };
    const references = kind.check(slice, key.cluster);
    if (references === undefined) return;
    for (const type of references.holds) hold(type);
    if ("fault" in references) {
      fail(references.fault);
      return;
    }
    const { found } = references;
    const selector = partitionSelector(slice.spec?.partition ?? "", (name) =>
      partitions.store.get({ cluster: key.cluster, namespace: "", name }),
    );
    if ("reason" in selector) {
      fail(selector);
      return;
    }
    hold("PartitionValid");
    const text = selectorText(selector);
    if (text === "") delete status.shardSelector;
    else status.shardSelector = text;
    // Conditions that others have set count too.
    if (status.conditions?.every(({ status: holds }) => holds === "True") !== true) return;
    const urlAt = (url: string): string => kind.urlAt(url, key, found);
    publish(status, slice, { found, selector, shards: shards(), urlAt });
  }
}
