import {
  ApiError,
  CLUSTER_ANNOTATION,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type Status,
} from "@virtual-workspaces/apimachinery";
import type { Forwarded } from "@virtual-workspaces/forwarding";
import { SOURCE_VERSION_ANNOTATION } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  type CacheLease,
  type DeleteOptions,
  decodeObject,
  type Encoded,
  type PatchOptions,
  type ReadableCache,
  type RequestOptions,
  type Scope,
  type WriteOptions,
  type Written,
} from "@virtual-workspaces/framework/storage";
import { sleep } from "@virtual-workspaces/transport";
import { SPACE_ANNOTATION } from "../kinds/names.ts";

interface AcrossWriteOptions {
  /** Cache across Spaces. */
  readonly lease: CacheLease;
  /** The object as the view shows it. */
  readonly shown: Encoded;
  /** Objects of this kind in the Space. */
  readonly objects: Forwarded<object>;
  /** Scope of the object in the Space. */
  readonly scope: Scope;
}

/** Write of one object in one of several Spaces. The view's annotations and versions are removed on the way to the Space and added to its response. */
export class AcrossWrite {
  readonly #options: AcrossWriteOptions;
  readonly #before: ObjectMeta;

  constructor(options: AcrossWriteOptions) {
    this.#options = options;
    this.#before = decodeObject(options.shown).metadata;
  }

  async update(object: KubeObject, options: WriteOptions): Promise<KubeObject | Encoded> {
    const { objects, scope } = this.#options;
    const { resourceVersion, managedFields: _, annotations = {}, ...metadata } = object.metadata;
    const kept = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.includes(key));
    const { managedFields } = this.#before;
    const behind: KubeObject = {
      ...object,
      metadata: {
        ...metadata,
        ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
        // Field ownership is up to the Space.
        ...(managedFields !== undefined && { managedFields }),
        ...(resourceVersion !== undefined && { resourceVersion: this.#versionBehind(resourceVersion) }),
      },
    };
    const written = await objects.update?.(scope, behind as never, options);
    return this.#answer(written, options);
  }

  async patch(options: PatchOptions): Promise<Written> {
    const { objects, scope, shown } = this.#options;
    const patch = patchForSpace(options, {
      own: OWN_ANNOTATIONS,
      versionOf: (version) => this.#versionBehind(version),
    });
    const written = await objects.patch?.(scope, { ...shown.key, cluster: "" }, { ...options, patch });
    return { object: await this.#answer(written?.object, options) };
  }

  async delete(options: DeleteOptions): Promise<KubeObject | Encoded | Status | undefined> {
    const { objects, scope, shown } = this.#options;
    const { preconditions: { resourceVersion, ...others } = {}, ...rest } = options;
    const version = resourceVersion === undefined ? {} : { resourceVersion: this.#versionBehind(resourceVersion) };
    const preconditions = { ...others, ...version };
    const asked = { ...rest, ...(Object.keys(preconditions).length > 0 && { preconditions }) };
    const left = await objects.delete?.(scope, { ...shown.key, cluster: "" }, asked);
    return left === undefined || !("bytes" in left) ? left : this.#answer(left, options);
  }

  /** Returns the Space's own version for a version of the view. @throws ApiError 409 if the object has changed since */
  #versionBehind(seen: string): string {
    const { resourceVersion, name = "" } = this.#before;
    if (seen === resourceVersion) return this.#before.annotations?.[SOURCE_VERSION_ANNOTATION] ?? "";
    if (seen === "" || seen === "0") return seen;
    const message = "the object has been modified; please apply your changes to the latest version and try again";
    throw ApiError.conflict(groupResourceOf(this.#options.objects.resource), name, message);
  }

  async #answer(
    written: object | undefined,
    { dryRun, signal }: RequestOptions & { readonly dryRun: boolean },
  ): Promise<KubeObject | Encoded> {
    const { lease, shown } = this.#options;
    const object = decoded(written);
    if (!dryRun) {
      const { resourceVersion = "", uid = "" } = object.metadata;
      const now = await shownAfter(lease.cache, { key: shown.key, version: resourceVersion, uid }, signal);
      if (now !== undefined) return now;
    }
    const { annotations, resourceVersion } = this.#before;
    const own = Object.entries(annotations ?? {}).filter(([key]) => OWN_ANNOTATIONS.includes(key));
    object.metadata.annotations = { ...object.metadata.annotations, ...Object.fromEntries(own) };
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    return object;
  }
}

function decoded(written: object | undefined): KubeObject {
  if (written === undefined) throw new Error("the space accepted a write but did not return its result");
  return "bytes" in written ? decodeObject(written as Encoded) : (written as KubeObject);
}

/** Annotations that only the view adds to objects. */
export const OWN_ANNOTATIONS: readonly string[] = [SPACE_ANNOTATION, SOURCE_VERSION_ANNOTATION, CLUSTER_ANNOTATION];

/** Result of a write in a Space. */
interface SpaceWrite {
  /** Key in the view. */
  readonly key: ObjectKey;
  /** The Space's own version of the object. */
  readonly version: string;
  readonly uid: string;
}

/** Time limit for the watch of a Space to report a write, ms. */
const PATIENCE = 3_000;

/** Returns the object as the view shows it after the write; `undefined` if it is deleted by then, or after the time limit. */
async function shownAfter(
  cache: ReadableCache,
  { key, version, uid }: SpaceWrite,
  signal: AbortSignal,
): Promise<Encoded | undefined> {
  const { promise, resolve } = Promise.withResolvers<Encoded | undefined>();
  const look = (object: Encoded | undefined): void => {
    if (object !== undefined && object.uid === uid && isSince(object, version)) resolve(object);
  };
  const isIt = (one: ObjectKey): boolean =>
    one.name === key.name && one.namespace === key.namespace && one.cluster === key.cluster;
  using _ = cache.listen({
    event: ({ key: one, object }) => {
      if (!isIt(one)) return;
      if (object === undefined) resolve(undefined);
      else look(object);
    },
    expired: () => resolve(undefined),
  });
  look(cache.get(key));
  const over = new AbortController();
  const late = sleep(PATIENCE, { signal: AbortSignal.any([signal, over.signal]) });
  const shown = await Promise.race([promise, late.then(() => undefined)]);
  over.abort();
  signal.throwIfAborted();
  return shown;
}

/** Compares versions numerically, since another write may follow: versions of one Space and kind increase (KEP-5504). Others must be equal. */
function isSince(object: Encoded, version: string): boolean {
  const shown = decodeObject(object).metadata.annotations?.[SOURCE_VERSION_ANNOTATION] ?? "";
  if (shown === version) return true;
  const areNumbers = [shown, version].every((text) => /^[1-9]\d*$/.test(text));
  return areNumbers && BigInt(shown) > BigInt(version);
}

interface SpaceNames {
  /** Annotations that the Space does not know. */
  readonly own: readonly string[];
  /** Returns the Space's version for a version of the view. */
  readonly versionOf: (version: string) => string;
}

/** Returns a patch for the Space: unchanged bytes, unless it contains versions or annotations of the view. @throws ApiError 400, 409 */
function patchForSpace({ patch, contentType }: PatchOptions, behind: SpaceNames): Buffer {
  const words = ["resourceVersion", ...behind.own, ...behind.own.map(pointer)];
  if (!words.some((word) => patch.includes(word))) return patch;
  const value = parsed(patch, contentType);
  if (Array.isArray(value)) return Buffer.from(JSON.stringify(operations(value, behind)));
  if (!isJsonObject(value) || !isJsonObject(value["metadata"])) return patch;
  const { metadata, ...rest } = value;
  return Buffer.from(JSON.stringify({ ...rest, metadata: metadataBehind(metadata, behind) }));
}

function parsed(patch: Buffer, contentType: string): unknown {
  try {
    return JSON.parse(patch.toString("utf8"));
  } catch (error) {
    const message = `unsupported patch (${contentType}) of an object across spaces with metadata.resourceVersion or annotations of this view: send JSON, or omit them`;
    throw new ApiError(ApiError.badRequest(message).status, { cause: error as Error });
  }
}

function metadataBehind(
  { resourceVersion, annotations, ...metadata }: JsonObject,
  { own, versionOf }: SpaceNames,
): JsonObject {
  const kept = isJsonObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !own.includes(key)))
    : annotations;
  return {
    ...metadata,
    ...(kept !== undefined && { annotations: kept }),
    ...(resourceVersion !== undefined && {
      resourceVersion: typeof resourceVersion === "string" ? versionOf(resourceVersion) : resourceVersion,
    }),
  };
}

const VERSION = "/metadata/resourceVersion";

/** Translates a JSON Patch. */
function operations(list: readonly unknown[], { own, versionOf }: SpaceNames): readonly unknown[] {
  const hidden = own.map((key) => `/metadata/annotations/${pointer(key)}`);
  return list
    .filter((one) => !isJsonObject(one) || !hidden.includes(String(one["path"])))
    .map((one) => {
      if (!isJsonObject(one) || one["path"] !== VERSION || typeof one["value"] !== "string") return one;
      return { ...one, value: versionOf(one["value"]) };
    });
}

/** Escapes a key for a JSON Pointer. */
const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
