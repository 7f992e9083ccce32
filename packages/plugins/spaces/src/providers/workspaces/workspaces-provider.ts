import type { SpaceProviderType } from "../../provider/provider.ts";
import { type OwnWorkspaces, ownPlace, placeIn } from "./place.ts";
import { Workspaces } from "./workspaces.ts";

/** What {@link workspacesProvider} is given. */
export interface WorkspacesProviderOptions {
  /** Whose workspaces they are where a SpaceProviderDesc names no Secret. @default it must */
  readonly own?: OwnWorkspaces;
  /** How long the tokens are good by which spaces are reached, s: each is replaced when a third of that is over. @default 86400 */
  readonly tokenLifetime?: number;
  /** The type of the workspaces that are made: `root:universal`. @default the server's */
  readonly workspaceType?: string;
}

const LIFETIME = 86_400;
/** TokenRequests that are shorter are refused by Kubernetes, s. */
const SHORTEST = 600;

/**
 * Workspaces of a kcp, or of our workspace server, as spaces: those in one workspace, and in those that Spaces name (`kubestellar.io/space-path`). The Secret of a
 * SpaceProviderDesc has `kubeconfig`, which leads to that workspace (`root` if to none), by a credential that may do everything with the workspaces in it and in them; where spaces
 * are reached otherwise from the management cluster or from elsewhere, `incluster` and `external`, of which the address and its authorities count.
 *
 * Whoever has access to a space is its administrator and nobody anywhere else: a service account of the workspace, `default/space-access`, by tokens that are replaced in time.
 *
 * @throws Error on a lifetime that tokens cannot have
 */
export function workspacesProvider(options: WorkspacesProviderOptions = {}): SpaceProviderType {
  const { own, tokenLifetime = LIFETIME, workspaceType } = options;
  if (!(tokenLifetime >= SHORTEST && tokenLifetime < 2 ** 31))
    throw new Error(`tokenLifetime of workspacesProvider: give seconds, ${SHORTEST} at least`);
  return {
    needsSecret: own === undefined,
    open: ({ secret }) => {
      const isOwn = own !== undefined && Object.keys(secret).length === 0;
      return new Workspaces(isOwn ? ownPlace(own) : placeIn(secret), { tokenLifetime, workspaceType });
    },
  };
}
