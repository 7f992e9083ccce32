/**
 * The panels of Spaces in the console: a Space, a provider, and all Spaces.
 *
 * @module
 */

import type { Panel } from "@virtual-workspaces/framework/panel";
import { Space } from "./kinds/space.ts";
import { SpaceProviderDesc } from "./kinds/space-provider-desc.ts";

const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const moduleOf = (name: string): URL => new URL(`./panel/${name}.${EXTENSION}`, import.meta.url);
const files = [`names.${EXTENSION}`, `table.${EXTENSION}`];

/** Panels that the view of {@link spacesView} brings: for consoles of servers without it, such as a front proxy. */
export const spacesPanels: readonly Panel[] = [
  {
    name: "space",
    title: "Space",
    for: { group: Space.group, resource: Space.plural },
    tree: { version: "v1alpha1", phase: ".status.Phase" },
    module: moduleOf("space"),
    files: [`names.${EXTENSION}`],
  },
  {
    name: "space-provider",
    title: "Spaces",
    for: { group: SpaceProviderDesc.group, resource: SpaceProviderDesc.plural },
    module: moduleOf("provider"),
    files,
  },
  {
    name: "spaces",
    title: "Spaces",
    for: { virtualWorkspace: "spaces" },
    module: moduleOf("spaces"),
    files,
  },
];
