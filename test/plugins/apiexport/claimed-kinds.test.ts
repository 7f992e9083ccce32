// Why: a provider reads back what it creates. Admission sets the labels of claims, for each kind that a claim can name.
import { claimableKinds, isReview } from "@virtual-workspaces/kcp/apis";
import { claimLabel } from "@virtual-workspaces/kcp/names";
import { expect } from "chai";
import { crd } from "../../_support/crd.ts";
import { APIS } from "../../workspace-server/bindings/support/shard.ts";
import { base64, certificateRequest } from "../../workspace-server/kinds/requests.ts";
import type { Body } from "../../workspace-server/support/objects.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { ALL, Provider, startViewed } from "./support/provider.ts";

const IN_NAMESPACE = "/namespaces/default";
const RBAC = "rbac.authorization.k8s.io";
/** Claimable kinds that are tested elsewhere, and those that the server alone creates. */
const ABSENT = /^(?:(?:mutating|validating)admissionpolic.*|logicalclusters)$/;

/** Returns what an object of a kind needs besides its name. */
function contentOf(kind: string): object {
  const webhook = { name: "a.example.dev", admissionReviewVersions: ["v1"], sideEffects: "None" };
  const about = { kind: "ConfigMap", namespace: "default", name: "x" };
  const role = { apiGroup: RBAC, name: "some" };
  const contents: Readonly<Record<string, object>> = {
    "events/Event": { involvedObject: about },
    "events.k8s.io/Event": {
      ...{ eventTime: "2026-01-01T00:00:00.000000Z", reportingController: "a.dev/b", reportingInstance: "b" },
      ...{ action: "Try", reason: "Tried", type: "Normal", regarding: about },
    },
    CertificateSigningRequest: {
      spec: { request: base64(certificateRequest([])), signerName: "example.com/serving", usages: ["client auth"] },
    },
    ClusterRoleBinding: { roleRef: { ...role, kind: "ClusterRole" }, subjects: [] },
    RoleBinding: { roleRef: { ...role, kind: "Role" }, subjects: [] },
    MutatingWebhookConfiguration: { webhooks: [{ ...webhook, clientConfig: { url: "https://example.dev" } }] },
    ValidatingWebhookConfiguration: { webhooks: [{ ...webhook, clientConfig: { url: "https://example.dev" } }] },
  };
  return contents[kind] ?? {};
}

describe("objects that a provider creates under a claim", function () {
  this.timeout(60_000);
  const kinds = claimableKinds.filter(
    (kind) => !ABSENT.test(kind.plural) && !isReview({ ...kind, resource: kind.plural }),
  );
  const bindings = { group: "apis.kcp.io", resource: "apibindings" };
  let server: Workspaces;
  let provider: Provider;
  let consumer: string;

  before(async () => {
    server = await startViewed();
    const resources = [...kinds.map(({ group, plural }) => ({ group, resource: plural })), bindings];
    const permissionClaims = resources.map((resource) => ({ ...resource, identityHash: "", verbs: ["*"] }));
    provider = await Provider.make(server, "provider", { permissionClaims });
    const accepted = permissionClaims.map((claim) => ({ ...claim, selector: ALL, state: "Accepted" }));
    consumer = await provider.consumer("consumer", accepted);
  });

  after(() => server[Symbol.asyncDispose]());

  for (const { group, version, kind, plural, scope } of kinds)
    it(`have the label at once, and can be read: ${plural}.${group}`, async () => {
      const prefix: `/${string}` = group === "" ? "/api/v1" : `/apis/${group}/${version}`;
      const path: `/${string}` = `${prefix}${scope === "Namespaced" ? IN_NAMESPACE : ""}/${plural}`;
      const apiVersion = group === "" ? version : `${group}/${version}`;
      const content = contentOf(kind === "Event" ? `${group === "" ? "events" : group}/Event` : kind);
      const object =
        plural === "customresourcedefinitions"
          ? crd("Gizmo", { group: "gizmo.dev" })
          : { apiVersion, kind, metadata: { name: `made-${group.length}` }, ...content };
      const view = provider.in(consumer);
      const made = await view.send(`POST ${path}`, object);
      expect(made.status, made.text).to.equal(201);
      const claimed = group === "events.k8s.io" ? { group: "", resource: "events" } : { group, resource: plural };
      const { key, value } = claimLabel(
        { cluster: provider.cluster, name: "widgets" },
        { ...claimed, identityHash: "" },
      );
      expect(made.body.metadata.labels).to.have.property(key, value);
      const read = await view.get(`${path}/${made.body.metadata.name}`);
      expect(read.status, read.text).to.equal(200);
      // kcp's view reads all kinds as custom ones, whose lists have the type in each item.
      for (const everywhere of [`${prefix}/${plural}`, `${prefix}/${plural}?limit=500`]) {
        const { body } = await provider.get(everywhere);
        const item = body.items.find(({ metadata }: Body) => metadata.name === made.body.metadata.name);
        expect(item, everywhere).to.deep.equal(read.body);
      }
    });

  it("have it at once: APIBindings", async () => {
    const object = {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "topology" },
      spec: { reference: { export: { path: "root", name: "topology.kcp.io" } } },
    };
    const made = await provider.post(consumer, `${APIS}/apibindings`, object);
    const { key, value } = claimLabel(
      { cluster: provider.cluster, name: "widgets" },
      { ...bindings, identityHash: "" },
    );
    expect(made.metadata.labels).to.have.property(key, value);
    expect((await provider.in(consumer).get(`${APIS}/apibindings/topology`)).status).to.equal(200);
  });
});
