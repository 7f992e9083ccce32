import { base36 } from "./digits.ts";
import { sha224 } from "./sha.ts";

const LENGTH = 8;

/** The value of the annotation `internal.tenancy.kcp.io/shard` of workspaces on this shard. */
export const shardHash = (shard: string): string => base36(sha224(shard)).slice(0, LENGTH);
