import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { crdManifest } from "@virtual-workspaces/kcp";
import { Space } from "./kinds/space.ts";
import { SpaceProviderDesc } from "./kinds/space-provider-desc.ts";

/** What has to be in a management cluster before a {@link SpaceManager} works there: the CustomResourceDefinitions of Space and SpaceProviderDesc. */
export function spaceManifests(): KubeObject[] {
  return [crdManifest(Space), crdManifest(SpaceProviderDesc)];
}
