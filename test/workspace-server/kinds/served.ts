// Kubernetes' own kinds in one virtual workspace, as a workspace serves them.
import {
  authenticated,
  converted,
  defineVirtualWorkspace,
  type Resource,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { builtInKinds, CoreEvent, Event, Namespace } from "@virtual-workspaces/workspace-server";
import { coreOfEvent, eventOfCore } from "../../../packages/workspace-server/src/kinds/events-event.ts";
import { finalizeNamespace } from "../../../packages/workspace-server/src/kinds/namespace.ts";

/** Path of {@link kindsView}. */
export const KINDS = "/services/kinds/clusters/root";

function served(): ServedResource[] {
  const events = CoreEvent.collection();
  return builtInKinds.map(({ resource, verbs }) => {
    if (resource === (CoreEvent as Resource)) return CoreEvent.serve(events, { verbs });
    if (resource === (Event as Resource)) {
      const other = converted({ from: events, to: Event, read: eventOfCore as never, write: coreOfEvent as never });
      return Event.serve(other, { verbs });
    }
    if (resource === (Namespace as Resource)) {
      const namespaces = Namespace.collection();
      return Namespace.serve(namespaces, { verbs, subresources: { finalize: finalizeNamespace(namespaces) } });
    }
    return resource.serve(resource.collection(), { verbs });
  });
}

/** Returns a view for all authenticated users. */
export function kindsView(): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "kinds",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: served(),
  });
}
