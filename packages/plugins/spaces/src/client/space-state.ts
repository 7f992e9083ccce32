import { ApiError, type GroupResource } from "@virtual-workspaces/apimachinery";
import { Space } from "../kinds/space.ts";
import type { SpaceName } from "./space-name.ts";

/** How a Space is for those who want to use it: a Kubernetes condition of type `Ready`. */
export interface SpaceState {
  readonly name: SpaceName;
  readonly ready: boolean;
  /** `Ready`; the Space's own reason where it is not Ready; `NoAccess`, `SecretNotFound`, `SecretInvalid`, `Refused`. */
  readonly reason: string;
  /** What is wrong, and the remedy; without anything secret. */
  readonly message: string;
}

const SPACES: GroupResource = { group: Space.group, resource: Space.plural };

/** Why a Space cannot be used: 404 where there is none, 503 where it is not ready, and may be later. */
export function unusableError(name: SpaceName, state: SpaceState | undefined): ApiError {
  if (state === undefined) return ApiError.notFound(SPACES, name);
  return ApiError.serviceUnavailable(`space ${name} cannot be used now: ${state.reason}: ${state.message}`);
}
