// The file of --authorization-config: what is read, and Kubernetes' errors.
import { authorizationConfiguration } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n";
const WEBHOOK = {
  timeout: "3s",
  subjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/etc/hook.kubeconfig" },
};
const RBAC = { type: "RBAC", name: "rbac" };

const read = (authorizers: unknown) => authorizationConfiguration(`${HEAD}authorizers: ${JSON.stringify(authorizers)}`);
const readHook = (webhook: object) => read([{ type: "Webhook", name: "hook", webhook: { ...WEBHOOK, ...webhook } }]);
/** Returns the message without its prefix. */
function failure(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    return (error as Error).message.replace(/^authorization configuration: /, "");
  }
  return "no error";
}

describe("authorizationConfiguration", () => {
  it("reads authorizers in their order, with Kubernetes' defaults", () => {
    const { authorizers } = read([
      { type: "Webhook", name: "first", webhook: WEBHOOK },
      RBAC,
      {
        type: "Webhook",
        name: "second",
        webhook: { ...WEBHOOK, cacheAuthorizedRequests: false, unauthorizedTTL: "1m" },
      },
    ]);
    expect(authorizers.map(({ type, name }) => `${type} ${name}`)).to.deep.equal([
      "Webhook first",
      "RBAC rbac",
      "Webhook second",
    ]);
    const [first, , second] = authorizers.map((one) => (one.type === "Webhook" ? one.webhook : undefined));
    expect(first).to.include({
      authorizedTTL: 300_000,
      unauthorizedTTL: 30_000,
      timeout: 3_000,
      subjectAccessReviewVersion: "v1",
      failurePolicy: "Deny",
    });
    expect(first?.matchConditions.isEmpty).to.equal(true);
    expect(second).to.include({ authorizedTTL: 0, unauthorizedTTL: 60_000 });
  });

  it("compiles match conditions over the spec of a SubjectAccessReview", () => {
    const { authorizers } = readHook({
      matchConditionSubjectAccessReviewVersion: "v1",
      matchConditions: [
        { expression: "has(request.resourceAttributes)" },
        { expression: "request.resourceAttributes.namespace == 'prod' && !('ops' in request.groups)" },
      ],
    });
    const [one] = authorizers;
    const holds = (request: object) => one?.type === "Webhook" && one.webhook.matchConditions.hold({ request });
    const resourceAttributes = { namespace: "prod", verb: "get", resource: "pods" };
    expect(holds({ user: "ann", groups: ["dev"], resourceAttributes })).to.equal(true);
    expect(holds({ user: "ann", groups: ["ops"], resourceAttributes })).to.equal(false);
    expect(holds({ user: "ann", groups: ["dev"], nonResourceAttributes: { path: "/", verb: "get" } })).to.equal(false);
    expect(() => holds({ user: "ann", resourceAttributes })).to.throw("no such key");
  });

  for (const [what, make, text] of [
    ["no authorizer", () => read([]), "authorizers: Required value: at least one authorization mode must be defined"],
    ["a missing type", () => read([{ name: "a" }]), "authorizers[0].type: Required value"],
    [
      "an unknown type",
      () => read([{ type: "Node", name: "a" }]),
      'authorizers[0].type: Unsupported value: "Node": supported values: "RBAC", "Webhook"',
    ],
    ["RBAC twice", () => read([RBAC, RBAC]), 'authorizers[1].type: Duplicate value: "RBAC"'],
    ["a missing name", () => read([{ type: "RBAC" }]), "authorizers[0].name: Required value"],
    [
      "a name twice",
      () => read([RBAC, { type: "Webhook", name: "rbac", webhook: WEBHOOK }]),
      'authorizers[1].name: Duplicate value: "rbac"',
    ],
    [
      "RBAC with a webhook",
      () => read([{ ...RBAC, webhook: WEBHOOK }]),
      'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ],
    [
      "a webhook without its part",
      () => read([{ type: "Webhook", name: "a" }]),
      "authorizers[0].webhook: Required value: required when type=Webhook",
    ],
    [
      "a webhook without anything",
      () => read([{ type: "Webhook", name: "a", webhook: {} }]),
      "[authorizers[0].webhook.timeout: Required value, authorizers[0].webhook.subjectAccessReviewVersion: Required value, authorizers[0].webhook.failurePolicy: Required value, authorizers[0].webhook.connectionInfo.type: Required value]",
    ],
    [
      "a time limit above 30 s",
      () => readHook({ timeout: "31s" }),
      'authorizers[0].webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ],
    [
      "a cache of more than a day",
      () => readHook({ authorizedTTL: "25h" }),
      'authorizers[0].webhook.authorizedTTL: Invalid value: "25h": must be > 0s and <= 24h',
    ],
    [
      "a text that is no duration",
      () => readHook({ authorizedTTL: "soon" }),
      'authorizers[0].webhook.authorizedTTL: Invalid value: "soon": must be a duration such as 30s or 5m',
    ],
    [
      "a relative kubeconfig",
      () => readHook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "hook.kubeconfig" } }),
      'authorizers[0].webhook.connectionInfo.kubeConfigFile: Invalid value: "hook.kubeconfig": must be an absolute path',
    ],
    [
      "the configuration of a cluster around it",
      () => readHook({ connectionInfo: { type: "InClusterConfig" } }),
      'authorizers[0].webhook.connectionInfo.type: Unsupported value: "InClusterConfig": supported values: "KubeConfigFile"',
    ],
    [
      "conditions without their version",
      () => readHook({ matchConditions: [{ expression: "true" }] }),
      "authorizers[0].webhook.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
    ],
    [
      "a condition that is no bool",
      () =>
        readHook({ matchConditionSubjectAccessReviewVersion: "v1", matchConditions: [{ expression: "request.user" }] }),
      'authorizers[0].webhook.matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool',
    ],
    [
      "an unknown field",
      () => readHook({ timeouts: "3s" }),
      'strict decoding error: unknown field "authorizers[0].webhook.timeouts"',
    ],
    [
      "another kind",
      () => authorizationConfiguration(HEAD.replace("AuthorizationC", "AuthenticationC")),
      'no kind "AuthenticationConfiguration" is registered for version "apiserver.config.k8s.io/v1"',
    ],
  ] as const)
    it(`rejects ${what}`, () => {
      expect(failure(make)).to.equal(text);
    });
});
