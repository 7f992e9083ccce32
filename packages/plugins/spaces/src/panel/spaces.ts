import type { ViewPanel } from "@virtual-workspaces/framework/panel";
import { made, section } from "./names.ts";
import { spaceTable } from "./table.ts";

/** The page of the view of Spaces: all Spaces that the user may list, and the URL that serves them together. */
export const mount: ViewPanel = (element, context) => {
  const { elements, url, workspace } = context;
  const hint = made("p", "hint", "The Spaces of all workspaces in which you may list them.");
  const onPartial = (): void => {
    hint.textContent = `The Spaces of ${workspace.path}: this server has no list of those of all workspaces.`;
  };
  const table = spaceTable(context, { label: "Spaces", everywhere: true, onPartial });
  const together = url("services/spaces/*/*");
  element.append(
    section("Spaces by name", hint, table),
    section("All Spaces as one API", elements.url(together, "spaces")),
  );
};
