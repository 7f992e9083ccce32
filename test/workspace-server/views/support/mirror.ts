// A stranger's file with two views over workspaces: their ConfigMaps as they are, and who the server says that one is.
import { forward, subjectAccessReview, type Workspaces } from "@virtual-workspaces/forwarding";
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";

const text = { type: "object", additionalProperties: { type: "string" } } as const;
const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: text, binaryData: text, immutable: { type: "boolean" } } },
});

/** What the command line calls. */
export default function views({ upstream, identity }: Workspaces): readonly VirtualWorkspace[] {
  const configMaps = forward({ resource: ConfigMap, upstream, identity });
  return [
    defineVirtualWorkspace({
      name: "mirror",
      path: "/clusters/:cluster",
      authorize: subjectAccessReview<{ readonly cluster: string }>({ upstream, allowCache: 0, denyCache: 0 }),
      ready: configMaps.ready,
      setup: () => configMaps,
      resources: [ConfigMap.serve(configMaps)],
    }),
    defineVirtualWorkspace({
      name: "whoami",
      path: "/",
      authorize: () => allow(),
      handle: (req, res, { user: { name, uid, groups, extra }, tail, search, hops }) => {
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify({ user: { name, uid, groups, extra }, tail, search, hops, headers: req.rawHeaders }));
      },
      upgrade: (_req, socket, { user, head }) => {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ${user.name}\n`,
        );
        socket.write(head);
        socket.pipe(socket);
      },
    }),
  ];
}
