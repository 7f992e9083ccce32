import type { ShardContext, ShardPart } from "./context.ts";

/** The controllers of a shard: the one list of them. */
export function parts(_context: ShardContext): readonly ShardPart[] {
  return [];
}
