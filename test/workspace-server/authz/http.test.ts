// Why: the shard's authorizer behind a server, with its responses, impersonation, reviews and audit events.
import {
  createServer,
  defineResource,
  defineVirtualWorkspace,
  type Identity,
  staticTokens,
} from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { workspaceImpersonation } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { testLog } from "../../_setup/log.ts";
import { HOME, person, READ_PODS, SCOPES, toldBy, WARRANT, World } from "./world.ts";

const Pod = defineResource({ group: "", version: "v1", kind: "Pod", scope: "Namespaced", spec: { type: "object" } });
const Workspace = defineResource({
  group: "tenancy.kcp.io",
  version: "v1alpha1",
  kind: "Workspace",
  scope: "Cluster",
  spec: { type: "object" },
});

const robot = {
  name: "system:serviceaccount:default:robot",
  groups: ["system:serviceaccounts"],
  extra: { [HOME]: ["c"] },
};
const USERS: Readonly<Record<string, Partial<Identity> & { readonly name: string }>> = {
  ada: { name: "ada" },
  bob: { name: "bob" },
  eve: { name: "eve" },
  kcp: { name: "kcp-admin", groups: ["system:kcp:admin"] },
  master: { name: "shard-admin", groups: ["system:masters"] },
  robot,
};

type Event = {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly stage: string;
  readonly impersonatedUser?: object;
  readonly authenticationMetadata?: { readonly impersonationConstraint: string };
};

async function start(world = new World()) {
  const events: Event[] = [];
  const pods = Pod.collection();
  for (const cluster of ["c", "d"]) pods.in(cluster, "default").set("one", {});
  const view = defineVirtualWorkspace({
    name: "ws",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: world.authorizer,
    resources: [Pod.serve(pods), Workspace.serve(Workspace.collection())],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens(USERS)],
    impersonation: workspaceImpersonation(world.authorizer),
    audit: audit({
      policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] },
      to: (line) => void events.push(JSON.parse(line)),
    }),
    log: testLog().log,
  });
  const { url } = await server.listen({ port: 0 });
  const ask = async (user: string, path: string, options: Options = {}) => {
    const { cluster = "c", method, body, as = {} } = options;
    const headers = new Headers({
      authorization: `Bearer ${user}`,
      connection: "close",
      "content-type": "application/json",
    });
    for (const [key, values] of Object.entries(as))
      for (const value of [values].flat()) headers.append(`impersonate-${key}`, value);
    const init = { headers, method: method ?? (body === undefined ? "GET" : "POST") };
    const answer = await fetch(`${url}/services/ws/clusters/${cluster}${path}`, {
      ...init,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { code: answer.status, ...((await answer.json()) as Answer) };
  };
  return { world, events, ask, close: () => server.close(), [Symbol.asyncDispose]: () => server.close() };
}

interface Options {
  readonly cluster?: string;
  readonly method?: string;
  readonly body?: object;
  /** User, group and extra headers, by the suffix of `Impersonate-…`. */
  readonly as?: Readonly<Record<string, string | readonly string[]>>;
}

interface Answer {
  readonly message?: string;
  readonly status?: {
    readonly allowed?: boolean;
    readonly reason?: string;
    readonly userInfo?: Partial<Identity> & { readonly username: string };
  };
}

const PODS = "/api/v1/namespaces/default/pods";

/** Bob may read pods in `c`, and impersonate any user there with any extra. */
function withBob(): World {
  const world = new World();
  world.workspace("d");
  world.role(
    "c",
    "bob",
    { ...READ_PODS, verbs: ["get", "list"] },
    { verbs: ["impersonate"], apiGroups: ["*"], resources: ["*"] },
  );
  world.bind("c", "bob", { to: "bob", subject: person("bob") });
  world.admit("c", person("bob"));
  return world;
}

describe("a denied request", () => {
  it("names the requested object in the message, but no reason", async () => {
    const world = withBob();
    world.workspace("c", { requiredGroups: "nobody" });
    await using server = await start(world);
    const denied = "access denied";
    for (const [user, path, cluster, message] of [
      [
        "eve",
        `${PODS}/one`,
        "c",
        `pods "one" is forbidden: User "eve" cannot get resource "pods" in API group "" in the namespace "default": ${denied}`,
      ],
      [
        "eve",
        "/apis/tenancy.kcp.io/v1alpha1/workspaces/x",
        "d",
        `workspaces.tenancy.kcp.io "x" is forbidden: User "eve" cannot get resource "workspaces" in API group "tenancy.kcp.io" at the cluster scope: ${denied}`,
      ],
      ["eve", "/api", "d", `forbidden: User "eve" cannot get path "/services/ws/clusters/d/api": ${denied}`],
      ["ada", "/api", "gone", `forbidden: User "ada" cannot get path "/services/ws/clusters/gone/api": ${denied}`],
      [
        "kcp",
        "/api/v1/pods",
        "*",
        `pods is forbidden: User "kcp-admin" cannot list resource "pods" in API group "" at the cluster scope: ${denied}`,
      ],
      [
        "kcp",
        "/api",
        "system:admin",
        `forbidden: User "kcp-admin" cannot get path "/services/ws/clusters/system:admin/api": ${denied}`,
      ],
    ] as const)
      expect(await server.ask(user, path, { cluster })).to.include({ code: 403, message });
    for (const cluster of ["c", "d", "*"])
      expect(await server.ask("master", "/api/v1/pods", { cluster })).to.include({ code: 200 });
    expect(await server.ask("kcp", PODS, { cluster: "d" })).to.include({ code: 200 });
  });

  it("gets 500 without details when the state fails", async () => {
    await using server = await start(withBob());
    server.world.binding = () => {
      throw new Error("bindings are away");
    };
    const answer = await server.ask("ada", PODS);
    expect(answer).to.include({ code: 500 });
    expect(answer.message).not.to.contain("away");
    expect(await server.ask("master", PODS)).to.include({ code: 200 });
    expectFault(/bindings are away/);
  });
});

describe("audit annotations", () => {
  it("have the decision and reason of each step, for allowed and denied requests", async () => {
    const server = await start(withBob());
    await server.ask("ada", PODS);
    await server.ask("eve", PODS);
    await server.ask("master", PODS);
    await server.close();
    const ended = server.events.filter(({ stage }) => stage === "ResponseComplete");
    expect(ended.map(({ annotations = {} }) => toldBy(annotations))).to.deep.equal([
      {
        "01-requiredgroups": "Allowed: delegating due to logical cluster does not require groups",
        "02-content": "Allowed: delegating due to user logical cluster access",
        "03-systemcrd": "Allowed: delegating due to no system CRD violation",
        "04-maxpermissionpolicy": "Allowed: delegating due to no relevant binding found",
        "05-bootstrap": "NoOpinion: bootstrap policy: ",
        "05-local":
          'Allowed: local cluster "c" policy: RBAC: allowed by ClusterRoleBinding "workspace-admin" of ClusterRole "cluster-admin" to User "ada"',
      },
      {
        "01-requiredgroups": "NoOpinion: delegating due to logical cluster does not require groups",
        "02-content": "NoOpinion: no verb=access permission on /",
      },
      {},
    ]);
    expect(ended[1]?.annotations).to.include({
      "authorization.k8s.io/decision": "forbid",
      "authorization.k8s.io/reason": "access denied",
      "request.auth.kcp.io/02-content-reason": "no verb=access permission on /",
    });
  });
});

describe("impersonation in a workspace", () => {
  const SELF = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const refused = { code: 403, message: "forbidden: impersonation is not allowed for the requestor" };

  it("adds a scope that confines the user to the workspace, except for system:masters", async () => {
    await using server = await start(withBob());
    const as = (user: string, more: Options["as"], cluster = "c") =>
      server.ask(user, whoami, { body: SELF, as: { user: "ada", ...more }, cluster });
    const extra = async (...args: Parameters<typeof as>) => (await as(...args)).status?.userInfo?.extra;
    expect(await extra("bob", {})).to.deep.equal({ [SCOPES]: ["cluster:c"] });
    const key = "extra-authentication.kcp.io%2Fscopes";
    expect(await extra("bob", { [key]: ["cluster:c,cluster:d"] })).to.deep.equal({
      [SCOPES]: ["cluster:c,cluster:d", "cluster:c"],
    });
    expect(await extra("kcp", {}, "d")).to.deep.equal({ [SCOPES]: ["cluster:d"] });
    expect(await extra("master", {})).to.equal(undefined);
    expect(await server.ask("bob", PODS, { as: { user: "ada" }, method: "DELETE" })).to.include({ code: 200 });
    expect(await server.ask("bob", PODS, { as: { user: "ada" }, cluster: "d" })).to.include({ code: 403 });
    expect(await server.ask("kcp", "/api/v1/pods", { as: { user: "ada" }, cluster: "*" })).to.deep.include(refused);
    expect(await server.ask("master", "/api/v1/pods", { as: { user: "ada" }, cluster: "*" })).to.include({ code: 403 });
  });

  it("requires RBAC for each part of the identity, and access to the workspace", async () => {
    const world = withBob();
    world.role("c", "eve", { verbs: ["impersonate"], apiGroups: [""], resources: ["users"], resourceNames: ["ada"] });
    world.bind("c", "eve", { to: "eve", subject: person("eve") });
    await using server = await start(world);
    const as = (more: Options["as"]) => server.ask("eve", PODS, { as: { user: "ada", ...more } });
    // As in Kubernetes, the message is about the first mode of constrained impersonation that applies, or else the verb itself.
    const constrained = `pods is forbidden: User "eve" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default": access denied`;
    expect(await as({})).to.deep.include({ code: 403, message: constrained });
    world.admit("c", person("eve"));
    expect(await as({})).to.include({ code: 200 });
    for (const more of [{ group: "g" }, { "extra-k": "v" }, { uid: "7" }])
      expect(await as(more)).to.deep.include({ code: 403, message: constrained });
    expect(await server.ask("eve", PODS, { as: { user: "bob" } })).to.deep.include({ code: 403, message: constrained });
    const account = await server.ask("eve", PODS, { as: { user: robot.name } });
    expect(account.message).to.contain('cannot impersonate-on:serviceaccount:list resource "pods"');
    expect((await server.ask("eve", PODS, { as: { user: robot.name, group: "g" } })).message).to.contain(
      'serviceaccounts "robot" is forbidden: User "eve" cannot impersonate resource "serviceaccounts"',
    );
  });

  it("is limited to some requests and identities by the verbs of constrained impersonation", async () => {
    const world = withBob();
    world.admit("c", person("eve"));
    const AUTHENTICATION = "authentication.k8s.io";
    let roles = 0;
    /** Gives eve a permission in `c`, for names if there are some. */
    const permit = (verb: string, resource: string, ...names: readonly string[]): void => {
      const role = `permit-${roles++}`;
      const apiGroups = [resource === "pods" ? "" : AUTHENTICATION];
      const resourceNames = names.length > 0 ? { resourceNames: names } : {};
      world.role("c", role, { verbs: [verb], apiGroups, resources: [resource], ...resourceNames });
      world.bind("c", role, { to: role, subject: person("eve") });
    };
    await using server = await start(world);
    const as = (identity: NonNullable<Options["as"]>, method = "GET") =>
      server.ask("eve", PODS, { as: identity, method });
    permit("impersonate:user-info", "users", "ada");
    expect((await as({ user: "ada" })).message, "of two permissions one is not enough").to.contain(
      "cannot impersonate-on:user-info:list",
    );
    permit("impersonate-on:user-info:list", "pods");
    expect(await as({ user: "ada" })).to.include({ code: 200 });
    expect((await as({ user: "ada" }, "DELETE")).message).to.contain(
      'cannot impersonate-on:user-info:deletecollection resource "pods"',
    );
    expect((await as({ user: "bob" })).message).to.contain(
      'users.authentication.k8s.io "bob" is forbidden: User "eve" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io"',
    );
    permit("impersonate:user-info", "groups", "g", "system:masters");
    expect(await as({ user: "ada", group: "g" })).to.include({ code: 200 });
    expect((await as({ user: "ada", group: "h" })).message).to.contain('groups.authentication.k8s.io "h" is forbidden');
    permit("impersonate:user-info", "userextras/acme.io/team", "red");
    expect(await as({ user: "ada", "extra-acme.io%2Fteam": ["red"] })).to.include({ code: 200 });
    expect((await as({ user: "ada", "extra-team": ["red"] })).message).to.contain(
      "impersonating an invalid key in extra is not allowed",
    );
    expect((await as({ user: robot.name })).message).to.contain("cannot impersonate-on:serviceaccount:list");
    permit("impersonate-on:serviceaccount:list", "pods");
    permit("impersonate:serviceaccount", "serviceaccounts", "robot");
    expect((await as({ user: robot.name })).message, "the account itself has no permission").to.contain(
      `User "${robot.name}" cannot list`,
    );
    expect((await as({ user: "system:node:n1" })).message).to.contain("cannot impersonate-on:arbitrary-node:list");
    await server.close(); // writes all events
    const events = server.events.filter(
      ({ impersonatedUser, stage }) => stage === "ResponseComplete" && impersonatedUser,
    );
    expect(
      new Set(events.map(({ authenticationMetadata }) => authenticationMetadata?.impersonationConstraint)),
    ).to.deep.equal(new Set(["impersonate:user-info", "impersonate:serviceaccount"]));
  });

  for (const group of [
    "system:masters",
    "system:kcp:admin",
    "system:kcp:logical-cluster-admin",
    "system:kcp:external-logical-cluster-admin",
    "system:kcp:tenancy:workspace-bootstrapper",
    "system:kcp:initializer:root:x",
    "system:kcp:terminator:root:x",
  ])
    it(`does not let non-members impersonate ${group}`, async () => {
      await using server = await start(withBob());
      expect(await server.ask("ada", PODS, { as: { user: "x", group } })).to.deep.include(refused);
      expect(await server.ask("eve", PODS, { as: { user: "x", group } })).to.deep.include(refused);
      const warrant = JSON.stringify({ user: "x", extra: { [WARRANT]: [JSON.stringify({ groups: [group] })] } });
      const as = { user: "x", "extra-authorization.kcp.io%2Fwarrant": warrant };
      expect(await server.ask("ada", PODS, { as })).to.deep.include(refused);
      expect((await server.ask("master", PODS, { as: { user: "x", group } })).message ?? "").not.to.equal(
        refused.message,
      );
    });

  it("lets members impersonate their own groups", async () => {
    await using server = await start(withBob());
    expect(await server.ask("kcp", PODS, { as: { user: "x", group: "system:kcp:admin" } })).to.include({ code: 200 });
    expect(await server.ask("ada", PODS, { as: { user: "ada", group: "system:authenticated" } })).to.include({
      code: 200,
    });
  });

  it("confines warrants, so that they have no effect in other workspaces", async () => {
    await using server = await start(withBob());
    const warrant = JSON.stringify({ user: "v", extra: { [WARRANT]: ['{"user":"w"}', "none"] } });
    const as = { user: "ada", "extra-authorization.kcp.io%2Fwarrant": warrant };
    const { status } = await server.ask("bob", whoami, { body: SELF, as });
    const confined = JSON.parse(status?.userInfo?.extra?.[WARRANT]?.[0] ?? "{}");
    expect(confined.extra[SCOPES]).to.deep.equal(["cluster:c"]);
    expect(confined.extra[WARRANT][1]).to.equal("none");
    expect(JSON.parse(confined.extra[WARRANT][0])).to.deep.equal({ user: "w", extra: { [SCOPES]: ["cluster:c"] } });
  });

  it("applies to the workspace's own service account, not to one of the same name elsewhere", async () => {
    const world = withBob();
    world.bind("c", "robot", {
      to: "cluster-admin",
      subject: { kind: "ServiceAccount", name: "robot", namespace: "default" },
    });
    world.role("d", "sa", { verbs: ["impersonate"], apiGroups: [""], resources: ["serviceaccounts"] });
    world.bind("d", "sa", { to: "sa", subject: person("bob") });
    world.admit("d", person("bob"));
    await using server = await start(world);
    expect(await server.ask("robot", PODS)).to.include({ code: 200 });
    expect(await server.ask("robot", PODS, { cluster: "d" })).to.include({ code: 403 });
    expect(await server.ask("bob", PODS, { as: { user: robot.name } })).to.include({ code: 200 });
    expect(await server.ask("bob", PODS, { as: { user: robot.name }, cluster: "d" })).to.include({ code: 403 });
  });
});

describe("SelfSubjectAccessReview", () => {
  it("agrees with the response to the request, for each verb", async () => {
    await using server = await start(withBob());
    const seen = new Set<boolean>();
    for (const user of Object.keys(USERS))
      for (const cluster of ["c", "d"])
        for (const [verb, method, name] of [
          ["get", "GET", "one"],
          ["list", "GET", ""],
          ["delete", "DELETE", "two"],
          ["deletecollection", "DELETE", ""],
        ] as const) {
          const resourceAttributes = { verb, resource: "pods", namespace: "default", name };
          const body = {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes },
          };
          const path = `${PODS}${name === "" ? "" : `/${name}`}?dryRun=${verb.startsWith("delete") ? "nonsense" : ""}`;
          const reviewed = await server.ask(user, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
            body,
            cluster,
          });
          const { code } = await server.ask(user, path, { method, cluster });
          expect(reviewed.status?.allowed, `${user} ${verb} in ${cluster}: ${code}`).to.equal(code !== 403);
          if (code === 403) expect(reviewed.status?.reason).to.equal("access denied");
          seen.add(code !== 403);
        }
    expect(seen.size).to.equal(2);
  });
});
