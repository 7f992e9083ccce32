import {
  API_BINDING_FINALIZER,
  APIBinding,
  APIExport,
  APIResourceSchema,
  BINDING_EXPORT_LABEL,
  exportHash,
  PATH_ANNOTATION,
  ROOT_CLUSTER,
  schemaManifest,
} from "@virtual-workspaces/kcp";
import { Identities, type SecretContent } from "../bindings/exports/identity.ts";
import { placeOf, put } from "./put.ts";
import { Namespace } from "../kinds/namespace.ts";
import { Secret } from "../kinds/secret.ts";
import type { ShardContext } from "../state/context.ts";
import { read, type Written } from "../state/modify.ts";
import { type SystemExport, systemExports } from "./system-exports.ts";

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
    secrets: objects.of(Secret) as unknown as Written<SecretContent>,
    namespaces: objects.of(Namespace) as unknown as Written<object>,
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
