// Why: kcp fills in the rules of aggregated ClusterRoles in every workspace, and clients read them there.
import { memoryStore } from "@virtual-workspaces/store";
import { ClusterRole } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { ensure } from "../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../packages/workspace-server/src/state/objects.ts";
import { outcome } from "../../_support/plain.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLES = `/apis/${GROUP}/v1/clusterroles`;
const LABEL = "example.dev/aggregate-to-sum";

const rule = (resource: string, ...verbs: string[]): object => ({ verbs, apiGroups: [""], resources: [resource] });
const role = (name: string, content: object, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: "ClusterRole",
  metadata: { name, labels },
  ...content,
});
const sum = (name: string, ...labels: string[]): object => ({
  ...role(name, {
    aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: "true" } })) },
    rules: [rule("pods", "get")],
  }),
});

describe("aggregated ClusterRoles", () => {
  let server: Workspaces;
  let client: ClusterClient;

  before(async () => {
    server = await startWorkspaces();
    client = new ClusterClient(server, await makeWorkspace(server, "team"));
  });
  after(() => server[Symbol.asyncDispose]());

  const rules = (name: string, wanted: readonly object[]): Promise<unknown> =>
    client.until(`${ROLES}/${name}`, ({ body }) => JSON.stringify(body.rules) === JSON.stringify(wanted));

  it("have the rules of the roles that match, each once, as these come, change and go", async () => {
    await client.create(ROLES, sum("sum", LABEL));
    await rules("sum", []);
    const [read, write] = [rule("configmaps", "get"), rule("secrets", "update")];
    await client.create(ROLES, role("b", { rules: [write, read] }, { [LABEL]: "true" }));
    await rules("sum", [write, read]);
    await client.create(ROLES, role("a", { rules: [read] }, { [LABEL]: "true" }));
    await rules("sum", [read, write]);
    await client.patch(`${ROLES}/b`, { rules: [rule("events", "list")] });
    await rules("sum", [read, rule("events", "list")]);
    await client.patch(`${ROLES}/a`, { metadata: { labels: { [LABEL]: null } } });
    await rules("sum", [rule("events", "list")]);
    await client.patch(`${ROLES}/sum`, { rules: [write] });
    await rules("sum", [rule("events", "list")]);
    await client.delete(`${ROLES}/b`);
    await rules("sum", []);
  });

  it("include aggregated roles", async () => {
    await client.create(ROLES, sum("outer", "example.dev/outer"));
    const inner = sum("inner", "example.dev/inner") as { metadata: Body };
    await client.create(ROLES, { ...inner, metadata: { name: "inner", labels: { "example.dev/outer": "true" } } });
    const wanted = rule("leases", "get");
    await client.create(ROLES, role("leaf", { rules: [wanted] }, { "example.dev/inner": "true" }));
    await rules("outer", [wanted]);
    await client.patch(`${ROLES}/inner`, { aggregationRule: null });
    await client.delete(`${ROLES}/leaf`);
    await rules("outer", [wanted]);
  });

  const REFUSED: readonly (readonly [selectors: object[], message: string])[] = [
    [
      [],
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ],
    [
      [{}, { matchExpressions: [{ key: "a", operator: "Foo" }] }],
      '[aggregationRule.clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator, aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.]',
    ],
  ];
  for (const [clusterRoleSelectors, message] of REFUSED)
    it(`are rejected with the selectors ${JSON.stringify(clusterRoleSelectors)}`, async () => {
      const answer = await client.send("POST", ROLES, role("x", { aggregationRule: { clusterRoleSelectors } }));
      const rejection = `ClusterRole.${GROUP} "x" is invalid: ${message}`;
      expect(outcome(answer)).to.deep.equal([422, "Invalid", rejection]);
    });

  it("with an invalid selector that an earlier version has stored neither stop the server nor permit anything", async () => {
    const store = memoryStore();
    {
      using objects = new ShardObjects(store);
      const bad = { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "Foo" }] }] };
      const key = { cluster: "root", namespace: "", name: "bad" };
      await ensure(objects.of(ClusterRole), key, () => ({ aggregationRule: bad as never, rules: [] }));
    }
    await using other = await startWorkspaces(store);
    const root = new ClusterClient(other);
    await root.create(ROLES, role("leaf", { rules: [rule("configmaps", "get")] }, { a: "b" }));
    await root.create(ROLES, { ...sum("good", LABEL) });
    const { body } = await root.until(`${ROLES}/good`, ({ body: found }) => found.rules.length === 0);
    expect(body.rules).to.deep.equal([]);
    expect((await root.get(`${ROLES}/bad`)).body.rules).to.deep.equal([]);
  });

  it("of Kubernetes keep their rules over a restart", async () => {
    const store = memoryStore();
    const read = async (held: Workspaces): Promise<Body> =>
      (
        await new ClusterClient(held, "system:admin").until(`${ROLES}/admin`, ({ body }) =>
          body.rules?.some((one: Body) => one.resources.includes("secrets")),
        )
      ).body;
    const first = await startWorkspaces(store);
    const { body: edit } = await new ClusterClient(first, "system:admin").until(
      `${ROLES}/edit`,
      ({ body }) => body.rules?.length > 10,
    );
    await read(first);
    await first[Symbol.asyncDispose]();
    await using second = await startWorkspaces(store);
    const { body } = await new ClusterClient(second, "system:admin").get(`${ROLES}/edit`);
    expect(body.metadata.resourceVersion).to.equal(edit.metadata.resourceVersion);
  });

  it("of Kubernetes show what they permit", async () => {
    const shipped = new ClusterClient(server, "system:admin");
    const resources = async (name: string): Promise<string[]> => {
      const { body } = await shipped.until(`${ROLES}/${name}`, ({ body: found }) => found.rules?.length > 0);
      return body.rules.flatMap((one: Body) => one.resources);
    };
    expect(await resources("view"))
      .to.include("configmaps")
      .and.not.include("secrets");
    expect(await resources("edit")).to.include.members(["secrets", "serviceaccounts/token"]);
    await shipped.until(`${ROLES}/admin`, ({ body }) =>
      ["rolebindings", "secrets"].every((name) => body.rules?.some((one: Body) => one.resources.includes(name))),
    );
  });
});
