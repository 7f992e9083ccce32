// The server behind views of kcp's: exports, schemas, bindings, and workspaces that wait, as a shard has them, reviews that allow, and for the
// objects of every export what was prepared; ticks come from a source.
import { createServer } from "node:http";
import { defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import {
  APIBinding,
  APIExport,
  APIResourceSchema,
  LogicalCluster,
  schemaManifest,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { initializerLabel, PHASE_LABEL } from "@virtual-workspaces/kcp/names";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { publisher } from "./publisher.ts";
import { Tick, TickSource } from "./tick-source.ts";
import { Widget } from "./widget-view.ts";

const exports = APIExport.collection();
const schemas = APIResourceSchema.collection();
const bindings = APIBinding.collection();
const types = WorkspaceType.collection();
const clusters = LogicalCluster.collection();
const ticks = new TickSource();
const resources = [
  ...[APIExport.serve(exports), APIResourceSchema.serve(schemas), APIBinding.serve(bindings)],
  ...[WorkspaceType.serve(types), LogicalCluster.serve(clusters)],
  Tick.serve(ticks.storage as never, { identity: "identity-0" }),
];
const common = { wildcard: true, authorize: () => ({ allowed: true }) as const, resources };
const api = virtualWorkspaces({
  virtualWorkspaces: [
    defineVirtualWorkspace({ ...common, name: "workspaces", prefix: "/clusters", path: "/:cluster" }),
    defineVirtualWorkspace({ ...common, name: "cache", path: "/shards/:shard/clusters/:cluster" }),
  ],
  authentication: [staticTokens({ "view-token": { name: "view", groups: ["system:masters"] } })],
  minWatchTimeout: 600_000,
});

let body = Buffer.from("{}");
let reviews = 0;
const allowed = Buffer.from(
  JSON.stringify({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: {},
    status: { allowed: true },
  }),
);

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  const { url = "" } = req;
  const isReview = url.includes("/subjectaccessreviews");
  if (isReview) reviews += 1;
  if (!isReview && !url.includes("/apis/bench.example/v1/widgets"))
    return void api(req, res, () => res.writeHead(404).end());
  const answer = isReview ? allowed : body;
  req.resume();
  res.writeHead(isReview ? 201 : 200, { "Content-Type": "application/json", "Content-Length": answer.length });
  res.end(answer);
});

const commands = {
  ...publisher(ticks.publish),
  listen: () => listen(server),
  /** What to answer from now on to who asks for objects. */
  use: (prepared: Uint8Array): void => {
    body = Buffer.from(prepared);
  },
  /** Makes exports of the logical cluster `provider`, named `export-0` and so on. */
  makeExports: (count: number): void => {
    const own = [Widget, Tick].map((kind) => {
      const { metadata, spec } = schemaManifest(kind);
      const schema = metadata.name ?? "";
      schemas.in("provider").set(schema, spec as NonNullable<typeof spec>);
      return { group: kind.group, name: kind.plural, schema, storage: { crd: {} } };
    });
    for (let at = 0; at < count; at++) {
      exports.in("provider").set(`export-${at}`, { resources: own });
      exports.in("provider").setStatus(`export-${at}`, { identityHash: `identity-${at}` });
    }
  },
  /** Binds them in turn, each in a logical cluster of its own, as the workspace server leaves bindings. */
  bind: ({ count, among }: { readonly count: number; readonly among: number }): void => {
    for (let at = 0; at < count; at++) {
      const name = `export-${at % among}`;
      const part = bindings.in(`consumer-${at}`);
      const bound = { group: Widget.group, resource: Widget.plural, storageVersions: ["v1"] };
      const schema = {
        name: "v1",
        UID: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
        identityHash: `identity-${at % among}`,
      };
      part.set(name, { reference: { export: { path: "root:provider", name } } });
      part.setStatus(name, {
        ...{ phase: "Bound", apiExportClusterName: "provider" },
        boundResources: [{ ...bound, schema }],
      });
    }
  },
  /** Makes workspaces that wait for the type `provider:shop`, whose controllers may read widgets. */
  wait: (count: number): void => {
    const rule = { apiGroups: [Widget.group], resources: [Widget.plural], verbs: ["get"] };
    types.in("provider").set("shop", { initializer: true, initializerPermissions: [rule] });
    const initializers = ["provider:shop"];
    const { key, value } = initializerLabel("provider:shop");
    const labels = { [PHASE_LABEL]: "Initializing", [key]: value };
    const createdBy = { username: "bench", groups: ["system:authenticated"] };
    for (let at = 0; at < count; at++) {
      const part = clusters.in(`consumer-${at}`);
      part.set("cluster", { createdBy, initializers }, { labels });
      part.setStatus("cluster", { phase: "Initializing", initializers });
    }
  },
  /** How many access reviews were asked for. */
  reviews: (): number => reviews,
  /** How many watches of ticks were opened. */
  opened: (): number => ticks.opened,
};

export type ExportUpstream = typeof commands;

serveCommands(commands);
