import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { apiVersionOf, type KubeObject, type ObjectMeta, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { cloneJson, equalJson } from "@virtual-workspaces/apimachinery/json";
import type { TypedDefinition } from "../definition.ts";
import type { Scope, WriteOptions } from "../storage.ts";
import { contentOf, decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { lasting } from "../write/conflicts.ts";
import type { SourceWrites } from "../write/source-writes.ts";
import type { Draft } from "../write/write-request.ts";
import { type KeptAnnotations, LAST_APPLIED, SOURCE_VERSION_ANNOTATION, writeOwners } from "./annotations.ts";
import { isPlain } from "./computation.ts";
import type { DerivedLease } from "./derived-cache.ts";
import type { Mapped, WritableViewOptions } from "./view-options.ts";

/** The object of the view that a client sent, and the source's object behind it. */
export interface Wanted<In extends object, Out extends object> {
  readonly sent: ObjectOf<Out>;
  /** `undefined` on create. */
  readonly source: ObjectOf<In> | undefined;
}

/** Maps an object that a client sent to the source's object. */
export class SourceMapping<In extends object, Out extends object, Variant, Inputs> {
  readonly #lens: Lens<In, Out, Variant, Inputs>;
  readonly #isPlain: boolean;

  constructor(lens: Lens<In, Out, Variant, Inputs>) {
    this.#lens = lens;
    this.#isPlain = isPlain(lens.view, lens.resource);
  }

  /** Returns the object of the source that a write should leave. @throws errors of `mapToSource` */
  draft({ key, shown }: Before, { sent, source }: Wanted<In, Out>, options: WriteOptions): Draft {
    const { view, lease, below, scope } = this.#lens;
    const wanted = bare(sent);
    const before = shown && bare(decodeObject(shown));
    const unmapped = lease.computation.around(key, (context) => {
      try {
        return view.mapToSource(cloneJson(wanted), { ...context, source: source && cloneJson(source) });
      } catch (error) {
        throw lasting(error);
      }
    });
    const metadata = this.#metadata(unmapped.metadata, { shown: before, wanted, source });
    // A status that the view does not show must stay; the client may remove one that it saw.
    const mayGo = before?.["status"] !== undefined && wanted["status"] === undefined;
    const next = this.#assembled(unmapped, metadata, mayGo ? undefined : source?.["status"]);
    if (!this.#isPlain) {
      this.#keep(next, sent);
      return { object: next, by: "changing" };
    }
    below.writer.conform(next, { scope, options, part: "" });
    return { object: this.#owned(next, sent, options), by: "applying" };
  }

  #assembled(unmapped: Mapped<In>, metadata: ObjectMeta, status: unknown): KubeObject {
    const { resource } = this.#lens.view.from;
    const content = { ...(status === undefined ? {} : { status }), ...contentOf(unmapped) };
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...content };
  }

  /** Returns the client's metadata, with the source's labels and annotations as the client changed them. */
  #metadata(
    said: Mapped<object>["metadata"],
    at: {
      readonly shown: KubeObject | undefined;
      readonly wanted: KubeObject;
      readonly source: KubeObject | undefined;
    },
  ): ObjectMeta {
    const [before, after, source] = [at.shown, at.wanted, at.source].map((object) => object?.metadata ?? {});
    const { labels: _l, annotations: _a, managedFields: _m, resourceVersion: _r, ...kept } = at.wanted.metadata;
    const { managedFields, resourceVersion } = source ?? {};
    const labels = said?.labels ?? carriedOver(source?.labels, before?.labels, after?.labels);
    const annotations = this.#annotations(
      said?.annotations ?? carriedOver(source?.annotations, before?.annotations, after?.annotations),
      source?.annotations,
    );
    return {
      ...cloneJson(kept),
      ...(Object.keys(labels).length === 0 ? {} : { labels: { ...labels } }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(managedFields === undefined ? {} : { managedFields }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
  }

  /** Clients cannot set the annotations that the view sets itself: the source keeps its own. */
  #annotations(wanted: ObjectMeta["annotations"], source: ObjectMeta["annotations"]): Record<string, string> {
    const isOwn = ([key]: readonly [string, string]): boolean =>
      key === SOURCE_VERSION_ANNOTATION || this.#lens.isHidden(key) || (key === LAST_APPLIED && !this.#isPlain);
    const entries = Object.entries(wanted ?? {}).filter((entry) => !isOwn(entry));
    return Object.fromEntries([...entries, ...Object.entries(source ?? {}).filter(isOwn)]);
  }

  /**
   * Keeps the owners of the view's fields, and the applied configuration, in annotations. The writer computes the owners of
   * the source's fields.
   */
  #keep({ metadata }: KubeObject, sent: KubeObject): void {
    const { owners, applied } = this.#lens.kept;
    const ownersText = writeOwners(sent.metadata.managedFields);
    const appliedText = sent.metadata.annotations?.[LAST_APPLIED];
    const { [owners]: _owners, [applied]: _applied, ...annotations } = metadata.annotations ?? {};
    if (ownersText !== undefined) annotations[owners] = ownersText;
    if (appliedText !== undefined) annotations[applied] = appliedText;
    if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
    else delete metadata.annotations;
  }

  /** Keeps the owners computed for the view. The writer owns what `mapToSource` changes besides. */
  #owned(next: KubeObject, sent: KubeObject, { fieldManager: manager }: WriteOptions): KubeObject {
    const { managedFields, labels, annotations } = bare(sent).metadata;
    const { managedFields: _m, labels: _l, annotations: _a, ...kept } = next.metadata;
    const managed = managedFields === undefined ? {} : { managedFields };
    const owned = { ...next, metadata: { ...without(next.metadata, "managedFields"), ...managed } };
    const metadata = {
      ...kept,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...managed,
    };
    const live = { apiVersion: next.apiVersion, kind: next.kind, metadata, ...contentOf(sent) };
    if (equalJson(live, owned)) return owned;
    const about = { live, next: owned, manager, subresource: "", now: new Date() };
    return this.#lens.below.writer.rules.fields.update(about);
  }
}

/** Returns the object without the annotation that the view sets itself. */
function bare<T extends KubeObject>(object: T): T {
  const { annotations = {}, ...metadata } = object.metadata;
  const rest = without(annotations, SOURCE_VERSION_ANNOTATION);
  return { ...object, metadata: { ...metadata, ...(Object.keys(rest).length === 0 ? {} : { annotations: rest }) } };
}

function without<T extends object, K extends keyof T>(object: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = object;
  return rest;
}

type Texts = Readonly<Record<string, string>> | undefined;

/** Applies the changes that a client made to the view's map to the source's map. */
function carriedOver(source: Texts, before: Texts, after: Texts): Record<string, string> {
  const was = new Map(Object.entries(before ?? {}));
  const is = new Map(Object.entries(after ?? {}));
  const result = new Map(Object.entries(source ?? {}));
  for (const key of was.keys()) if (!is.has(key)) result.delete(key);
  for (const [key, value] of is) if (was.get(key) !== value) result.set(key, value);
  return Object.fromEntries(result);
}

/** Parts that one write through a view needs. */
export interface Lens<In extends object, Out extends object, Variant, Inputs> {
  readonly view: WritableViewOptions<In, Out, Variant, Inputs>;
  readonly resource: TypedDefinition<Out>;
  /** Computation that the caller reads. */
  readonly lease: DerivedLease<In, Out, Variant, Inputs>;
  readonly below: SourceWrites;
  readonly scope: Scope;
  /** Annotations in which the source keeps data of the view. */
  readonly kept: KeptAnnotations;
  /** Whether the view hides an annotation of the source: its own ones, and those of other views of the source. */
  readonly isHidden: (annotation: string) => boolean;
}

/** State of the view before a write. */
export interface Before {
  readonly key: ObjectKey;
  /** Position in the view's history from which on events may belong to the write. */
  readonly since: number;
  /** Object as the view shows it; `undefined` on create. */
  readonly shown: Encoded | undefined;
}
