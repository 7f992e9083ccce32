import { resourcePath, workspacePath } from "../api/base.ts";
import { liveList } from "../api/live-list.ts";
import type { KubernetesObject } from "../api/types.ts";
import { type Route, routeTo } from "../route.ts";
import { servesResource } from "./everywhere.ts";
import { type Panel, panelList, tabOf } from "./panel-list.ts";

/** An object that a panel shows in the tree of workspaces. */
export interface ShownObject {
  readonly panel: Panel;
  readonly name: string;
  readonly namespace: string;
  readonly kind: string;
  /** Value of the field that the panel names. */
  readonly phase: string;
  readonly route: Route;
}

/** The objects that panels show in the tree below a workspace, live. To be read while rows are computed. */
export function shownObjects(path: string, cluster = path): readonly ShownObject[] {
  return panelList().value.panels.flatMap((panel) => {
    const { for: subject, tree } = panel;
    if (tree === undefined || !("resource" in subject)) return [];
    const id = { group: subject.group, resource: subject.resource, version: tree.version };
    // Only workspaces that serve the resource are worth a request.
    if (!servesResource(id, cluster)) return [];
    return liveList(`${workspacePath(cluster)}/${resourcePath(id)}`).value.items.map((object) => {
      const { name, namespace = "" } = object.metadata;
      const target = { workspace: path, resource: id, object: { namespace, name } };
      return {
        ...{ panel, name, namespace, kind: object.kind ?? "" },
        phase: fieldAt(object, tree.phase ?? ""),
        route: routeTo(target, { view: tabOf(panel) }),
      };
    });
  });
}

function fieldAt(object: KubernetesObject, path: string): string {
  if (path === "") return "";
  const value = path
    .slice(1)
    .split(".")
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], object);
  return typeof value === "string" ? value : "";
}
