// Shard selectors, and the hash by which they select.
import type { KubeObject } from "@virtual-workspaces/apimachinery";

const UID = "object.metadata.uid";

/** Selectors of the lower and the upper half of all hashes. */
export const HALVES: readonly [string, string] = [
  `shardRange(${UID}, '0x0000000000000000', '0x8000000000000000')`,
  `shardRange(${UID}, '0x8000000000000000', '0x10000000000000000')`,
];

/** Returns the query of a selector. */
export const shard = (selector: string): string => `shardSelector=${encodeURIComponent(selector)}`;

/** Returns FNV-1a with 64 bits, by its definition. */
export function hash64(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value;
}

/** Returns the selector of the only hash of a namespace. */
export function ofNamespace(namespace: string): string {
  const [start, end] = [0n, 1n].map((more) => (hash64(namespace) + more).toString(16).padStart(16, "0"));
  return `shardRange(object.metadata.namespace, '0x${start}', '0x${end}')`;
}

/** Returns the half that has an object: 0 or 1. */
export function halfOf({ metadata: { uid = "" } }: Pick<KubeObject, "metadata">): 0 | 1 {
  return hash64(uid) < 2n ** 63n ? 0 : 1;
}

/** Returns names of the objects in a half, sorted. */
export function namesIn(objects: Iterable<Pick<KubeObject, "metadata">>, half: 0 | 1): string[] {
  return [...objects]
    .filter((object) => halfOf(object) === half)
    .map(({ metadata }) => metadata.name ?? "")
    .sort();
}
