import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import type { ShardURLs } from "../shards/shards.ts";
import type { Place } from "./places.ts";

/** Message from a process without an index to the one that holds it. JSON. */
export type ToIndex =
  | { readonly type: "lookup"; readonly id: number; readonly path: string }
  /** Asks for the token issuers of a workspace type. */
  | { readonly type: "issuers"; readonly id: number; readonly of: string };

/** Message from the process that holds the index. A change is sent before any answer that has it. JSON. */
export type FromIndex =
  | { readonly type: "place"; readonly id: number; readonly place: Place }
  | { readonly type: "issuers"; readonly id: number; readonly issuers: Issuers }
  /** Paths with one of these names may lead elsewhere now. */
  | { readonly type: "changed"; readonly names: readonly string[] }
  /** The token issuers of types have changed. */
  | { readonly type: "types" }
  /** All shards, and whether they have been read. All paths may lead elsewhere now. */
  | { readonly type: "shards"; readonly shards: readonly ShardURLs[]; readonly isStarted: boolean };

/** Configurations of the token issuers of a workspace type. */
export type Issuers = readonly (readonly JwtAuthenticator[])[];
