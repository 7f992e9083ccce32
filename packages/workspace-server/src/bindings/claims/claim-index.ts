import type { GroupResource, KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Admit } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import type { APIBinding } from "@virtual-workspaces/kcp";
import { claimMatches, isReview, normalizedGroupResource } from "@virtual-workspaces/kcp/apis";
import { CLAIM_LABEL_PREFIX, claimLabel, reflexiveLabel } from "@virtual-workspaces/kcp/names";
import type { ShardState } from "../../state/shard-state.ts";
import type { Exports } from "../exports/exports.ts";

type Labels = Readonly<Record<string, string>>;
type Claim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];

/** Object whose labels are computed. */
export interface ClaimedObject {
  readonly resource: GroupResource;
  /** Logical cluster and name of the object; the name is "" before one is generated. */
  readonly key: Pick<ObjectKey, "cluster" | "name">;
  readonly labels: Labels | undefined;
  /** The object itself, for a binding that is about to be created. @default the known one */
  readonly binding?: APIBinding;
}

/**
 * Computes the labels by which exports find claimed objects (kcp's permission claim labeler). A binding of the object's
 * logical cluster adds a label if it accepts a claim on the resource, its export exists and the selector matches. The
 * export's own claims do not matter. The cost is proportional to the bindings that accept a claim on the resource.
 * Besides the informers' caches, only writes in progress are kept.
 */
export class ClaimIndex {
  readonly #state: Pick<ShardState, "apiBindings">;
  readonly #exports: Exports;
  /** Writes that are labeled but not yet visible, by logical cluster and resource; at most one for each request. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();

  constructor(state: Pick<ShardState, "apiBindings">, exports: Exports) {
    this.#state = state;
    this.#exports = exports;
  }

  /** Returns all claim labels that an object should have. */
  labelsFor({ resource, key, labels, binding }: ClaimedObject): Map<string, string> {
    const expected = new Map<string, string>();
    if (isReview(resource)) return expected;
    const { group, resource: plural } = normalizedGroupResource(resource);
    for (const binding of this.#state.apiBindings.store.by("claimed", placeOf(key.cluster, resource)))
      this.#label(binding, expected, (claim) => {
        const same = claim.state === "Accepted" && (claim.group ?? "") === group && claim.resource === plural;
        return same && claimMatches(claim.selector, labels);
      });
    if (group === "apis.kcp.io" && plural === "apibindings") this.#reflect(key, expected, binding);
    return expected;
  }

  /** Returns the object's labels with correct claim labels; others are removed. @returns the same value if nothing changes */
  corrected(object: ClaimedObject): Labels | undefined {
    const { labels } = object;
    const expected = this.labelsFor(object);
    const has = Object.entries(labels ?? {}).filter(([name]) => name.startsWith(CLAIM_LABEL_PREFIX));
    if (has.length === expected.size && has.every(([name, value]) => expected.get(name) === value)) return labels;
    const others = Object.entries(labels ?? {}).filter(([name]) => !name.startsWith(CLAIM_LABEL_PREFIX));
    return Object.fromEntries([...others, ...expected]);
  }

  /**
   * Returns the correct labels of an object about to be written; until then, {@link written} waits for the write.
   *
   * @param settled resolves once the object is written or the write has failed
   */
  admitted(object: ClaimedObject, settled: Promise<void>): Labels | undefined {
    const place = placeOf(object.key.cluster, object.resource);
    const underWay = this.#underWay.get(place) ?? new Set();
    this.#underWay.set(place, underWay.add(settled));
    void settled.then(() => {
      underWay.delete(settled);
      if (underWay.size === 0 && this.#underWay.get(place) === underWay) this.#underWay.delete(place);
    });
    return this.corrected(object);
  }

  /** Resolves once all admitted writes are done: they may predate a claim. */
  async written(cluster: string, resource: GroupResource): Promise<void> {
    await Promise.all(this.#underWay.get(placeOf(cluster, resource)) ?? []);
  }

  #label(binding: APIBinding, expected: Map<string, string>, covers: (claim: Claim) => boolean): void {
    const of = this.#exports.whereOf(binding);
    if (of === undefined) return;
    for (const claim of binding.spec.permissionClaims ?? [])
      if (covers(claim)) {
        const { key, value } = claimLabel(of, claim);
        expected.set(key, value);
      }
  }

  /** An export's provider sees all bindings to it, whatever they accept. */
  #reflect({ cluster, name }: ClaimedObject["key"], expected: Map<string, string>, given?: APIBinding): void {
    const binding = given ?? this.#state.apiBindings.store.get({ cluster, namespace: "", name });
    const of = binding && this.#exports.whereOf(binding);
    if (of === undefined) return;
    const { key, value } = reflexiveLabel(of);
    if (!expected.has(key)) expected.set(key, value);
  }
}

function placeOf(cluster: string, resource: GroupResource): string {
  const { group, resource: plural } = normalizedGroupResource(resource);
  return `${cluster} ${plural}.${group}`;
}

/**
 * Sets the labels by which exports find claimed objects, as the last admission before validation of every kind (kcp's
 * `apis.kcp.io/PermissionClaims`). Changes that a client makes to these labels are silently undone. Subresources do not
 * change labels.
 */
export function admitClaims(claims: ClaimIndex): Admit {
  return ({ definition, object, params, settled, subresource }) => {
    if (object === undefined || subresource !== "") return undefined;
    const { labels, name = "" } = object.metadata;
    const resource = groupResourceOf(definition);
    const corrected = claims.admitted({ resource, key: { cluster: params["cluster"] ?? "", name }, labels }, settled);
    return corrected === labels ? undefined : withLabels(object, corrected);
  };
}

/** Returns an object with these labels; the field is removed if there are none. */
export function withLabels<T extends KubeObject>(object: T, labels: Readonly<Record<string, string>> | undefined): T {
  const { labels: _before, ...metadata } = object.metadata;
  if (labels === undefined || Object.keys(labels).length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, labels: { ...labels } } };
}
