import { ApiError, isApiError, type KubeObject, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { cloneJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { groupResourceOf } from "../definition.ts";
import type { DeleteOptions, RequestOptions, WriteOptions } from "../storage.ts";
import { decodeObject, type Encoded, isEncoded, keyIn, parsed } from "../watch/cache/encoded.ts";
import { cacheKey } from "../watch/cache/watch-cache.ts";
import { modified } from "../write/update.ts";
import { type Before, type Lens, SourceMapping } from "./source-mapping.ts";

/** One write through a view. */
export class LensWrite<In extends object, Out extends object, Variant, Inputs> {
  readonly #lens: Lens<In, Out, Variant, Inputs>;
  readonly #mapping: SourceMapping<In, Out, Variant, Inputs>;

  constructor(lens: Lens<In, Out, Variant, Inputs>) {
    this.#lens = lens;
    this.#mapping = new SourceMapping(lens);
  }

  async create(object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    const { below, scope, resource, lease } = this.#lens;
    const sent = cloneJson(object);
    // As in a storage, only `/status` sets a status.
    if (resource.subresources.status) delete (sent as KubeObject)["status"];
    const before: Before = { key: keyIn(scope, sent.metadata), since: lease.cache.next, shown: undefined };
    const draft = this.#mapping.draft(before, { sent, source: undefined }, options);
    try {
      const kept = await below.create(draft, scope, this.#accepting(before, options));
      const { name = "" } = isEncoded(kept) ? kept.key : kept.metadata;
      return await this.#answer({ ...before, key: { ...before.key, name } }, kept, options);
    } catch (error) {
      throw this.#taken(before, error);
    }
  }

  /** Security: reveals of a hidden object only that its name is taken, not that it is being deleted. */
  #taken({ key }: Before, error: unknown): unknown {
    const { lease, resource } = this.#lens;
    if (!isApiError(error) || error.reason !== "AlreadyExists" || lease.cache.get(key) !== undefined) return error;
    return ApiError.alreadyExists(groupResourceOf(resource), key.name);
  }

  async update(object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    const { below, scope, resource } = this.#lens;
    const before = this.#before(keyIn(scope, object.metadata), object.metadata.resourceVersion);
    const written = await below.replace(
      { scope, key: before.key },
      (source) => {
        if (source.metadata.resourceVersion !== before.sourceVersion) throw modified(resource, before.key.name);
        return this.#mapping.draft(before, { sent: object, source: source as ObjectOf<In> }, options);
      },
      this.#accepting(before, options),
    );
    return this.#answer(before, written, options);
  }

  async delete(key: ObjectKey, options: DeleteOptions): Promise<ObjectOf<Out> | Encoded | undefined> {
    const { below, scope } = this.#lens;
    const before = this.#before(key, options.preconditions?.resourceVersion);
    const { uid } = before.shown;
    const preconditions = { resourceVersion: before.sourceVersion, ...(uid === "" ? {} : { uid }) };
    const { object, gone } = await below.delete({ scope, key }, { ...options, preconditions });
    return gone ? undefined : this.#answer(before, object, options);
  }

  /** Returns the object that the view shows now. @throws ApiError 404, 409 when the client has seen another version */
  #before(key: ObjectKey, version: string | undefined): Before & { shown: Encoded; sourceVersion: string } {
    const { lease, resource } = this.#lens;
    const shown = lease.cache.get(key);
    if (shown === undefined) throw ApiError.notFound(groupResourceOf(resource), key.name);
    if (version !== undefined && version !== shown.resourceVersion) throw modified(resource, key.name);
    return { key, since: lease.cache.next, shown, sourceVersion: lease.sourceVersion(shown) ?? "" };
  }

  /** Rejects results that the view, or a view made from it, would not show. */
  #accepting({ key, shown: before }: Before, options: WriteOptions): WriteOptions {
    const { lease, view } = this.#lens;
    return {
      ...options,
      accept: (next) => {
        const { name = key.name } = next?.metadata ?? {};
        const read = (): ObjectOf<In> => cloneJson(next) as ObjectOf<In>;
        const shown = next && lease.computation.show(read, { ...key, name }, sendable);
        if (shown === undefined && view.allowLeavingView !== true) throw this.#hidden(name, before);
        options.accept?.(shown);
      },
    };
  }

  #hidden(name: string, before: Before["shown"]): ApiError {
    const message =
      before === undefined
        ? "this view would not show the object"
        : "the object would leave this view with this change";
    return ApiError.forbidden({ resource: groupResourceOf(this.#lens.resource), name, message });
  }

  async #answer(
    before: Before,
    kept: KubeObject | Encoded,
    options: DeleteOptions | WriteOptions,
  ): Promise<ObjectOf<Out> | Encoded> {
    if (!options.dryRun) return shownAfter(this.#lens, before, { kept, options });
    return mapped(this.#lens, before, { kept, version: before.shown?.resourceVersion });
  }
}

/** Returns the object if it can be sent. @throws TypeError when JSON cannot express it (a cycle) */
function sendable(object: KubeObject): KubeObject {
  stringifyJson(object);
  return object;
}

/**
 * Returns the written object as the view shows it: at the version of its watch event or, if it has left the view, at that of
 * its DELETED event.
 */
async function shownAfter<In extends object, Out extends object, Variant, Inputs>(
  lens: Lens<In, Out, Variant, Inputs>,
  before: Before,
  { kept, options }: { readonly kept: KubeObject | Encoded; readonly options: RequestOptions },
): Promise<ObjectOf<Out> | Encoded> {
  const { lease } = lens;
  const { resourceVersion, uid = "" } = isEncoded(kept) ? kept : kept.metadata;
  await lease.confirm(options);
  const { cache } = lease;
  const key = cacheKey(before.key);
  let left: string | undefined;
  for (let at = cache.next - 1; at >= Math.max(before.since, cache.first); at--) {
    const event = cache.event(at);
    if (cacheKey(event.key) !== key) continue;
    if (event.object === undefined) left ??= event.version;
    else if (lease.sourceVersion(event.object) === resourceVersion) return event.object;
  }
  const now = cache.get(before.key);
  // Another write has followed, or nothing has changed.
  if (now !== undefined && now.uid === uid) return now;
  // As in Kubernetes, an object that is removed with its last finalizer is answered at its previous version.
  const { shown } = before;
  const gone = shown !== undefined && lease.sourceVersion(shown) === resourceVersion;
  return mapped(lens, before, { kept, version: gone ? shown.resourceVersion : (left ?? cache.head) });
}

/** Returns the object as the view would show it, even if it does not. */
function mapped<In extends object, Out extends object, Variant, Inputs>(
  { lease: { computation } }: Lens<In, Out, Variant, Inputs>,
  { key, shown }: Before,
  { kept, version }: { readonly kept: KubeObject | Encoded; readonly version: string | undefined },
): ObjectOf<Out> {
  let object: ObjectOf<Out>;
  try {
    object = computation.map(cloneJson(parsed(kept)) as ObjectOf<In>, key);
  } catch (error) {
    computation.report(error, key);
    if (shown === undefined) throw error;
    object = decodeObject(shown);
  }
  if (version !== undefined) object.metadata.resourceVersion = version;
  return object;
}
