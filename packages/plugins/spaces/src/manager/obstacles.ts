import { quote } from "@virtual-workspaces/apimachinery";
import { namespaceOf } from "../kinds/names.ts";
import type { Space } from "../kinds/space.ts";
import type { PhysicalSpace } from "../provider/provider.ts";
import { isAtProvider, isHeld } from "./known-spaces.ts";

/** Why a Space cannot be what it says. */
export interface Obstacle {
  readonly reason: "NoProvider" | "NameTaken" | "WrongNamespace";
  /** Names the field and the remedy. */
  readonly message: string;
}

export const NO_PROVIDER: Obstacle = {
  reason: "NoProvider",
  message:
    'spec.SpaceProviderDescName: there is no default provider: name one, or annotate one with space.kubestellar.io/is-default-provider: "true"',
};

/**
 * What stands in the way of a Space that somebody provides. Whoever may make Spaces in a namespace of their own is not to have what others have made
 * by naming it: that is for whoever may make Spaces in the provider's namespace.
 *
 * @param owner whose what is behind it is
 */
export function obstacleOf(
  space: Space,
  owner: Space | undefined,
  seen: PhysicalSpace | undefined,
): Obstacle | undefined {
  const { metadata, spec } = space;
  const { SpaceProviderDescName: provider = "" } = spec;
  if (owner !== undefined && owner.metadata.uid !== metadata.uid)
    return {
      reason: "NameTaken",
      message: `metadata.name: the provider ${quote(provider)} has a space of this name, which is that of the Space ${owner.metadata.namespace}/${owner.metadata.name}: take another name`,
    };
  if (isAtProvider(space)) return undefined;
  if (spec.Type === "unmanaged")
    return {
      reason: "WrongNamespace",
      message: `metadata.namespace: Spaces that are unmanaged are in the namespace of their provider: make it in ${namespaceOf(provider)}`,
    };
  if (seen !== undefined && !isHeld(space))
    return {
      reason: "NameTaken",
      message: `metadata.name: the provider ${quote(provider)} has a space of this name that was not made for this Space: take another name, or take it over by a Space in ${namespaceOf(provider)}`,
    };
  return undefined;
}
