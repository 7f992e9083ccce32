import type { ViewPanel } from "@virtual-workspaces/framework/panel";
import { made, section } from "./names.ts";
import { spaceTable } from "./table.ts";

const ALL = "services/query/clusters/*";

/** The page of the view of Spaces: all Spaces that the user may list, and the URL that serves them together. */
export const mount: ViewPanel = (element, context) => {
  const { elements, url, workspace, api } = context;
  const hint = made("p", "hint", "The Spaces of all workspaces in which you may list them.");
  const place = made("div", "");
  const show = (from: string, onFailure?: () => void): void =>
    place.replaceChildren(
      spaceTable(context, { label: "Spaces", api: from, ...(onFailure !== undefined && { onFailure }) }),
    );
  // A server without query views has no list over all workspaces.
  show(ALL, () => {
    hint.textContent = `The Spaces of ${workspace.path}: this server has no list of those of all workspaces.`;
    show(api);
  });
  const together = url("services/spaces/*/*");
  element.append(section("Spaces", hint, place), section("All Spaces as one API", elements.url(together, "spaces")));
};
