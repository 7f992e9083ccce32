import type { ObjectPanel } from "@virtual-workspaces/framework/panel";
import { spaceTable } from "./table.ts";

/** The page of a SpaceProviderDesc: its Spaces. */
export const mount: ObjectPanel = (element, context) => {
  const provider = String(context.object.current.metadata.name);
  element.append(spaceTable(context, { label: `Spaces of ${provider}`, provider }));
};
