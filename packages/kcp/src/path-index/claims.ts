import type { Claim, ClusterNode, ShardNode } from "./node.ts";

/**
 * Which shards say that they have a logical cluster, and what they say of it. The one that counts, the first by name, is
 * spread out in the node itself: so every index that knows the same says the same, in whatever order it came to know.
 */
export class Claims {
  readonly #others = new Map<ClusterNode, Claim[]>();

  /** The shard must not have a claim yet. */
  add(node: ClusterNode, claim: Claim): void {
    claim.shard.clusters++;
    const counts = claimOf(node);
    if (counts === undefined) {
      spread(node, claim);
      return;
    }
    const [first, other] = isBefore(claim, counts) ? [claim, counts] : [counts, claim];
    spread(node, first);
    const others = this.#others.get(node);
    if (others === undefined) this.#others.set(node, [other]);
    else others.push(other);
  }

  /** The claim that the shard has no more; undefined if it had none. */
  remove(node: ClusterNode, shard: ShardNode): Claim | undefined {
    if (node.shard === undefined) return undefined;
    const others = this.#others.get(node) ?? [];
    const counts = node.shard === shard;
    const claim = counts ? claimOf(node) : others.find((other) => other.shard === shard);
    if (claim === undefined) return undefined;
    claim.shard.clusters--;
    const next = counts
      ? others.reduce<Claim | undefined>((a, b) => (a !== undefined && isBefore(a, b) ? a : b), undefined)
      : undefined;
    if (counts) spread(node, next);
    const rest = others.filter((other) => other !== claim && other !== next);
    if (rest.length > 0) this.#others.set(node, rest);
    else if (others.length > 0) this.#others.delete(node);
    return claim;
  }
}

const isBefore = (a: Claim, b: Claim): boolean => a.shard.name < b.shard.name;

function claimOf({ shard, type, prefix, base }: ClusterNode): Claim | undefined {
  return shard === undefined ? undefined : { shard, type, prefix, base };
}

function spread(node: ClusterNode, claim: Claim | undefined): void {
  node.shard = claim?.shard;
  node.type = claim?.type;
  node.prefix = claim?.prefix;
  node.base = claim?.base;
}
