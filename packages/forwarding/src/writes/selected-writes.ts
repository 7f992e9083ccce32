import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type RequestOptions, type Scope } from "@virtual-workspaces/framework";
import type { UpstreamResource } from "../outbound/upstream-resource.ts";
import { readObject } from "../reads/get.ts";
import type { ForwardedWrites } from "./forwarded-writes.ts";
import { APPLY } from "./query.ts";

/**
 * Writes where only some of the other server's objects are to be seen: what is written by its name is looked at before. That
 * there is another of its name, only a create learns, since it cannot have the name.
 */
export function selectedWrites<T extends object>(
  there: UpstreamResource,
  writes: Required<Omit<ForwardedWrites<T>, "applies">>,
): ForwardedWrites<T> {
  const { pass, patch, update, delete: remove } = writes;
  const notFound = ({ name }: ObjectKey): ApiError => ApiError.notFound(groupResourceOf(there.definition), name);
  const find = async (scope: Scope, key: ObjectKey, options: RequestOptions): Promise<Found> => {
    const { user, signal, requestId } = options;
    // Warnings come with the write.
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
