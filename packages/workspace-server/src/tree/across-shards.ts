import { type Log, type Merged, merged, type TypedDefinition } from "@virtual-workspaces/framework";
import type { Installation } from "../shard/installation.ts";

/**
 * The objects of a kind as all shards of the process have them: one collection, with versions of its own, for whoever may
 * see all of them. A shard that cannot be read is named in a warning, and one that ends is no deletion: its objects stay as
 * they were last seen, until there is one of its name again.
 */
export function acrossShards<T extends object>(
  installation: Installation,
  resource: TypedDefinition<T>,
  log: Log,
): { readonly objects: Merged<T> } & Disposable {
  const objects = merged<T>({
    sources: {},
    resource,
    shareKey: () => "",
    onError: (error, shard) =>
      log({ level: "error", message: "shard cannot be read", shard, resource: resource.plural, error: String(error) }),
  });
  const following = installation.eachShard((shard) => {
    objects.setSource(shard.name, shard.objects.of(resource));
    return { [Symbol.dispose]: () => undefined };
  });
  return { objects, [Symbol.dispose]: () => following[Symbol.dispose]() };
}
