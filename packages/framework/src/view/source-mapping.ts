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

/** What a client wants of an object of the view, and the object of the source that it is about. */
export interface Wanted<In extends object, Out extends object> {
  readonly sent: ObjectOf<Out>;
  /** `undefined` for one that is to be created. */
  readonly source: ObjectOf<In> | undefined;
}

/** Makes of what a client wants of the view's object what it comes to for the source's. */
export class SourceMapping<In extends object, Out extends object, Variant, Inputs> {
  readonly #lens: Lens<In, Out, Variant, Inputs>;
  readonly #isPlain: boolean;

  constructor(lens: Lens<In, Out, Variant, Inputs>) {
    this.#lens = lens;
    this.#isPlain = isPlain(lens.view, lens.resource);
  }

  /** The object of the source that a write is to leave. @throws what `mapToSource` throws */
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
    // A status that the view does not know must not be lost; one that the client saw may be taken away.
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

  /** The client's metadata, but for labels and annotations: these are the source's with the client's changes. */
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

  /** What the view says by itself never comes from above: the source keeps its own. */
  #annotations(wanted: ObjectMeta["annotations"], source: ObjectMeta["annotations"]): Record<string, string> {
    const isOwn = ([key]: readonly [string, string]): boolean =>
      key === SOURCE_VERSION_ANNOTATION || this.#lens.isHidden(key) || (key === LAST_APPLIED && !this.#isPlain);
    const entries = Object.entries(wanted ?? {}).filter((entry) => !isOwn(entry));
    return Object.fromEntries([...entries, ...Object.entries(source ?? {}).filter(isOwn)]);
  }

  /**
   * Who owns what of the view's object, and what was applied to it, is kept in annotations; who owns what of the source's
   * is worked out there.
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

  /** The owners that have been worked out above; what `mapToSource` changes besides is the writer's. */
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

/** The object without what the view says of it by itself. */
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

/** What a map of the source becomes when the map that the view shows of it is changed: the same changes, and no others. */
function carriedOver(source: Texts, before: Texts, after: Texts): Record<string, string> {
  const was = new Map(Object.entries(before ?? {}));
  const is = new Map(Object.entries(after ?? {}));
  const result = new Map(Object.entries(source ?? {}));
  for (const key of was.keys()) if (!is.has(key)) result.delete(key);
  for (const [key, value] of is) if (was.get(key) !== value) result.set(key, value);
  return Object.fromEntries(result);
}

/** What one write through a view works with. */
export interface Lens<In extends object, Out extends object, Variant, Inputs> {
  readonly view: WritableViewOptions<In, Out, Variant, Inputs>;
  readonly resource: TypedDefinition<Out>;
  /** The computation that the caller reads. */
  readonly lease: DerivedLease<In, Out, Variant, Inputs>;
  readonly below: SourceWrites;
  readonly scope: Scope;
  /** The annotations in which the source keeps what is the view's. */
  readonly kept: KeptAnnotations;
  /** Whether the source has an annotation that the view does not show: one of those, or of views beside it. */
  readonly isHidden: (annotation: string) => boolean;
}

/** What of the view a write is about. */
export interface Before {
  readonly key: ObjectKey;
  /** The place in the view's history from which on events may be those of the write. */
  readonly since: number;
  /** The object as the view shows it; `undefined` for one that is to be created. */
  readonly shown: Encoded | undefined;
}
