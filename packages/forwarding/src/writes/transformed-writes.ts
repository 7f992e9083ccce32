import {
  ApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
  type Status,
} from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  type DeleteOptions,
  decodeObject,
  type Encoded,
  type Scope,
  type WriteOptions,
} from "@virtual-workspaces/framework/storage";
import type { Transform } from "../options.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";
import type { ForwardedWrites } from "./send-write.ts";
import { sendWrite, writeObject } from "./send-write.ts";

export interface TransformedWritesOptions<T extends object> {
  readonly there: UpstreamResource;
  readonly transform: Transform<T>;
  readonly remove: (scope: Scope, key: ObjectKey, options: DeleteOptions) => Promise<Encoded | Status>;
}

/**
 * Creates writes of transformed objects. Bodies of clients go through `keep`; patches are computed here on transformed
 * objects and sent as updates. Applies are rejected, because an update would change the field managers at the upstream.
 * Without `keep`, only deletes are possible.
 */
export function transformedWrites<T extends object>(options: TransformedWritesOptions<T>): ForwardedWrites<T> {
  const { there, transform, remove } = options;
  const { show, keep } = transform;
  const shown = (object: Encoded, { cluster }: Scope): ObjectOf<T> =>
    show(decodeObject(object) as ObjectOf<T>, { cluster });
  const deletes: ForwardedWrites<T> = {
    lifecycle: "storage",
    delete: async (scope, key, options) => {
      const left = await remove(scope, key, options);
      return "bytes" in left ? shown(left, scope) : left;
    },
  };
  if (keep === undefined) return deletes;
  /** Hooks of a write see transformed objects. */
  const withShown = (options: WriteOptions, { cluster }: Scope): WriteOptions => {
    const { accept } = options;
    if (accept === undefined) return options;
    return { ...options, accept: (next) => accept(next && show(next as ObjectOf<T>, { cluster })) };
  };
  const kept = (object: ObjectOf<T>, current: ObjectOf<T> | undefined): KubeObject =>
    placed(keep(cloneJson(object), { current }), object);
  return {
    ...deletes,
    applies: false,
    create: async (scope, object, options) => {
      const writing = {
        verb: "create",
        scope,
        object: kept(object, undefined),
        options: withShown(options, scope),
      } as const;
      return shown(await writeObject(there, writing), scope);
    },
    update: async (scope, object, options) => {
      const current = await read(there, { scope, object, options });
      if (current.metadata.resourceVersion !== object.metadata.resourceVersion)
        throw modified(there.definition, object);
      const next = kept(object, current as ObjectOf<T>);
      const writing = { verb: "update", scope, object: next, options: withShown(options, scope) } as const;
      return shown(await writeObject(there, writing), scope);
    },
  };
}

/** Reads the original object again: only `keep` needs it. */
async function read(
  there: UpstreamResource,
  { scope, object, options }: { readonly scope: Scope; readonly object: KubeObject; readonly options: WriteOptions },
): Promise<KubeObject> {
  const { namespace = scope.namespace, name = "" } = object.metadata;
  const sending = { method: "GET", scope: { ...scope, namespace }, name, options } as const;
  return decodeObject((await sendWrite(there, sending)).object);
}

/** `keep` cannot change the object's identity, or the version that the write requires. */
function placed<T extends object>(object: ObjectOf<T>, { metadata }: ObjectOf<T>): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  const place = { name, namespace, uid, resourceVersion };
  const next: KubeObject = { ...object, metadata: { ...object.metadata } };
  for (const [field, value] of Object.entries(place)) {
    if (value === undefined) delete next.metadata[field as keyof typeof place];
    else next.metadata[field as keyof typeof place] = value;
  }
  return next;
}

function modified(resource: ResourceDefinition, { metadata: { name = "" } }: KubeObject): ApiError {
  const message = "the object has been modified; please apply your changes to the latest version and try again";
  return ApiError.conflict(groupResourceOf(resource), name, message);
}
