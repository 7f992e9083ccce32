import type { KeyPair } from "@virtual-workspaces/framework/tls";

/** What the first process tells a worker. */
export type ToWorker =
  /** Set up what the flags say, and do not serve clients yet. */
  | { readonly type: "serve"; readonly args: readonly string[]; readonly trust: GroupTrust }
  /** Who answers for what, from now on. */
  | { readonly type: "members"; readonly members: readonly MemberPlace[] }
  /** Comes with a connection. */
  | { readonly type: "connection" }
  /** No more connections come: end watches cleanly, finish what is under way, and exit. Within `patience`, ms. */
  | { readonly type: "finish"; readonly patience: number };

/** What a worker tells the first process. */
export type FromWorker =
  | ({ readonly type: "serving" } & Serving)
  /** What was told of members counts. */
  | { readonly type: "members" }
  /** A connection has arrived, in the order in which they were sent. */
  | { readonly type: "taken" }
  | { readonly type: "failed"; readonly problem: string };

/** A worker that is set up. */
export interface Serving {
  /** Whose versions are its own. */
  readonly minter: number;
  /** Where other workers reach it, on this machine alone. */
  readonly port: number;
  /** Paths of views. */
  readonly views: readonly string[];
}

/** By what workers of one start know one another: made at the start, kept in memory, told to nobody else. */
export interface GroupTrust {
  readonly ca: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** One of all processes that serve the same views. */
export interface MemberPlace {
  readonly name: string;
  readonly minter: number;
  /** A worker's port, or the URL of the replica that it is of. */
  readonly at: number | string;
}
