import { ApiError, type ObjectKey, type Status } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  Encoded,
  EncodedList,
  PatchOptions,
  RequestOptions,
  Scope,
  SentWrite,
  Written,
} from "@virtual-workspaces/framework/storage";
import type { Transform } from "../options.ts";
import { readObject } from "../reads/get.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";
import {
  APPLY,
  deleteBody,
  type ForwardedWrites,
  patchQuery,
  sendWrite,
  type WriteAnswer,
  writeObject,
  writeQuery,
} from "./send-write.ts";
import { transformedWrites } from "./transformed-writes.ts";

/**
 * Creates writes that the upstream executes and validates. Bodies are forwarded as bytes, and an apply as an apply; responses
 * return as bytes, with warnings, errors and codes. Each write is sent once.
 */
export function forwardedWrites<T extends object>(
  there: UpstreamResource,
  transform: Transform<T> | undefined,
): ForwardedWrites<T> {
  const remove = (scope: Scope, key: ObjectKey, asked: DeleteOptions): Promise<Encoded | Status> =>
    deleted(there, { scope, key, asked });
  if (transform !== undefined) return transformedWrites({ there, transform, remove });
  const writes = {
    lifecycle: "storage",
    pass: (scope, write) => passed(there, scope, write),
    create: (scope, object, asked) => writeObject(there, { verb: "create", scope, object, options: asked }),
    update: (scope, object, asked) => writeObject(there, { verb: "update", scope, object, options: asked }),
    patch: (scope, key, patch) => patched(there, { scope, key, patch }),
    delete: remove,
    deleteCollection: (scope, asked) => deletedCollection(there, scope, asked),
  } satisfies ForwardedWrites<T>;
  return there.labels === undefined ? writes : selectedWrites(there, writes);
}

async function passed(there: UpstreamResource, scope: Scope, write: SentWrite): Promise<Written<never>> {
  const { verb, key, contentType, body, subresource } = write;
  const method = verb === "create" ? "POST" : "PUT";
  const sent = { contentType, body, subresource, name: key.name, query: writeQuery(write) };
  return answered(await sendWrite(there, { method, scope, options: write, ...sent }));
}

async function patched(
  there: UpstreamResource,
  { scope, key, patch }: { readonly scope: Scope; readonly key: ObjectKey; readonly patch: PatchOptions },
): Promise<Written<never>> {
  const { contentType, subresource, patch: body } = patch;
  const query = patchQuery(patch, contentType === APPLY);
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name, subresource };
  return answered(await sendWrite(there, { method: "PATCH", ...at, options: patch, contentType, body, query }));
}

function answered({ status, object }: WriteAnswer): Written<never> {
  return { object, ...(status === 201 && { created: true }) };
}

async function deleted(
  there: UpstreamResource,
  { scope, key, asked }: { readonly scope: Scope; readonly key: ObjectKey; readonly asked: DeleteOptions },
): Promise<Encoded | Status> {
  const at = { scope: { ...scope, namespace: key.namespace }, name: key.name };
  const { gone, object } = await sendWrite(there, { method: "DELETE", ...at, options: asked, ...deleteBody(asked) });
  return gone ?? object;
}

async function deletedCollection(
  there: UpstreamResource,
  scope: Scope,
  asked: DeleteCollectionOptions,
): Promise<EncodedList | Status> {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = asked;
  const query = {
    ...there.selectorsOf(scope),
    ...{ limit, continue: token, resourceVersion, resourceVersionMatch },
  };
  const sending = { method: "DELETE", scope, name: "", options: asked, query, ...deleteBody(asked) } as const;
  const { gone, body } = await sendWrite(there, sending);
  return gone ?? { body };
}

/**
 * Creates writes for a restricted set of objects: each write by name first checks the labels. Only a create reveals an
 * invisible object, because its name is taken.
 */
function selectedWrites<T extends object>(
  there: UpstreamResource,
  writes: Required<Omit<ForwardedWrites<T>, "applies">>,
): ForwardedWrites<T> {
  const { pass, patch, update, delete: remove } = writes;
  const notFound = ({ name }: ObjectKey): ApiError => ApiError.notFound(groupResourceOf(there.definition), name);
  const find = async (scope: Scope, key: ObjectKey, options: RequestOptions): Promise<Found> => {
    const { user, signal, requestId } = options;
    // The write reports the warnings.
    const found = await there.told(
      readObject(there, { scope, key }, { user, signal, requestId, warn: () => undefined }),
    );
    if (found === undefined) return "nothing";
    return there.labels?.matches(found.labels) === false ? "another" : "it";
  };
  const check = async (scope: Scope, key: ObjectKey, options: RequestOptions): Promise<void> => {
    if ((await find(scope, key, options)) !== "it") throw notFound(key);
  };
  return {
    ...writes,
    pass: async (scope, write) => {
      if (write.verb === "update") await check(scope, write.key, write);
      return pass(scope, write);
    },
    update: async (scope, object, options) => {
      const { namespace = "", name = "" } = object.metadata;
      await check(scope, { cluster: scope.cluster, namespace, name }, options);
      return update(scope, object, options);
    },
    patch: async (scope, key, options) => {
      const found = await find(scope, key, options);
      const creates = options.contentType === APPLY && options.subresource === undefined;
      if (found === "another" && creates) throw ApiError.alreadyExists(groupResourceOf(there.definition), key.name);
      if (found !== "it" && !creates) throw notFound(key);
      return patch(scope, key, options);
    },
    delete: async (scope, key, options) => {
      await check(scope, key, options);
      return remove(scope, key, options);
    },
  };
}

type Found = "it" | "another" | "nothing";
