// Documents of the service account issuer for relying parties, in workspaces and at the shard.
import { allow, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { anonymous, jwt } from "@virtual-workspaces/framework/authn";
import { memoryStore } from "@virtual-workspaces/store";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { signingKey } from "../../_support/issuer.ts";
import { outcome, startPlain } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { until } from "../../_support/until.ts";
import { pemOf } from "../support/accounts.ts";
import { bind, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const KEYS = "/openid/v1/jwks";

/** Returns a token of a workspace's account `default`. */
async function tokenOf(server: Workspaces, cluster: string): Promise<string> {
  const account = `/clusters/${cluster}/api/v1/namespaces/default/serviceaccounts/default` as const;
  await until(async () => (await server.get(account, { user: "root" })).status === 200);
  const made = await server.send(`POST ${account}/token`, { spec: { audiences: ["relying"] } }, { user: "root" });
  expect(made.status, made.text).to.equal(201);
  return made.body.status.token as string;
}

/** Grants relying parties the access that any user needs: to the workspace and to the documents. */
async function letIn(server: Workspaces, cluster: string): Promise<void> {
  const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:unauthenticated" };
  await bind(server, cluster, { name: "in", role: "system:kcp:workspace:access", subject });
  await bind(server, cluster, { name: "documents", role: "system:service-account-issuer-discovery", subject });
}

describe("the issuer of service account tokens", () => {
  it("publishes the URL of its keys in each workspace, and only public keys", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    for (const [prefix, user] of [
      ["/clusters/root:org", "root"],
      [`/clusters/${cluster}`, "admin"],
      ["", "root"],
    ] as const) {
      const { status, headers, body } = await server.get(prefix + CONFIGURATION, { user });
      expect(status).to.equal(200);
      expect([headers["content-type"], headers["cache-control"]]).to.deep.equal([
        "application/json",
        "public, max-age=3600",
      ]);
      expect([body.issuer, body.jwks_uri]).to.deep.equal(["https://kcp.default.svc", `${server.url}${prefix}${KEYS}`]);
      const kept = await server.get(prefix + KEYS, { user });
      expect(kept.headers["content-type"]).to.equal("application/jwk-set+json");
      expect(kept.text).to.not.match(/"d":|"p":|"q":/);
    }
    const { paths } = (await server.get("/clusters/root:org", { user: "root" })).body;
    expect(paths).to.include.members([CONFIGURATION, KEYS]);
    expect((await server.send(`POST /clusters/root${KEYS}`, {}, { user: "root" })).status).to.equal(404);
  });

  it("serves service accounts of the workspace, and users with the right role", async () => {
    const authentication = [
      staticTokens({
        root: { name: "root", groups: ["system:masters"] },
        alice: { name: "alice" },
      }),
      anonymous(),
    ];
    await using server = await startWorkspaces(memoryStore(), { authentication });
    const cluster = await makeWorkspace(server, "org");
    const at = `/clusters/${cluster}${CONFIGURATION}`;
    await tokenOf(server, cluster);
    const nobody = await fetch(server.url + at);
    expect(nobody.status).to.equal(403);
    expect(outcome(await server.get(at, { user: "alice" }))).to.deep.equal([
      403,
      "Forbidden",
      `forbidden: User "alice" cannot get path "${CONFIGURATION}": access denied`,
    ]);
    const path = `/clusters/${cluster}/api/v1/namespaces/default/serviceaccounts/default/token` as const;
    const own = await server.send(`POST ${path}`, { spec: {} }, { user: "root" });
    const user = own.body.status.token as string;
    expect((await server.get(at, { user })).body.jwks_uri).to.equal(`${server.url}/clusters/${cluster}${KEYS}`);
    // Without a workspace in the URL, the account's one counts.
    expect((await server.get(CONFIGURATION, { user })).body.jwks_uri).to.equal(
      `${server.url}/clusters/${cluster}${KEYS}`,
    );
    await letIn(server, cluster);
    await until(async () => (await fetch(server.url + at)).status === 200);
    expect((await fetch(`${server.url}/clusters/${cluster}/api`)).status).to.equal(403);
  });

  it("is accepted by another server that reads its documents", async () => {
    await using store = memoryStore();
    const serviceAccountKeys = new ServiceAccountKeys({ signing: pemOf(signingKey().privateKey, "pkcs8") });
    const made = await startWorkspaces(store, { serviceAccountKeys });
    const cluster = await makeWorkspace(made, "org");
    const token = await tokenOf(made, cluster);
    await letIn(made, cluster);
    await made[Symbol.asyncDispose]();
    const authority = createAuthority();
    await using server = await startWorkspaces(store, { serviceAccountKeys, authority });
    const issuer = {
      url: "https://kcp.default.svc",
      discoveryURL: `${server.url}/clusters/root:org${CONFIGURATION}`,
      certificateAuthority: authority.ca,
      audiences: ["relying"],
    };
    const taken = jwt({ issuer, claimMappings: { username: { claim: "sub", prefix: "kcp:" } } });
    const view = defineVirtualWorkspace({ name: "x", path: "/", authorize: () => allow(), resources: [] });
    await using relying = await startPlain([view], { authentication: [taken] });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const who = (user: string) =>
      relying.send("POST /services/x/apis/authentication.k8s.io/v1/selfsubjectreviews", review, { user });
    const { status, body } = await who(token);
    expect([status, body.status?.userInfo?.username]).to.deep.equal([201, "kcp:system:serviceaccount:default:default"]);
    const [head, claims] = token.split(".");
    expect((await who(`${head}.${claims}.${"A".repeat(342)}`)).status).to.equal(401);
  });

  it("publishes a configured URL of its keys, and nothing if the issuer is not a URL", async () => {
    const elsewhere = "https://keys.example/jwks";
    {
      await using server = await startWorkspaces(memoryStore(), { serviceAccountKeysUrl: elsewhere });
      const { body } = await server.get(`/clusters/root${CONFIGURATION}`, { user: "root" });
      expect(body.jwks_uri).to.equal(elsewhere);
    }
    await using server = await startWorkspaces(memoryStore(), { serviceAccountIssuers: ["kcp"] });
    for (const path of [CONFIGURATION, KEYS])
      expect((await server.get(`/clusters/root${path}`, { user: "root" })).status).to.equal(404);
  });
});

describe("/version", () => {
  it("returns a Kubernetes version to users with access", async () => {
    await using server = await startWorkspaces();
    const { status, body } = await server.get("/clusters/root/version");
    expect(status).to.equal(200);
    // Helm and client-go parse this form.
    expect(body.gitVersion).to.match(/^v1\.\d+\.\d+\+[0-9A-Za-z.-]+$/);
    expect(body.gitVersion.startsWith(`v${body.major}.${body.minor}.`)).to.equal(true);
    const cluster = await makeWorkspace(server, "org");
    expect((await server.get(`/clusters/${cluster}/version`)).status).to.equal(403);
    expect((await server.get("/version")).status).to.equal(403);
    expect((await server.get("/version", { user: "root" })).body).to.deep.equal(body);
  });
});
