// Why: no client looks at the remains of a crash. This reads a whole store without a server, and reports objects that belong
// to nothing or are unfinished.
import { createHash } from "node:crypto";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Store } from "@virtual-workspaces/store";
import { parseStoredKey } from "../../../../packages/store/src/registry/keys.ts";
import { bodyOf } from "../../../../packages/store/src/registry/record.ts";
import type { Body } from "./admin.ts";

interface Kept {
  readonly space: string;
  readonly key: ObjectKey;
  /** Name of the shard, shown where several have similar objects; "" for the first. */
  readonly shard: string;
  readonly object: Body;
}

const CLAIMED = "claimed.internal.apis.kcp.io/";
const LOCKS = "internal.apis.kcp.io/resource-bindings";

/** Reads all objects of the shards. @returns lines that name an object and its fault */
export async function problemsOf(...shards: readonly Store[]): Promise<string[]> {
  const content = new Content((await Promise.all(shards.map(readAll))).flat());
  return content.all.flatMap((kept) => {
    const { cluster, namespace, name } = kept.key;
    const where = `${kept.space} ${[cluster, namespace, name].filter((part) => part !== "").join("/")}`;
    return [...content.faultsOf(kept)].map((fault) => `${where}: ${fault}`);
  });
}

async function readAll(store: Store, shard: number): Promise<Kept[]> {
  const { entries } = await store.range({ from: " ", to: "~" });
  return entries.flatMap(({ key: text, value }) => {
    const place = parseStoredKey(text);
    const body = bodyOf(value);
    if (place === undefined || body === undefined) return [];
    // Every shard has the logical clusters of the system.
    const suffix = shard > 0 ? `~${shard}` : "";
    const { cluster } = place.key;
    const key = { ...place.key, cluster: cluster.startsWith("system:") ? cluster + suffix : cluster };
    return [{ space: place.space, key, shard: suffix, object: JSON.parse(body.toString()) }];
  });
}

class Content {
  readonly all: readonly Kept[];
  readonly #byKey = new Map<string, Kept>();
  readonly #uids = new Map<string, Kept>();
  readonly #twice = new Set<Kept>();

  constructor(all: readonly Kept[]) {
    this.all = all;
    for (const kept of all) {
      if (this.#byKey.has(textOf(kept.space, kept.key))) this.#twice.add(kept);
      this.#byKey.set(textOf(kept.space, kept.key), kept);
      this.#uids.set(`${kept.key.cluster} ${kept.object.metadata.uid}`, kept);
    }
  }

  *faultsOf(kept: Kept): Generator<string> {
    const { space, key, object } = kept;
    const { cluster, namespace } = key;
    if (this.#twice.has(kept)) yield "another shard has it too";
    const isSystem = cluster.startsWith("system:");
    if (!isSystem && this.#find("core.kcp.io/logicalclusters", cluster, "cluster") === undefined)
      yield "its logical cluster is not there";
    if (namespace !== "" && this.#find("/namespaces", cluster, namespace) === undefined)
      yield "its namespace is not there";
    if (object.metadata.deletionTimestamp !== undefined) yield "it is still being deleted";
    for (const { uid, kind, name } of object.metadata.ownerReferences ?? [])
      if (!this.#uids.has(`${cluster} ${uid}`)) yield `its owner ${kind} ${name} is gone`;
    const [, how, uid] = /^@kind-[0-9a-f]{32}-(crd|bound)-(.*)$/.exec(space) ?? [];
    if (how === "crd" && !this.#uids.has(`${cluster} ${uid}`)) yield "its definition is gone";
    if (how === "bound" && !this.#boundIn(cluster).has(space)) yield "nothing binds it here";
    yield* this.#faultsOfLabels(kept);
    yield* this.#faultsOfKind(kept);
  }

  *#faultsOfKind({ space, key: { cluster }, shard, object }: Kept): Generator<string> {
    const { status = {}, spec = {}, metadata } = object;
    switch (space) {
      case "tenancy.kcp.io/workspaces": {
        if (status.phase !== "Ready") yield `it is ${status.phase}`;
        const lc = this.#find("core.kcp.io/logicalclusters", spec.cluster ?? "", "cluster");
        if (lc?.object.spec.owner?.uid !== metadata.uid) yield "its logical cluster is not its own";
        break;
      }
      case "core.kcp.io/logicalclusters":
        yield* this.#faultsOfCluster(cluster, object);
        break;
      case "/namespaces":
        if (status.phase !== "Active") yield `it is ${status.phase}`;
        break;
      case "apis.kcp.io/apibindings":
        if (status.phase !== "Bound") yield `it is ${status.phase}`;
        for (const { schema } of status.boundResources ?? [])
          if (
            this.#find("apiextensions.k8s.io/customresourcedefinitions", `system:bound-crds${shard}`, schema.UID) ===
            undefined
          )
            yield `its definition ${schema.UID} is not there`;
        break;
      case "apis.kcp.io/apiexports": {
        const { namespace = "", name = "" } = spec.identity?.secretRef ?? {};
        const secret = this.#byKey.get(textOf("/secrets", { cluster, namespace, name }));
        const identity = Buffer.from(secret?.object.data?.key ?? "", "base64");
        if (identity.length === 0 || sha256(identity) !== status.identityHash)
          yield "its identity is not in its secret";
        break;
      }
      case "apiextensions.k8s.io/customresourcedefinitions": {
        const conditions: readonly Body[] = status.conditions ?? [];
        if (!conditions.some(({ type, status: is }) => type === "Established" && is === "True"))
          yield "it is not established";
      }
    }
  }

  *#faultsOfCluster(cluster: string, { spec, status, metadata }: Body): Generator<string> {
    if (status?.phase !== "Ready") yield `it is ${status?.phase}`;
    if (spec.owner !== undefined) {
      const owner = this.#find("tenancy.kcp.io/workspaces", spec.owner.cluster, spec.owner.name)?.object;
      if (owner?.metadata.uid !== spec.owner.uid || owner?.spec.cluster !== cluster) yield "its workspace is gone";
    } else if (cluster !== "root") yield "it is nobody's";
    const locks: Record<string, { n?: string; c?: boolean }> = JSON.parse(metadata.annotations?.[LOCKS] ?? "{}");
    for (const [resource, { n, c }] of Object.entries(locks)) {
      if (n !== undefined && this.#find("apis.kcp.io/apibindings", cluster, n) === undefined)
        yield `${resource} is locked for the binding ${n}, which is gone`;
      const crds = "apiextensions.k8s.io/customresourcedefinitions";
      if (c === true && this.#find(crds, cluster, resource) === undefined)
        yield `${resource} is locked for a definition that is gone`;
    }
  }

  /** ConfigMaps have a label for each binding that accepts the claim on them. */
  *#faultsOfLabels({ space, key: { cluster }, object }: Kept): Generator<string> {
    const labels = Object.keys(object.metadata.labels ?? {}).filter((name) => name.startsWith(CLAIMED));
    const claims = this.#in("apis.kcp.io/apibindings", cluster).filter(({ object }) =>
      object.spec.permissionClaims?.some(
        (claim: Body) => claim.resource === "configmaps" && claim.state === "Accepted",
      ),
    ).length;
    if (space === "/configmaps" && labels.length !== claims)
      yield `${labels.length} labels of claims, and ${claims} bindings that claim it`;
    // A binding has an additional label of its own export.
    const own = space === "apis.kcp.io/apibindings" ? 1 : 0;
    if (claims === 0 && labels.length > own) yield `labels of claims that are gone: ${labels}`;
  }

  /** Returns the key spaces of the resources that a logical cluster binds. */
  #boundIn(cluster: string): Set<string> {
    const resources = this.#in("apis.kcp.io/apibindings", cluster).flatMap(
      ({ object }) => object.status?.boundResources ?? [],
    );
    return new Set(
      resources.map(
        ({ group, resource, schema }) =>
          `@kind-${sha256(JSON.stringify([group, resource])).slice(0, 32)}-bound-${sha256(schema.identityHash)}`,
      ),
    );
  }

  #in(space: string, cluster: string): Kept[] {
    return this.all.filter((kept) => kept.space === space && kept.key.cluster === cluster);
  }

  #find(space: string, cluster: string, name: string): Kept | undefined {
    return this.#byKey.get(textOf(space, { cluster, namespace: "", name }));
  }
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function textOf(space: string, { cluster, namespace, name }: ObjectKey): string {
  return `${space} ${cluster}/${namespace}/${name}`;
}
