import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  apiVersionOf,
  CLUSTER_ANNOTATION,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, TypedDefinition } from "../definition.ts";
import { cacheKey } from "../watch/cache/watch-cache.ts";
import {
  isKeptAnnotation,
  type KeptAnnotations,
  keptAnnotations,
  LAST_APPLIED,
  readOwners,
  SOURCE_VERSION_ANNOTATION,
} from "./annotations.ts";
import type { InputReaders, Mapped, ReaderPlace, ViewContext, ViewOptions } from "./view-options.ts";

export interface ComputationOptions<In extends object, Out extends object, Variant, Inputs> {
  readonly view: ViewOptions<In, Out, Variant, Inputs>;
  readonly resource: TypedDefinition<Out>;
  readonly variant: Variant;
  /** Annotations that views made from this view keep in its objects. */
  readonly carried: ReadonlySet<string>;
  /** Returns the readers of the inputs, which look from the place that `here` returns. */
  readonly readers: (here: () => Required<ReaderPlace>) => InputReaders<Inputs>;
}

/** Parts of a view that decide whether it changes its objects. */
interface Described {
  readonly from: { readonly resource: ResourceDefinition };
  readonly map?: unknown;
}

/** Whether a view shows its source's objects unchanged, so that the owners of their fields are the same. */
export function isPlain({ from, map }: Described, shown: ResourceDefinition): boolean {
  const { resource } = from;
  return map === undefined && resource.kind === shown.kind && apiVersionOf(resource) === apiVersionOf(shown);
}

/** Computes how a view shows its objects, for one variant and the current inputs. */
export class Computation<In extends object, Out extends object, Variant, Inputs> {
  readonly context: ViewContext<Variant, Inputs>;
  readonly #view: ViewOptions<In, Out, Variant, Inputs>;
  readonly #resource: TypedDefinition<Out>;
  readonly #kept: KeptAnnotations;
  readonly #carried: ReadonlySet<string>;
  readonly #isPlain: boolean;
  #here: Required<ReaderPlace> = { cluster: "", namespace: "" };

  constructor({ view, resource, variant, carried, readers }: ComputationOptions<In, Out, Variant, Inputs>) {
    this.#view = view;
    this.#resource = resource;
    this.#kept = keptAnnotations(resource);
    this.#carried = carried;
    this.#isPlain = isPlain(view, resource);
    this.context = { variant, inputs: readers(() => this.#here) };
  }

  /**
   * Returns the result of `make` for the object as the view shows it, without a version. Returns `undefined` when the object
   * is not in the view, or when a step throws.
   */
  show<R>(read: () => ObjectOf<In>, key: ObjectKey, make: (shown: ObjectOf<Out>) => R): R | undefined {
    try {
      const object = read();
      if (this.#at(key).#view.select?.(object, this.context) === false) return undefined;
      return make(this.map(object, key));
    } catch (error) {
      this.report(error, key);
      return undefined;
    }
  }

  /** Returns the object as the view shows it, whether or not it is in the view. May change its argument. */
  map(object: ObjectOf<In>, key: ObjectKey): ObjectOf<Out> {
    const { metadata } = object;
    const view = this.#at(key).#view;
    const mapped = view.map === undefined ? object : view.map(object, this.context);
    if (!isJsonObject(mapped)) throw new Error("map must return an object");
    return this.#finish(metadata, mapped);
  }

  /** Runs a function that reads the inputs on behalf of an object. */
  around<R>(key: ObjectKey, run: (context: ViewContext<Variant, Inputs>) => R): R {
    return run(this.#at(key).context);
  }

  report(error: unknown, key: ObjectKey): void {
    const { onError } = this.#view;
    const object = cacheKey(key);
    if (onError !== undefined) onError(error, object);
    else process.emitWarning(`view of ${this.#resource.plural} hides ${object}: ${String(error)}`);
  }

  #at(key: Required<ReaderPlace>): this {
    this.#here = key;
    return this;
  }

  #finish(metadata: ObjectMeta, mapped: JsonObject): ObjectOf<Out> {
    const { apiVersion: _version, kind: _kind, metadata: changes, ...content } = mapped as Mapped<JsonObject>;
    const { managedFields, resourceVersion, annotations: before, ...kept } = metadata;
    const { owners, applied } = this.#kept;
    const { [owners]: ownersText, [applied]: appliedText, ...annotations } = annotationsOf(before, changes);
    // `kubectl apply` applies another configuration to the view's objects than to the source's.
    if (!this.#isPlain) delete annotations[LAST_APPLIED];
    if (!this.#isPlain && appliedText !== undefined) annotations[LAST_APPLIED] = appliedText;
    // Security: these annotations name fields, and values in sets, that this view may hide.
    for (const key of Object.keys(annotations))
      if (isKeptAnnotation(key) && !this.#carried.has(key)) delete annotations[key];
    if (resourceVersion !== undefined) annotations[SOURCE_VERSION_ANNOTATION] = resourceVersion;
    else delete annotations[SOURCE_VERSION_ANNOTATION];
    const labels = changes?.labels ?? metadata.labels;
    const managed = this.#isPlain ? managedFields : readOwners(ownersText);
    const object: KubeObject = {
      apiVersion: apiVersionOf(this.#resource),
      kind: this.#resource.kind,
      metadata: {
        ...kept,
        ...(labels === undefined ? {} : { labels }),
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        ...(managed === undefined ? {} : { managedFields: managed }),
      },
      ...content,
    };
    return object as ObjectOf<Out>;
  }
}

/** Returns the annotations to show: those from `map`, if it sets any, and those that the framework needs. */
function annotationsOf(
  before: ObjectMeta["annotations"] = {},
  changes: Mapped<object>["metadata"],
): Record<string, string> {
  if (changes?.annotations === undefined) return { ...before };
  const own = Object.entries(before).filter(([key]) => key === CLUSTER_ANNOTATION || isKeptAnnotation(key));
  return { ...changes.annotations, ...Object.fromEntries(own) };
}
