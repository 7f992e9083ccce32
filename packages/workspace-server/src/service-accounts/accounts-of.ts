import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type Awaitable, decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { Secret } from "../kinds/secret.ts";
import { ServiceAccount } from "../kinds/service-account.ts";
import { scopeOf } from "../state/informers/key-index.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { notRunning } from "../state/unavailable.ts";
import type { AccountLookup } from "../tokens/liveness.ts";

/** Service accounts and their Secrets, on whichever shard they are, as the store has them now; 503 while that does not run. */
export function accountsOf(registry: ShardRegistry): AccountLookup {
  const read = <T extends object>(kind: TypedDefinition<T>, key: ObjectKey): Awaitable<KubeObject | undefined> => {
    const loading = registry.load(key.cluster);
    return loading === undefined ? readNow(kind, key) : loading.then(() => readNow(kind, key));
  };
  const readNow = <T extends object>(kind: TypedDefinition<T>, key: ObjectKey): Awaitable<KubeObject | undefined> => {
    const shard = registry.shardWith(key.cluster);
    if (shard === undefined && registry.isUnknown(key.cluster)) throw notRunning();
    const found = shard?.objects.of(kind).get(scopeOf(key), key);
    return found instanceof Promise ? found.then(decoded) : decoded(found);
  };
  return {
    serviceAccount: (cluster, namespace, name) => read(ServiceAccount, { cluster, namespace, name }),
    secret: (cluster, namespace, name) => read(Secret, { cluster, namespace, name }),
  };
}

function decoded(object: Encoded | undefined): KubeObject | undefined {
  return object && decodeObject(object);
}
