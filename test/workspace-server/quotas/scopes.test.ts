// Scopes of quotas: validated as in Kubernetes, and a quota that has some limits nothing, as in kcp.
import { expect } from "chai";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { type Hard, makeMap, quotasIn, untilRootCa } from "./support.ts";

const ADMIN = { user: "admin" } as const;

describe("the scopes of a quota", () => {
  let server: Workspaces;
  let cluster: string;
  before(async () => {
    server = await startWorkspaces();
    cluster = await makeWorkspace(server, "org");
    await untilRootCa(server, cluster);
  });
  after(() => server[Symbol.asyncDispose]());

  const make = (name: string, spec: object) =>
    server.send(
      `POST ${quotasIn(cluster)}`,
      { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec },
      ADMIN,
    );
  const selecting = (...matchExpressions: readonly object[]) => ({ scopeSelector: { matchExpressions } });

  it("are stored where they fit the resources, and limit nothing, which a warning says", async () => {
    const warning = (field: string): string =>
      `299 - "spec.${field}: not enforced: remove it, because this server limits nothing by a quota with scopes"`;
    const pods = `299 - "spec.hard[pods]: not enforced: use count/<resource>.<group>, because this server only counts objects"`;
    const cases: readonly (readonly [object, Hard, string])[] = [
      [{ scopes: ["Terminating"] }, { "count/configmaps": "0" }, warning("scopes")],
      [{ scopes: ["BestEffort"] }, { pods: "1" }, `${pods}, ${warning("scopes")}`],
      [
        selecting({ scopeName: "PriorityClass", operator: "In", values: ["high"] }),
        { "count/configmaps": "0" },
        warning("scopeSelector"),
      ],
      [
        selecting({ scopeName: "VolumeAttributesClass", operator: "Exists" }),
        { persistentvolumeclaims: "0" },
        warning("scopeSelector"),
      ],
    ];
    for (const [at, [scope, hard, warned]] of cases.entries()) {
      const made = await make(`fit-${at}`, { ...scope, hard });
      expect([made.status, made.headers["warning"]], made.text).to.deep.equal([201, warned]);
      expect(made.body.spec).to.deep.include(scope);
    }
    expect((await makeMap(server, cluster, "a")).status).to.equal(201);
    const read = await server.get(`${quotasIn(cluster)}/fit-0`, ADMIN);
    const changed = { ...read.body, spec: { hard: { "count/configmaps": "0" } } };
    const { status, body } = await server.send(`PUT ${quotasIn(cluster)}/fit-0`, changed, ADMIN);
    expect([status, body.details.causes[0].message]).to.deep.equal([422, "Invalid value: null: field is immutable"]);
  });

  for (const { title, spec, causes } of [
    {
      title: "for a resource that has none of the scope",
      spec: { scopes: ["BestEffort"], hard: { configmaps: "1", "requests.cpu": "1", pods: "1" } },
      causes: Array.from({ length: 2 }, () => 'spec.scopes: ["BestEffort"]: unsupported scope applied to resource'),
    },
    {
      title: "with an unknown name",
      spec: { scopes: ["Small"], hard: { pods: "1" } },
      causes: ['spec.scopes: ["Small"]: unsupported scope'],
    },
    {
      title: "that exclude each other",
      spec: { scopes: ["Terminating", "NotTerminating"], hard: { pods: "1" } },
      causes: ['spec.scopes: ["Terminating","NotTerminating"]: conflicting scopes'],
    },
    {
      title: "that a selector must not compare",
      spec: {
        ...selecting({ scopeName: "Terminating", operator: "In", values: ["a"] }),
        hard: { pods: "1" },
      },
      causes: [
        "spec.scopeSelector.matchExpressions.operator: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ],
    },
    {
      title: "whose selector lacks values, has needless ones, or an unknown operator",
      spec: {
        ...selecting(
          { scopeName: "PriorityClass", operator: "NotIn" },
          { scopeName: "PriorityClass", operator: "Exists", values: ["a"] },
          { scopeName: "PriorityClass", operator: "Equals" },
          { scopeName: "Small", operator: "Exists" },
        ),
        hard: { pods: "1" },
      },
      causes: [
        "spec.scopeSelector.matchExpressions.values: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        "spec.scopeSelector.matchExpressions.values: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        'spec.scopeSelector.matchExpressions.operator: "Equals": not a valid selector operator',
        'spec.scopeSelector.matchExpressions.scopeName: "Small": unsupported scope',
      ],
    },
  ])
    it(`are 422 ${title}`, async () => {
      const { status, body } = await make("unfit", spec);
      expect(status, JSON.stringify(body)).to.equal(422);
      const found = body.details.causes.map(
        ({ field, message }: { field: string; message: string }) =>
          `${field}: ${message.replace(/^(Invalid|Required) value(: )?/, "").replace(/^: /, "")}`,
      );
      expect(found).to.deep.equal(causes);
    });
});
