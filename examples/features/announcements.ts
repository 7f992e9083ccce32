// A feature of the workspace server: Announcements in `root`, which administrators write, and everybody who has logged in reads at
// /services/announcements. A controller deletes those that are over.
//
//   virtual-workspaces start --feature=examples/features/announcements.ts --announcements-keep=8h
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { defineFeature } from "@virtual-workspaces/workspace-server";
import { Client, controller, crdManifest, forward, Informer } from "@virtual-workspaces/workspaces";

const Announcement = defineResource({
  ...{ group: "example.dev", version: "v1", kind: "Announcement", scope: "Cluster" },
  spec: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string", minLength: 1, maxLength: 500 },
      until: { type: "string", format: "date-time" },
    },
  },
  columns: { Text: ".spec.text", Until: ".spec.until" },
});

const HOUR = 3_600_000;

export default defineFeature({
  name: "announcements",
  flags: {
    "announcements-keep": {
      type: "duration",
      value: "time",
      otherwise: "24h",
      help: "How long Announcements without spec.until are kept.",
    },
  },
  read({ values, usageError }) {
    const keep = values["announcements-keep"] ?? 24 * HOUR;
    if (keep < 1_000) throw usageError("--announcements-keep: give 1s or more");
    return {
      manifests: () => [crdManifest(Announcement)],
      // Each shard serves it, and all show what is in `root`.
      views: ({ everywhere: upstream }) => {
        const inRoot = { upstream, cluster: () => "root", identity: "none", unserved: "empty" } as const;
        const announcements = forward({ resource: Announcement, ...inRoot });
        return [
          defineVirtualWorkspace({
            ...{ name: "announcements", path: "/", authorize: authenticated() },
            resources: [Announcement.serve(announcements, { verbs: ["get", "list", "watch"] })],
            setup: () => announcements,
          }),
        ];
      },
      run: ({ isRoot, upstream, log }) => {
        if (!isRoot) return undefined;
        const resource = new Client({ upstream, cluster: "root" }).resource(Announcement);
        const stack = new AsyncDisposableStack();
        const informer = stack.use(new Informer({ resource }).start());
        const expiring = controller({
          ...{ name: "announcements", sources: [{ informer }] },
          reconcile: async ({ name }, { object, signal }) => {
            if (object === undefined) return;
            const { creationTimestamp, resourceVersion = "" } = object.metadata;
            const end = object.spec.until ?? Date.parse(creationTimestamp ?? "") + keep;
            const left = new Date(end).getTime() - Date.now();
            if (left > 0) return { requeueAfter: Math.min(left, HOUR) };
            await resource.delete(name, { preconditions: { resourceVersion }, signal });
            return;
          },
          onError: ({ error }) => log({ level: "warn", message: "announcements", error: String(error) }),
        });
        stack.use(expiring);
        return stack;
      },
    };
  },
});
