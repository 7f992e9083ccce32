import { ApiError, type KubeObject, type ObjectMeta, type Status } from "@virtual-workspaces/apimachinery";
import type { Forwarded } from "@virtual-workspaces/forwarding";
import {
  type CacheLease,
  type DeleteOptions,
  decodeObject,
  type Encoded,
  groupResourceOf,
  type PatchOptions,
  type RequestOptions,
  type Scope,
  SOURCE_VERSION_ANNOTATION,
  type WriteOptions,
  type Written,
} from "@virtual-workspaces/framework";
import { OWN_ANNOTATIONS } from "./own-annotations.ts";
import { patchBehind } from "./patch-behind.ts";
import { shownAfter } from "./shown-after.ts";

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
    const patch = patchBehind(options, { own: OWN_ANNOTATIONS, versionOf: (version) => this.#versionBehind(version) });
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
