import type { StoreEvent } from "../store.ts";
import type { Event } from "./generated/rpc.ts";
import type { Keys } from "./keys.ts";

const DELETE = 1;
/** What an event takes beside its bytes, roughly. */
const OVERHEAD = 512;

/** What a watch tells of an event of etcd. */
export function toStoreEvent({ type, kv, prevKv }: Event, keys: Keys): StoreEvent {
  return {
    key: keys.decode(kv?.key ?? keys.none),
    entry: type === DELETE || kv === undefined ? undefined : keys.entry(kv),
    previous: prevKv && keys.entry(prevKv),
  };
}

/** Whether something stood there before that etcd does not tell: it leaves out silently what was compacted meanwhile. */
export function lacksPrevious({ type, kv, prevKv }: Event): boolean {
  return prevKv === undefined && kv !== undefined && (type === DELETE || kv.createRevision < kv.modRevision);
}

/** The memory that an event takes, bytes. */
export function sizeOf({ kv, prevKv }: Event): number {
  return (kv?.key.length ?? 0) + (kv?.value.length ?? 0) + (prevKv?.value.length ?? 0) + OVERHEAD;
}
