import type { Admit, Resource } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIExport,
  APIResourceSchema,
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

/** An APIExport in `root` that kinds of kcp's own come by. */
export interface SystemExport {
  readonly name: string;
  /** Whether who binds it may do at most what roles in `root` say (its `maximalPermissionPolicy`). */
  readonly policy: boolean;
  readonly kinds: readonly Resource[];
}

const kinds = (...list: readonly unknown[]): readonly Resource[] => list as readonly Resource[];

/** All of them, as kcp ships them. */
const systemExports: readonly SystemExport[] = [
  {
    name: "tenancy.kcp.io",
    policy: true,
    kinds: kinds(WorkspaceAuthenticationConfiguration, Workspace, WorkspaceType),
  },
  { name: "topology.kcp.io", policy: false, kinds: kinds(Partition, PartitionSet) },
  { name: "shards.core.kcp.io", policy: false, kinds: kinds(Shard) },
];

const IN_ROOT = { [PATH_ANNOTATION]: ROOT_CLUSTER };

/**
 * Ships the exports of kcp's own kinds in `root`, and the bindings by which `root` itself has them. Their identities are made
 * here, the first time, and stay: objects are found by them.
 *
 * @returns the hashes of their identities, by name
 * @throws Error when the secret of an identity is broken; ApiError 503 of the store
 */
export async function shipExports(context: ShardContext): Promise<ReadonlyMap<string, string>> {
  const identities = new Map<string, string>();
  for (const each of systemExports) identities.set(each.name, await shipExport(context, each));
  for (const { name } of systemExports)
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

/** The one that it has, whatever became of its secret; else that of the secret, which is made if there is none. */
async function identityOf({ objects, log }: ShardContext, name: string) {
  const identities = new Identities({
    secrets: objects.of(Secret) as unknown as Writable<SecretContent>,
    namespaces: objects.of(Namespace) as unknown as Writable<object>,
    onNamespace: (error) => log({ level: "warn", message: `namespace of identities: ${String(error)}` }),
  });
  const key = placeOf(ROOT_CLUSTER, name);
  const there = await read(objects.of(APIExport), key);
  const secretRef: NonNullable<Identity["secretRef"]> =
    there?.spec?.identity?.secretRef ?? (await identities.secretFor(key));
  const identityHash = there?.status?.identityHash ?? (await identities.hashOf(secretRef, ROOT_CLUSTER));
  if (typeof identityHash !== "string")
    throw new Error(`the identity of the APIExport ${name} in ${ROOT_CLUSTER}: ${identityHash.message}`);
  return { secretRef, identityHash };
}

/**
 * Resolves when `root`, which must be on the shard, has been bound what it is to have: who asks for workspaces then is not told that
 * there is no such thing. A binding that somebody has spoilt keeps nobody from starting.
 *
 * @throws what the signal is aborted with
 */
export async function rootBound({ apiBindings }: Pick<ShardState, "apiBindings">, signal: AbortSignal): Promise<void> {
  const isDone = (): boolean =>
    systemExports.every(({ name }) => isSettled(apiBindings.store.get(placeOf(ROOT_CLUSTER, name))));
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => (isDone() ? resolve() : undefined);
  using _following = apiBindings.on({ added: check, updated: check, deleted: check });
  check();
  await untilAborted(promise, signal);
}

/** Bound, or in a state that only somebody else can get it out of. */
function isSettled(binding: APIBinding | undefined): boolean {
  if (binding === undefined) return false;
  const { metadata, status } = binding;
  return (
    status?.phase === "Bound" ||
    metadata.deletionTimestamp !== undefined ||
    isConditionFalse(status?.conditions, UP_TO_DATE)
  );
}

/** What serving kcp's own kinds needs. */
interface SystemKindsOptions {
  readonly objects: ShardObjects;
  /** The hashes of the exports in `root`, by name, as soon as they are known. */
  readonly identities: () => ReadonlyMap<string, string>;
  /** The rules about each kind, by plural, asked before those about all that is bound. */
  readonly admit: (plural: string) => Admit;
}

interface Known {
  readonly kind: Resource;
  readonly exported: string;
}

/**
 * kcp's own kinds where they are bound: the very objects that the server is run by, under its own schemas and rules. Only an
 * export with the identity of that in `root` leads to them; what others export under the same names is theirs.
 */
export function systemKinds({ objects, identities, admit }: SystemKindsOptions): FindOwnKind {
  const known = new Map<string, Known>();
  for (const { name, kinds } of systemExports)
    for (const kind of kinds) known.set(`${kind.plural}.${kind.group}`, { kind, exported: name });
  return ({ group, resource, identity }) => {
    const found = known.get(`${resource}.${group}`);
    if (found === undefined || identities().get(found.exported) !== identity) return undefined;
    return { kind: found.kind, objects: objects.of(found.kind), admit: admit(resource) };
  };
}
