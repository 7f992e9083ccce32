import type { Admit, Resource } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIExport,
  APIResourceSchema,
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  LogicalClusterDump,
  LogicalClusterMigration,
  Partition,
  PartitionSet,
  ROOT_CLUSTER,
  Shard,
  schemaManifest,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { isConditionFalse } from "@virtual-workspaces/kcp/conditions";
import {
  API_BINDING_FINALIZER,
  BINDING_EXPORT_LABEL,
  exportHash,
  PATH_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { untilAborted } from "@virtual-workspaces/transport";
import { UP_TO_DATE } from "../bindings/binding/draft.ts";
import { Identities, type SecretContent } from "../bindings/exports/identity.ts";
import type { FindOwnKind } from "../bindings/served/own-kind.ts";
import { Namespace } from "../kinds/namespace.ts";
import { Secret } from "../kinds/secret.ts";
import type { ShardContext } from "../state/context.ts";
import { read, type Writable } from "../state/modify.ts";
import type { ShardObjects } from "../state/objects.ts";
import type { ShardState } from "../state/shard-state.ts";
import { placeOf, put } from "./root-objects.ts";

/** APIExport in `root` with kinds of kcp's own. */
export interface SystemExport {
  readonly name: string;
  /** Whether roles in `root` limit what users of a binding may do (its `maximalPermissionPolicy`). */
  readonly policy: boolean;
  readonly kinds: readonly Resource[];
  /**
   * Whether the server implements the kinds. Others are there because kcp's programs look for their identities: users who may
   * bind them get ordinary custom resources, as in a kcp whose feature gates are off.
   */
  readonly own: boolean;
  /** Option without which `root` does not bind the kinds. @default `root` binds its own kinds */
  readonly gate?: "cachedResources";
}

const kinds = (...list: readonly unknown[]): readonly Resource[] => list as readonly Resource[];

/** All exports of kcp's own kinds, as in kcp: those of `cache.kcp.io` and `migration.kcp.io` are there whatever its gates. */
const systemExports: readonly SystemExport[] = [
  {
    name: "tenancy.kcp.io",
    policy: true,
    own: true,
    kinds: kinds(WorkspaceAuthenticationConfiguration, Workspace, WorkspaceType),
  },
  { name: "topology.kcp.io", policy: false, own: true, kinds: kinds(Partition, PartitionSet) },
  { name: "shards.core.kcp.io", policy: false, own: true, kinds: kinds(Shard) },
  {
    name: "cache.kcp.io",
    policy: false,
    own: true,
    gate: "cachedResources",
    kinds: kinds(ClusterCachedResourceEndpointSlice, ClusterCachedResource),
  },
  {
    name: "migration.kcp.io",
    policy: false,
    own: false,
    kinds: kinds(LogicalClusterDump, LogicalClusterMigration),
  },
];

/** Options that decide which exports `root` binds. */
export interface SystemApiOptions {
  readonly cachedResources: boolean;
}

function boundExports(options: SystemApiOptions): readonly SystemExport[] {
  return systemExports.filter(({ own, gate }) => own && (gate === undefined || options[gate]));
}

const IN_ROOT = { [PATH_ANNOTATION]: ROOT_CLUSTER };

/**
 * Creates the exports of kcp's own kinds in `root`, and the bindings of `root` itself to them. The identities are
 * generated the first time and never change, since objects are stored under them.
 *
 * @returns the identity hashes, by export name
 * @throws Error when the secret of an identity is invalid; ApiError 503 of the store
 */
export async function shipExports(
  context: ShardContext,
  options: SystemApiOptions,
): Promise<ReadonlyMap<string, string>> {
  const identities = new Map<string, string>();
  for (const each of systemExports) identities.set(each.name, await shipExport(context, each));
  for (const { name } of boundExports(options))
    await put(context, APIBinding, {
      key: placeOf(ROOT_CLUSTER, name),
      content: {
        metadata: {
          annotations: IN_ROOT,
          labels: { [BINDING_EXPORT_LABEL]: exportHash({ cluster: ROOT_CLUSTER, name }) },
          finalizers: [API_BINDING_FINALIZER],
        },
        spec: { reference: { export: { path: ROOT_CLUSTER, name } } },
      },
    });
  return identities;
}

async function shipExport(context: ShardContext, { name, policy, kinds }: SystemExport): Promise<string> {
  const resources = [];
  for (const kind of kinds) {
    const { metadata, spec } = schemaManifest(kind);
    const { name: schema = "" } = metadata;
    await put(context, APIResourceSchema, { key: placeOf(ROOT_CLUSTER, schema), content: { ...(spec && { spec }) } });
    resources.push({ group: kind.group, name: kind.plural, schema, storage: { crd: {} } });
  }
  const { secretRef, identityHash } = await identityOf(context, name);
  await put(context, APIExport, {
    key: placeOf(ROOT_CLUSTER, name),
    content: {
      metadata: { annotations: IN_ROOT },
      spec: {
        resources,
        identity: { secretRef },
        ...(policy && { maximalPermissionPolicy: { local: {} } }),
      },
      status: { identityHash },
    },
  });
  return identityHash;
}

type Identity = NonNullable<NonNullable<APIExport["spec"]>["identity"]>;

/** Returns the export's current identity, or else that of its secret, which is created if missing. */
async function identityOf({ objects, log }: ShardContext, name: string) {
  const identities = new Identities({
    secrets: objects.of(Secret) as unknown as Writable<SecretContent>,
    namespaces: objects.of(Namespace) as unknown as Writable<object>,
    onNamespace: (error) =>
      log({ level: "warn", message: `cannot create the namespace of identity secrets: ${String(error)}` }),
  });
  const key = placeOf(ROOT_CLUSTER, name);
  const there = await read(objects.of(APIExport), key);
  const secretRef: NonNullable<Identity["secretRef"]> =
    there?.spec?.identity?.secretRef ?? (await identities.secretFor(key));
  const identityHash = there?.status?.identityHash ?? (await identities.hashOf(secretRef, ROOT_CLUSTER));
  if (typeof identityHash !== "string")
    throw new Error(`invalid identity of the APIExport ${name} in ${ROOT_CLUSTER}: ${identityHash.message}`);
  return { secretRef, identityHash };
}

/**
 * Resolves when the bindings of `root`, which must be on the shard, are bound. Requests for workspaces before that
 * would get 404. A binding that a user has broken does not delay the start.
 *
 * @throws the reason of the signal
 */
export async function rootBound(
  { apiBindings }: Pick<ShardState, "apiBindings">,
  options: SystemApiOptions,
  signal: AbortSignal,
): Promise<void> {
  const isDone = (): boolean =>
    boundExports(options).every(({ name }) => isSettled(apiBindings.store.get(placeOf(ROOT_CLUSTER, name))));
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => (isDone() ? resolve() : undefined);
  using _following = apiBindings.on({ added: check, updated: check, deleted: check });
  check();
  await untilAborted(promise, signal);
}

/** Reports whether a binding is bound, or cannot progress without a user. */
function isSettled(binding: APIBinding | undefined): boolean {
  if (binding === undefined) return false;
  const { metadata, status } = binding;
  return (
    status?.phase === "Bound" ||
    metadata.deletionTimestamp !== undefined ||
    isConditionFalse(status?.conditions, UP_TO_DATE)
  );
}

/** Options of {@link systemKinds}. */
interface SystemKindsOptions {
  readonly objects: ShardObjects;
  /** Returns the identity hashes of the exports in `root` by name, once they are known. */
  readonly identities: () => ReadonlyMap<string, string>;
  /** Returns the admission of a kind by plural; it is called before that of all bound kinds. */
  readonly admit: (plural: string) => Admit;
}

interface Known {
  readonly kind: Resource;
  readonly exported: string;
}

/**
 * Returns kcp's own kinds for bindings: the objects that the server itself uses, with its own schemas and rules.
 * Security: only the identity of the export in `root` gives access to them. Exports of others with the same names have
 * their own objects.
 */
export function systemKinds({ objects, identities, admit }: SystemKindsOptions): FindOwnKind {
  const known = new Map<string, Known>();
  for (const { name, kinds } of systemExports.filter(({ own }) => own))
    for (const kind of kinds) known.set(`${kind.plural}.${kind.group}`, { kind, exported: name });
  return ({ group, resource, identity }) => {
    const found = known.get(`${resource}.${group}`);
    if (found === undefined || identities().get(found.exported) !== identity) return undefined;
    return { kind: found.kind, objects: objects.of(found.kind), admit: admit(resource) };
  };
}
