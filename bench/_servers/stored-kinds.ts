// What both sides of the store's bench know: kinds, and where they are.
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
