// Discovery and OpenAPI of a workspace, in all forms.
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { widgets } from "./widgets.ts";

const ROOT = "/clusters/root";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** Accept header of client-go. */
const CLIENT_GO = `${AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;
const user = "admin";

const DEFINITIONS = `${ROOT}/apis/apiextensions.k8s.io/v1/customresourcedefinitions` as const;

async function untilStatus(server: Workspaces, path: string, status: number): Promise<void> {
  await until(async () => (await server.get(path, { user })).status === status);
}

const namesOf = (groups: readonly { readonly name: string }[]): string[] => groups.map(({ name }) => name);

describe("discovery of a workspace", () => {
  it("lists Kubernetes' groups in kcp's order, plain and aggregated", async () => {
    await using server = await startWorkspaces();
    const plain = (await server.get(`${ROOT}/apis`, { user })).body;
    expect(namesOf(plain.groups).slice(0, 8)).to.deep.equal([
      "authentication.k8s.io",
      "authorization.k8s.io",
      "certificates.k8s.io",
      "coordination.k8s.io",
      "rbac.authorization.k8s.io",
      "admissionregistration.k8s.io",
      "events.k8s.io",
      "apiextensions.k8s.io",
    ]);
    const answer = await server.get(`${ROOT}/apis`, { user, headers: { accept: CLIENT_GO } });
    expect(answer.headers["content-type"]).to.equal(AGGREGATED.replaceAll("; ", ";"));
    expect(namesOf(answer.body.items.map(({ metadata }: { metadata: object }) => metadata))).to.deep.equal(
      namesOf(plain.groups),
    );
    const core = (await server.get(`${ROOT}/api/v1`, { user })).body.resources as { name: string; verbs: string[] }[];
    expect(namesOf(core).filter((name) => !name.includes("/"))).to.deep.equal([
      "configmaps",
      "events",
      "namespaces",
      "resourcequotas",
      "secrets",
      "serviceaccounts",
    ]);
    expect(namesOf(core)).to.include.members(["namespaces/finalize", "namespaces/status", "serviceaccounts/token"]);
    expect(core.find(({ name }) => name === "namespaces")?.verbs).to.not.include("deletecollection");
    for (const group of ["apps", "batch", "policy", "apiregistration.k8s.io"])
      expect((await server.get(`${ROOT}/apis/${group}`, { user })).status, group).to.equal(404);
    const everywhere = plain.groups.filter(({ name }: { name: string }) => !/^(tenancy|topology)\./.test(name));
    expect(everywhere).to.have.length(plain.groups.length - 2);
    for (const cluster of ["system:admin", "nothing", "*"])
      expect((await server.get(`/clusters/${cluster}/apis`, { user: "root" })).body.groups, cluster).to.deep.equal(
        everywhere,
      );
  });

  it("lists the server's address for clients, as Kubernetes does", async () => {
    await using server = await startWorkspaces(undefined, {
      urls: () => ({ externalURL: "https://workspaces.example.com:8443" }),
    });
    const addresses = [{ clientCIDR: "0.0.0.0/0", serverAddress: "workspaces.example.com:8443" }];
    for (const at of [ROOT, ""] as const) {
      const core = (await server.get(`${at}/api`, { user: "root" })).body;
      expect(core, at).to.deep.equal({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: addresses });
      const { groups } = (await server.get(`${at}/apis`, { user: "root" })).body;
      for (const group of groups) expect(group.serverAddressByClientCIDRs, group.name).to.deep.equal(addresses);
    }
    const one = (await server.get(`${ROOT}/apis/coordination.k8s.io`, { user: "root" })).body;
    expect(one).not.to.have.property("serverAddressByClientCIDRs");
  });

  it("lists kinds while they are defined, and no other workspace's", async () => {
    await using server = await startWorkspaces();
    const { body: before } = await server.get(`${ROOT}/apis`, { user });
    expect((await server.send(`POST ${DEFINITIONS}`, widgets, { user })).status).to.equal(201);
    await untilStatus(server, `${ROOT}/apis/example.dev/v1`, 200);
    const { groups } = (await server.get(`${ROOT}/apis`, { user })).body;
    expect(namesOf(groups)).to.deep.equal([...namesOf(before.groups), "example.dev"]);
    for (const headers of [{}, { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" }]) {
      const swagger = await server.get(`${ROOT}/openapi/v2`, { user, headers });
      expect(swagger.status).to.equal(200);
      expect(swagger.text).to.contain("How large.").and.to.contain("ClusterRole");
      const other = await server.get("/clusters/system:admin/openapi/v2", { user: "root", headers });
      expect(other.text).to.not.contain("How large.");
    }
    const { paths } = (await server.get(`${ROOT}/openapi/v3`, { user })).body;
    expect(paths).to.include.keys(
      "api/v1",
      "apis/example.dev/v1",
      "apis/tenancy.kcp.io/v1alpha1",
      "apis/authentication.k8s.io/v1",
    );
    for (const { serverRelativeURL } of Object.values(paths) as { serverRelativeURL: string }[]) {
      expect(serverRelativeURL).to.match(/^\/clusters\/root\/openapi\/v3\//);
      expect((await server.get(serverRelativeURL, { user })).status, serverRelativeURL).to.equal(200);
    }
    expect((await server.get("/clusters/system:admin/apis/example.dev", { user: "root" })).status).to.equal(404);
    expect((await server.get("/clusters/*/apis/example.dev/v1/widgets", { user: "root" })).status).to.equal(404);
    expect((await server.send(`DELETE ${DEFINITIONS}/widgets.example.dev`, undefined, { user })).status).to.be.within(
      200,
      202,
    );
    await untilStatus(server, `${ROOT}/apis/example.dev`, 404);
    expect((await server.get(`${ROOT}/apis`, { user })).body).to.deep.equal(before);
    expect((await server.get(`${ROOT}/openapi/v3`, { user })).body.paths).to.not.have.property("apis/example.dev/v1");
  });
});
