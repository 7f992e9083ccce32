// A view that keeps a resource of an export (storage.virtual). Workspaces that bind the export have Invoices as they have any kind,
// and this view answers for them: what is on an invoice is in the view's own store, the total is computed when it is read.

import {
  defineResource,
  defineVirtualWorkspace,
  groups,
  union,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { type Host, persistent } from "@virtual-workspaces/store";
import {
  Client,
  crdManifest,
  exportManifests,
  isApiError,
  type Manifests,
  publishURLs,
  subjectAccessReview,
  viewURL,
  type Workspaces,
} from "@virtual-workspaces/workspaces";

const line = {
  type: "object",
  required: ["cents"],
  properties: { what: { type: "string" }, cents: { type: "integer" } },
} as const;
const Invoice = defineResource({
  group: "billing.example.dev",
  version: "v1",
  kind: "Invoice",
  scope: "Cluster",
  spec: { type: "object", required: ["lines"], properties: { lines: { type: "array", items: line } } },
  status: { type: "object", properties: { cents: { type: "integer" } } },
  columns: { Cents: ".status.cents" },
});
// What the export refers to: where the view is, for each shard.
const Ledger = defineResource({
  group: "billing.example.dev",
  version: "v1",
  kind: "Ledger",
  scope: "Cluster",
  status: {
    type: "object",
    properties: {
      endpoints: {
        type: "array",
        items: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["url"],
      },
    },
  },
});

const reference = { apiGroup: Ledger.group, kind: Ledger.kind, name: "main" };
export const manifests: Manifests = [
  crdManifest(Ledger),
  ...exportManifests({
    name: "billing",
    resources: [Invoice],
    storage: { virtual: { reference, identityHash: "invoices" } },
    mayBind: [{ kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" }],
  }),
];

/** Called with the workspaces of each shard. */
export default function invoices({
  upstream,
  shard = "root",
  everywhere = upstream,
  store,
}: Workspaces & Host): VirtualWorkspace {
  const kept = Invoice.collection(persistent(store));
  return defineVirtualWorkspace({
    name: "invoices",
    path: "/:ledger/clusters/:cluster",
    wildcard: true, // discovery by shards is of all workspaces at once
    // Whatever the workspace lets the caller do with invoices; also for who asks here, and not there.
    authorize: union(groups("system:masters"), subjectAccessReview<{ readonly cluster: string }>({ upstream })),
    setup: () =>
      publishURLs({
        client: new Client({ upstream: everywhere }),
        resource: Ledger,
        cluster: "root",
        shards: shard,
        urls: ({ metadata }, [own]) =>
          own?.spec?.virtualWorkspaceURL === undefined
            ? undefined
            : [viewURL(own.spec.virtualWorkspaceURL, "invoices", metadata.name ?? "")],
        onError: ({ error, retryAfter = 0 }) => {
          // It is 404 until the kind is installed, and what does not last need not be told.
          const isMissing = isApiError(error) && error.code === 404;
          if (retryAfter > 5_000 && !isMissing) process.emitWarning(`invoices: ${String(error)}`);
        },
      }),
    resources: [
      Invoice.serve(
        view({
          from: kept,
          to: Invoice,
          map: ({ spec }) => ({ spec, status: { cents: spec.lines.reduce((sum, { cents }) => sum + cents, 0) } }),
          mapToSource: ({ spec }) => ({ spec }),
        }),
      ),
    ],
  });
}
