import { GarbageCollector } from "../garbage/collector.ts";
import { NamespaceContents } from "../namespaces/defaults.ts";
import { NamespaceDeletion } from "../namespaces/deletion.ts";
import type { ShardContext, ShardPart } from "./context.ts";

/** The controllers of a shard: the one list of them. */
export function parts(context: ShardContext): readonly ShardPart[] {
  return [new NamespaceContents(context), new NamespaceDeletion(context), new GarbageCollector(context)];
}
