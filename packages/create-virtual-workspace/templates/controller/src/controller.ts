// Creates a ConfigMap with the page of each Site, and names it in the Site's status.

import { type Client, controller, Informer, ownerKeys, related } from "@virtual-workspaces/workspaces";
import { ConfigMap, Site } from "./site.ts";

/** Label of the ConfigMaps of this controller. */
export const LABEL = "my-view.example.dev/site";

/** A running controller, with its informers. */
export interface Running extends AsyncDisposable {
  /** Resolves when the controller knows all Sites. */
  readonly started: Promise<void>;
}

export function startController(client: Client): Running {
  const stack = new AsyncDisposableStack();
  const sites = stack.use(new Informer({ resource: client.resource(Site) }).start());
  const pages = stack.use(new Informer({ resource: client.resource(ConfigMap), labels: LABEL }).start());
  const running = stack.use(
    controller({
      name: "my-view",
      // A change or deletion of a ConfigMap reconciles the Site that owns it.
      sources: [{ informer: sites }, related(pages, ownerKeys(Site))],
      // Makes the world match the Site. It may be called again at any time, and must be safe to repeat.
      reconcile: async ({ namespace, name }, { object: site, signal }) => {
        if (site === undefined) return; // The server deletes the ConfigMap with its owner.
        const { title } = site.spec;
        const { uid = "" } = site.metadata;
        const owner = { apiVersion: `${Site.group}/${Site.version}`, kind: Site.kind, name, uid, controller: true };
        await client
          .resource(ConfigMap)
          .in(namespace)
          .apply(
            {
              metadata: { name: `page-${name}`, labels: { [LABEL]: name }, ownerReferences: [owner] },
              data: { "index.html": `<h1>${title}</h1>` },
            },
            { force: true, signal },
          );
        if (site.status?.title === title) return;
        const status = { page: `page-${name}`, title };
        await client.resource(Site).in(namespace).status.mergePatch(name, { status }, { signal });
      },
      onError: ({ error }) => console.error(String(error)),
    }),
  );
  return { started: running.started, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
