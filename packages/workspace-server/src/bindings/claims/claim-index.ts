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

/** Which object is asked about. */
export interface ClaimedObject {
  readonly resource: GroupResource;
  /** Its logical cluster and name; the name is "" for one that has none yet. */
  readonly key: Pick<ObjectKey, "cluster" | "name">;
  readonly labels: Labels | undefined;
}

/**
 * By which labels the exports that claim an object find it (kcp's permission claim labeler): of each binding of its logical
 * cluster with an accepted claim on its resource, whose export is there and whose selector means it. What the export itself
 * claims is not asked. It costs as much as there are bindings that accept a claim on the resource; nothing is kept but what
 * the shard follows anyway, and the writes that are under way.
 */
export class ClaimIndex {
  readonly #state: Pick<ShardState, "apiBindings">;
  readonly #exports: Exports;
  /** Writes that have their labels and are not yet to be seen, by logical cluster and resource: as many as requests. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();

  constructor(state: Pick<ShardState, "apiBindings">, exports: Exports) {
    this.#state = state;
    this.#exports = exports;
  }

  /** The labels that an object is to have, and no others of the kind. */
  labelsFor({ resource, key, labels }: ClaimedObject): Map<string, string> {
    const expected = new Map<string, string>();
    if (isReview(resource)) return expected;
    const { group, resource: plural } = normalizedGroupResource(resource);
    for (const binding of this.#state.apiBindings.store.by("claimed", placeOf(key.cluster, resource)))
      this.#label(binding, expected, (claim) => {
        const same = claim.state === "Accepted" && (claim.group ?? "") === group && claim.resource === plural;
        return same && claimMatches(claim.selector, labels);
      });
    if (group === "apis.kcp.io" && plural === "apibindings") this.#reflect(key, expected);
    return expected;
  }

  /** The labels of an object as they are to be: what is not backed by a claim is gone. @returns the same if nothing changes */
  corrected(object: ClaimedObject): Labels | undefined {
    const { labels } = object;
    const expected = this.labelsFor(object);
    const has = Object.entries(labels ?? {}).filter(([name]) => name.startsWith(CLAIM_LABEL_PREFIX));
    if (has.length === expected.size && has.every(([name, value]) => expected.get(name) === value)) return labels;
    const others = Object.entries(labels ?? {}).filter(([name]) => !name.startsWith(CLAIM_LABEL_PREFIX));
    return Object.fromEntries([...others, ...expected]);
  }

  /**
   * The same of an object that is about to be written, which counts as under way until then: {@link written} waits for it.
   *
   * @param settled resolves once it is written, or will not be
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

  /** Resolves once what was admitted before is written: it may have been before a claim was known. */
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

  /** The provider of an export sees the bindings to it, whatever they accept. */
  #reflect({ cluster, name }: ClaimedObject["key"], expected: Map<string, string>): void {
    const binding = this.#state.apiBindings.store.get({ cluster, namespace: "", name });
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
 * Admission of objects of every kind, the last to be asked before validation (kcp's `apis.kcp.io/PermissionClaims`): the
 * labels by which exports find what they claim are the server's. One that a client sets, changes or takes away is put
 * right without a word. Subresources leave labels alone.
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

/** An object with these labels: none if there are none. */
export function withLabels<T extends KubeObject>(object: T, labels: Readonly<Record<string, string>> | undefined): T {
  const { labels: _before, ...metadata } = object.metadata;
  if (labels === undefined || Object.keys(labels).length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, labels: { ...labels } } };
}
