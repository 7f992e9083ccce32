import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import {
  type APIExport,
  APIExportEndpointSlice,
  appliedURLs,
  clusterOf,
  type Partition,
  type APIExportEndpointSlice as Slice,
} from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { follow } from "../../controllers/sources.ts";
import type { ShardController } from "../../state/context.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { type Exports, exportText, exportURL, placeOf, publishedShards } from "./exports.ts";

type Held<Kind> = Kind extends { readonly type?: (object: infer Content) => unknown } ? Content : never;
type Status = NonNullable<Slice["status"]>;

/** Options of {@link EndpointSliceController}. */
export interface EndpointSliceOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly partitions: Informer<Held<typeof Partition>>;
  readonly shards: () => readonly ShardPeer[];
  /** Resolves when all objects of the shards are loaded; `undefined` if they are. */
  readonly whole: () => Promise<void> | undefined;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

/** Invalid reference, for a condition. */
interface Fault {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * Writes the URLs of exports into endpoint slices: one URL for each shard of the partition with a binding to the export
 * (kcp's `kcp-apiexportendpointslice` and the URL writers of its shards in one).
 */
export class EndpointSliceController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: EndpointSliceOptions;
  readonly #controller: Controller<Slice>;
  readonly #stack = new DisposableStack();
  #later: Promise<void> | undefined;

  constructor(options: EndpointSliceOptions) {
    const { state, partitions, onError } = options;
    this.#options = options;
    this.#controller = controller<Slice>({
      name: "apiexportendpointslice",
      sources: [{ informer: state.apiExportEndpointSlices }],
      reconcile: (key, { object }) => (object === undefined ? undefined : this.#reconcile(key)),
      onError,
    });
    this.started = this.#controller.started;
    this.#stack.use(
      follow(partitions, (_, { cluster, name }) => {
        for (const slice of state.apiExportEndpointSlices.store.list(cluster))
          if (slice.spec?.partition === name) this.#add(slice);
      }),
    );
  }

  /** Watches the exports, bindings and labels of any shard. @returns stops watching */
  follow({ state }: ShardPeer): Disposable {
    const stack = new DisposableStack();
    const referred = (name: string, places: readonly string[]): void => {
      for (const place of new Set(places))
        for (const key of this.#options.state.apiExportEndpointSlices.store.keysBy("export", `${place}:${name}`))
          this.#controller.add(key);
    };
    stack.use(
      follow(
        state.apiExports,
        (found, { cluster, name }) => referred(name, [cluster, pathOf(found, cluster)]),
        ({ metadata }) => [metadata.uid, metadata.annotations?.[PATH_ANNOTATION]],
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
          const found = this.#options.exports.find(reference, cluster);
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
    return stack;
  }

  /** Reconciles all slices after a shard was added, removed or changed. */
  shardsChanged(): void {
    for (const slice of this.#options.state.apiExportEndpointSlices.store.list()) this.#add(slice);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  #add(slice: Slice): void {
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
    const { objects, whole } = this.#options;
    await modify(objects.of(APIExportEndpointSlice), key, (slice) => {
      // With missing objects, an export would seem unbound and lose its URL. A shard may have joined in between.
      if (whole() !== undefined) return undefined;
      const status: Status = { ...slice.status };
      this.#fill(status, slice, key);
      return { ...slice, status };
    });
  }

  #fill(status: Status, slice: Slice, { cluster }: ObjectKey): void {
    const { exports, now } = this.#options;
    const found = slice.spec && exports.find(slice.spec.export, cluster);
    const judge = (type: string, fault: Fault | undefined): void => {
      status.conditions =
        fault === undefined
          ? markTrue(status.conditions, type, now())
          : markFalse(status.conditions, { ...fault, severity: "Error" }, now());
    };
    if (found === undefined && exports.missing.length > 0) return;
    if (found === undefined) {
      const message = `Error getting APIExport ${slice.spec === undefined ? "" : exportText(slice.spec.export, cluster)}`;
      judge("APIExportValid", { type: "APIExportValid", reason: "APIExportNotFound", message });
      setEndpoints(status, slice, []);
      return;
    }
    judge("APIExportValid", undefined);
    const selector = this.#selector(slice.spec?.partition ?? "", cluster);
    if ("reason" in selector) {
      judge("PartitionValid", selector);
      setEndpoints(status, slice, []);
      return;
    }
    judge("PartitionValid", undefined);
    const text = selectorText(selector);
    if (text === "") delete status.shardSelector;
    else status.shardSelector = text;
    // Conditions that others have set count too.
    if (status.conditions?.every(({ status: holds }) => holds === "True") === true)
      this.#publish(status, slice, { found, selector });
  }

  #selector(partition: string, cluster: string): LabelSelectorObject | Fault {
    if (partition === "") return {};
    const found = this.#options.partitions.store.get({ cluster, namespace: "", name: partition });
    const fault = { type: "PartitionValid", reason: "PartitionInvalidReference" } as const;
    if (found === undefined)
      return { ...fault, message: `partition.topology.kcp.io ${JSON.stringify(partition)} not found` };
    const selector = (found.spec?.selector ?? {}) as LabelSelectorObject;
    try {
      labelSelectorFromObject(selector);
      return selector;
    } catch (error) {
      if (!isApiError(error)) throw error;
      return { ...fault, message: error.message };
    }
  }

  #publish(status: Status, slice: Slice, { found, selector }: Publication): void {
    const [cluster, name] = [clusterOf(found), found.metadata.name ?? ""];
    const places = [...new Set([cluster, pathOf(found, cluster)])];
    const matches = labelSelectorFromObject(selector);
    const had = new Set(status.endpoints?.map(({ url }) => url));
    const urls = publishedShards(this.#options.shards()).flatMap(({ virtualWorkspaceURL, labels, context }) => {
      const url = virtualWorkspaceURL === "" ? "" : exportURL(virtualWorkspaceURL, { cluster, name });
      const own = url === "" ? [] : [url];
      const kept = had.has(url) ? own : [];
      // A shard that does not run at the moment keeps its URL.
      if (context === undefined) return kept;
      const bound = places.some((place) => context.state.apiBindings.store.countBy("export", `${place}:${name}`) > 0);
      // A shard outside the partition neither publishes nor removes its URL.
      return bound ? (matches.matches(labels) ? own : kept) : [];
    });
    setEndpoints(status, slice, urls);
  }
}

/** Export to publish, with the selector of shards. */
interface Publication {
  readonly found: APIExport;
  readonly selector: LabelSelectorObject;
}

/** Sets the server's endpoints in sorted order, and keeps those that others have applied. */
function setEndpoints(status: Status, slice: Slice, urls: readonly string[]): void {
  const applied = appliedURLs(slice, "endpoints");
  const others = status.endpoints?.filter(({ url }) => applied.has(url)) ?? [];
  const own = urls.filter((url) => !applied.has(url)).map((url) => ({ url }));
  const all = new Map([...others, ...own].map((endpoint) => [endpoint.url, endpoint]));
  if (all.size === 0) delete status.endpoints;
  else status.endpoints = [...all.values()].sort((one, other) => (one.url < other.url ? -1 : 1));
}

function pathOf({ metadata }: APIExport, cluster: string): string {
  return metadata.annotations?.[PATH_ANNOTATION] ?? cluster;
}

/** Formats a selector with requirements sorted by key (metav1.LabelSelectorAsSelector). */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): string {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => [key, `${key}=${value}`] as const),
    ...matchExpressions.map(({ key, operator, values = [] }) => [key, expression(key, operator, values)] as const),
  ];
  return requirements
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function expression(key: string, operator: string, values: readonly string[]): string {
  const list = `(${[...values].sort().join(",")})`;
  if (operator === "In") return `${key} in ${list}`;
  if (operator === "NotIn") return `${key} notin ${list}`;
  return operator === "Exists" ? key : `!${key}`;
}
