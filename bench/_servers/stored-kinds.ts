// What both sides of the store's benches know: kinds, and where they are.
export const KINDS = ["Note", "Widget", "Tick", "Small"] as const;
/** `Note`: created; `Widget`: read and listed; `Tick`: changed, and replayed; `Small`: lots of them. */
export type StoredKind = (typeof KINDS)[number];

export const GROUP = "bench.example";

function pluralOf(kind: StoredKind): string {
  return `${kind.toLowerCase()}s`;
}

export function pathOf(kind: StoredKind, name = ""): string {
  return `/services/bench/apis/${GROUP}/v1/${pluralOf(kind)}${name && `/${name}`}`;
}

/** Six digits, so that all are of one length. */
export function nameOf(at: number): string {
  return `w${String(at).padStart(6, "0")}`;
}

/** Where the registry keeps it. */
export function keyOf(kind: StoredKind, name: string): string {
  return `${GROUP}/${pluralOf(kind)}///${name}`;
}

/** Objects that take turns in changing. */
export const TURNS = 1000;

/** Where lmdb keeps things. */
export interface Folder {
  readonly dir: string;
}

/** Where etcd does: what keys begin with, a slash after it. */
export interface InEtcd {
  readonly endpoint: string;
  readonly prefix: string;
}

export type StorePlace = Folder | InEtcd;
