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
  /** What is shown of several Spaces. */
  readonly lease: CacheLease;
  /** The object as it is shown there. */
  readonly shown: Encoded;
  /** Its kind in its Space. */
  readonly objects: Forwarded<object>;
  /** Where in that. */
  readonly scope: Scope;
}

/** A write of one object that is in one of several Spaces: what is the view's is taken off on the way there, and put on on the way back. */
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
        // Who owns what is for the Space to say.
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

  /** The version that the Space knows an object by which a client has seen here. @throws ApiError 409 unless that is as it is now */
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
  if (written === undefined) throw new Error("a space has done a write, and not said what came of it");
  return "bytes" in written ? decodeObject(written as Encoded) : (written as KubeObject);
}

/** The annotations that objects have where several Spaces are shown, and not in their Spaces. */
export const OWN_ANNOTATIONS: readonly string[] = [SPACE_ANNOTATION, SOURCE_VERSION_ANNOTATION, CLUSTER_ANNOTATION];

/** What a Space has said that it has written. */
interface SpaceWrite {
  /** Where it is shown. */
  readonly key: ObjectKey;
  /** The Space's own version of it. */
  readonly version: string;
  readonly uid: string;
}

/** How long it is waited for, ms: the Space tells of it by a watch. */
const PATIENCE = 3_000;

/** The object as several Spaces show it, once they do; `undefined` if it is gone by then, or they take too long. */
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

/** Somebody else may have written since: versions of one Space and kind grow (KEP-5504); those that are no numbers are waited for as they are. */
function isSince(object: Encoded, version: string): boolean {
  const shown = decodeObject(object).metadata.annotations?.[SOURCE_VERSION_ANNOTATION] ?? "";
  if (shown === version) return true;
  const areNumbers = [shown, version].every((text) => /^[1-9]\d*$/.test(text));
  return areNumbers && BigInt(shown) > BigInt(version);
}

interface SpaceNames {
  /** Annotations that are not known there. */
  readonly own: readonly string[];
  /** What a version is called there. */
  readonly versionOf: (version: string) => string;
}

/** A patch as the Space is to be sent it: byte for byte, unless it speaks of what is called otherwise here. @throws ApiError 400, 409 */
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
    const message = `a patch (${contentType}) of an object in several spaces that speaks of metadata.resourceVersion, or of annotations of this view: send it as JSON, or leave them out`;
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

/** Of a JSON Patch. */
function operations(list: readonly unknown[], { own, versionOf }: SpaceNames): readonly unknown[] {
  const hidden = own.map((key) => `/metadata/annotations/${pointer(key)}`);
  return list
    .filter((one) => !isJsonObject(one) || !hidden.includes(String(one["path"])))
    .map((one) => {
      if (!isJsonObject(one) || one["path"] !== VERSION || typeof one["value"] !== "string") return one;
      return { ...one, value: versionOf(one["value"]) };
    });
}

/** As a JSON pointer has it. */
const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
