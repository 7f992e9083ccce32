import type { KeyPair } from "@virtual-workspaces/framework/tls";
import type { FromCrewWorker, ToCrewWorker } from "../../process/crew.ts";

/** Message from the primary process to a worker. */
export type ToWorker =
  /** Set up the server of the flags without serving clients yet. */
  | { readonly type: "serve"; readonly args: readonly string[]; readonly trust: GroupTrust }
  /** The members of the group from now on. */
  | { readonly type: "members"; readonly members: readonly MemberPlace[] }
  | ToCrewWorker;

/** Message from a worker to the primary process. */
export type FromWorker =
  | FromCrewWorker<Serving>
  /** The latest members are in effect. */
  | { readonly type: "members" };

/** A worker that is set up. */
export interface Serving {
  /** Minter of its resource versions. */
  readonly minter: number;
  /** Port for other workers, on this machine alone. */
  readonly port: number;
  /** Paths of the views. */
  readonly views: readonly string[];
}

/** Keys by which workers of one start authenticate each other. Security: they stay in the memory of these processes. */
export interface GroupTrust {
  readonly ca: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** A process that serves the same views. */
export interface MemberPlace {
  readonly name: string;
  readonly minter: number;
  /** Port of a worker, or URL of its replica. */
  readonly at: number | string;
}
