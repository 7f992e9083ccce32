// Runs the suite's checks of identities and reviews on servers that differ in users, rules and reviews.
import {
  type Authorizer,
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { rbac } from "@virtual-workspaces/framework/authz";
import {
  type CheckResult,
  type ConformanceOptions,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { createAuthority } from "../../_support/server.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: { type: "object" },
});
const Shelf = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Shelf",
  plural: "shelves",
  scope: "Cluster",
  spec: { type: "object" },
});

function viewOf(authorize: Authorizer<unknown>): VirtualWorkspace {
  const resources = [Note.serve(Note.collection()), Shelf.serve(Shelf.collection())];
  return defineVirtualWorkspace({ name: "view", path: "/clusters/:cluster", authorize, resources });
}

const open = viewOf(() => allow());
const users = staticTokens({ bob: { name: "bob" }, again: { name: "tester" } });

interface Served {
  readonly view: VirtualWorkspace;
  readonly server?: Parameters<typeof startTestServer>[1];
  readonly run?: Partial<ConformanceOptions>;
}

/** Returns the results of T12, T13 and T20, by id. */
async function verdicts({ view, server, run }: Served): Promise<Readonly<Record<string, string>>> {
  await using started = await startTestServer([view], {
    log: testLog().log,
    authentication: [users],
    ...server,
  });
  const { results } = await runConformance({
    url: `${started.url}/services/view/clusters/root`,
    credentials: started.credentials,
    checks: isIdentity,
    ...run,
  });
  return byId(results);
}

const isIdentity = (id: string): boolean => /^T(12|13|20)\./.test(id);

function byId(results: readonly CheckResult[]): Readonly<Record<string, string>> {
  const told = ({ outcome, reason, failure }: CheckResult): string =>
    [outcome, reason ?? (failure && JSON.stringify(failure))].filter((part) => part !== undefined).join(": ");
  return Object.fromEntries(
    results.map((result) => [[result.id, result.resource].filter(Boolean).join(" "), told(result)]),
  );
}

describe("the suite's checks of identities", function () {
  this.timeout(30_000);

  it("need other users, with other names", async () => {
    const alone = await verdicts({ view: open });
    expect(alone["T12.1"]).to.equal("skipped: needs the credentials of other users (others)");
    const same = await verdicts({ view: open, run: { others: [{ token: "again" }] } });
    expect(same["T12.1"]).to.equal("skipped: needs users with different names, but all are tester");
  });

  it("report an invalid token of another user", async () => {
    const found = await verdicts({ view: open, run: { others: [{ token: "expired" }] } });
    expect(found["T12.1"]).to.match(/^failed: .*"expected":"200 or 201","actual":"401 /);
  });

  it("pass when impersonation is allowed", async () => {
    const found = await verdicts({ view: open, server: { impersonation: () => allow() } });
    expect([found["T13.3"], found["T13.4"]]).to.deep.equal(["passed", "passed"]);
  });

  it("are skipped on a server without reviews", async () => {
    const view = defineVirtualWorkspace({
      name: "view",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      handle: (_req, res) => void res.writeHead(404).end(),
    });
    const found = await verdicts({ view, run: { others: [{ token: "bob" }] } });
    for (const id of ["T12.1", "T13.1", "T13.3", "T13.4", "T20.4"])
      expect(found[id], id).to.match(/^skipped: the server does not serve reviews: .* is 404$/);
    expect([found["T13.2"], found["T13.5"]]).to.deep.equal(["passed", "passed"]);
  });

  it("pass for users with client certificates among users with tokens", async () => {
    const authority = createAuthority();
    const [alice, carol] = ["alice", "carol"].map((name) => authority.client(name, []));
    await using server = createServer({
      virtualWorkspaces: [open],
      authentication: [clientCertificates({ ca: authority.ca }), users],
      tls: { ...authority.server, clientCa: authority.ca },
      log: testLog().log,
    });
    const { url } = await server.listen({ port: 0 });
    const certificate = (of: typeof alice): object => ({ clientCert: of?.cert, clientKey: of?.key });
    const { results } = await runConformance({
      url: `${url}/services/view/clusters/root`,
      credentials: { ca: authority.ca, ...certificate(alice) },
      others: [{ token: "bob" }, certificate(carol), { token: "again" }],
      checks: isIdentity,
    });
    const found = byId(results);
    expect(found["T13.5"]).to.equal("skipped: the run has no token");
    expect([found["T12.1"], found["T13.1"], found["T13.2"]]).to.deep.equal(["passed", "passed", "passed"]);
  });
});

describe("the suite's checks of reviews", function () {
  this.timeout(30_000);
  const RULES = ["T20.1", "T20.2", "T20.3"];
  const [NOTES, SHELVES] = ["notes.v1.example.dev", "shelves.v1.example.dev"];
  /** The tester may use these verbs everywhere or in one namespace, and every user may read discovery. */
  const roles = (binding: "ClusterRoleBinding" | "RoleBinding", verbs: readonly string[]): Authorizer<unknown> => {
    const roleRef = { kind: "ClusterRole", name: "reader" } as const;
    const bound = { roleRef, subjects: [{ kind: "User", name: "tester" }] } as const;
    const apiGroups = ["example.dev"];
    return rbac({
      objects: [
        { kind: "ClusterRole", metadata: { name: "paths" }, rules: [{ nonResourceURLs: ["*"], verbs: ["get"] }] },
        {
          kind: "ClusterRoleBinding",
          metadata: { name: "paths" },
          roleRef: { kind: "ClusterRole", name: "paths" },
          subjects: [{ kind: "Group", name: "system:authenticated" }],
        },
        {
          kind: "ClusterRole",
          metadata: { name: "reader" },
          rules: [{ apiGroups, resources: ["notes", "shelves"], verbs }],
        },
        binding === "RoleBinding"
          ? { kind: binding, metadata: { name: "reader", namespace: "default" }, ...bound }
          : { kind: binding, metadata: { name: "reader" }, ...bound },
      ],
    });
  };

  const rules: Readonly<Record<string, Authorizer<unknown>>> = {
    "everything is allowed": roles("ClusterRoleBinding", ["*"]),
    "get is allowed and list is not": roles("ClusterRoleBinding", ["get"]),
    "list is allowed and get is not": roles("ClusterRoleBinding", ["list"]),
    "one namespace is allowed": roles("RoleBinding", ["list", "get"]),
    "neither is allowed": roles("ClusterRoleBinding", ["create"]),
  };
  for (const [what, authorize] of Object.entries(rules))
    it(`pass when ${what}`, async () => {
      const found = await verdicts({ view: viewOf(authorize) });
      for (const resource of [NOTES, SHELVES])
        for (const id of RULES) expect(found[`${id} ${resource}`], `${id} ${resource}`).to.equal("passed");
    });

  it("are skipped when a rule fails or cannot list its permissions", async () => {
    const failing: Authorizer<unknown> = ({ isResource, resource }) => {
      if (!isResource) return allow();
      if (resource === "notes") throw new Error("broken");
      return deny("no");
    };
    const log = (): void => undefined;
    const found = await verdicts({ view: viewOf(failing), server: { log } });
    expect(found[`T20.1 ${NOTES}`]).to.match(/^skipped: the review could not be evaluated: /);
    expect(found[`T20.1 ${SHELVES}`]).to.equal("passed");
    expect(found[`T20.3 ${SHELVES}`]).to.equal("skipped: the rules review is marked incomplete");
  });
});
