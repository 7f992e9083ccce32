// Why: defaults and validation of webhook configurations are those of Kubernetes.
import { expect } from "chai";
import { type PlainServer, startPlain } from "../../_support/plain.ts";
import { KINDS, kindsView } from "./served.ts";

const GROUP = "admissionregistration.k8s.io/v1";
const url = (plural: string) => `${KINDS}/apis/${GROUP}/${plural}` as const;
const VALIDATING = "validatingwebhookconfigurations";
const MUTATING = "mutatingwebhookconfigurations";
const RULE = { operations: ["CREATE"], apiGroups: ["example.dev"], apiVersions: ["v1"], resources: ["quotes"] };
const HOOK = {
  name: "quotes.example.dev",
  clientConfig: { url: "https://hook.example.dev/quotes" },
  rules: [RULE],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const service = (more: object = {}): object => ({ clientConfig: { service: { name: "a", namespace: "b", ...more } } });
const rule = (more: object): object => ({ rules: [{ ...RULE, ...more }] });
const condition = (expression: string, name = "a"): object => ({ matchConditions: [{ name, expression }] });

/** Fields of a webhook, and the message about `webhooks[0].` that Kubernetes has. */
const REFUSED: readonly (readonly [fields: object, message: string])[] = [
  [{ name: "" }, "name: Required value"],
  [
    { name: "quotes" },
    'name: Invalid value: "quotes": should be a domain with at least three segments separated by dots',
  ],
  [{ sideEffects: undefined }, "sideEffects: Required value: must specify one of None, NoneOnDryRun"],
  [{ sideEffects: "Some" }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  [{ timeoutSeconds: 31 }, "timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  [{ timeoutSeconds: 0 }, "timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"],
  [{ failurePolicy: "Maybe" }, 'failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
  [{ matchPolicy: "Some" }, 'matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"'],
  [{ clientConfig: {} }, "clientConfig: Required value: exactly one of url or service is required"],
  [
    { clientConfig: { url: "http://a.dev" } },
    "clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
  ],
  [
    { clientConfig: { url: "https://u:p@a.dev" } },
    'clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
  ],
  [
    { clientConfig: { url: "https://a.dev/?a=b" } },
    'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
  ],
  [
    { clientConfig: { url: "https://a.dev/#c" } },
    'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
  ],
  [
    { clientConfig: { url: "https:///path" } },
    'clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
  ],
  [service({ name: "" }), "clientConfig.service.name: Required value"],
  [
    service({ port: 0 }),
    "clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
  ],
  [service({ path: "a" }), "clientConfig.service.path: Invalid value: \"a\": must start with a '/'"],
  [service({ path: "/a//b" }), 'clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
  [{ admissionReviewVersions: [] }, "admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
  [
    { admissionReviewVersions: ["v2"] },
    'admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  ],
  [{ admissionReviewVersions: ["v1", "v1"] }, 'admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
  [rule({ operations: [] }), "rules[0].operations: Required value"],
  [
    rule({ operations: ["*", "CREATE"] }),
    'rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
  ],
  [
    rule({ operations: ["PATCH"] }),
    'rules[0].operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [rule({ apiGroups: [] }), "rules[0].apiGroups: Required value"],
  [rule({ apiVersions: [""] }), "rules[0].apiVersions[0]: Required value"],
  [
    rule({ resources: ["*/*", "quotes"] }),
    'rules[0].resources: Invalid value: ["*/*","quotes"]: if \'*/*\' is present, must not specify other resources',
  ],
  [
    rule({ resources: ["quotes/*", "quotes/status"] }),
    "rules[0].resources[1]: Invalid value: \"quotes/status\": if 'quotes/*' is present, must not specify quotes/status",
  ],
  [
    rule({ scope: "Some" }),
    'rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"',
  ],
  [
    { objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    "objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [condition(""), "matchConditions[0].expression: Required value"],
  [condition("true", "a b"), 'matchConditions[0].name: Invalid value: "a b": name part must consist of'],
  [condition("object.spec"), 'matchConditions[0].expression: Invalid value: "object.spec": must evaluate to bool'],
  [condition("params.a == 1"), 'matchConditions[0].expression: Invalid value: "params.a == 1": compilation failed:'],
  [condition("request.nmae == ''"), "undefined field 'nmae'"],
];

describe("webhook configurations", () => {
  let server: PlainServer;
  before(async () => {
    server = await startPlain([kindsView()]);
  });
  after(() => server[Symbol.asyncDispose]());

  const make = (kind: string, name: string, webhooks: readonly object[]) => {
    const plural = `${kind.toLowerCase()}s`;
    return server.send(`POST ${url(plural)}`, { apiVersion: GROUP, kind, metadata: { name }, webhooks });
  };

  it("get Kubernetes' defaults, and a generation that counts changes of the webhooks", async () => {
    const { status, body } = await make("MutatingWebhookConfiguration", "defaults", [{ ...HOOK, ...service() }]);
    expect(status).to.equal(201);
    expect(body.metadata.generation).to.equal(1);
    expect(body.webhooks).to.deep.equal([
      {
        ...HOOK,
        clientConfig: { service: { name: "a", namespace: "b", port: 443 } },
        rules: [{ ...RULE, scope: "*" }],
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        reinvocationPolicy: "Never",
      },
    ]);
    const labeled = { ...body, metadata: { ...body.metadata, labels: { a: "b" } } };
    const same = await server.send(`PUT ${url(MUTATING)}/defaults`, labeled);
    expect(same.body.metadata.generation).to.equal(1);
    const changed = await server.send(`PUT ${url(MUTATING)}/defaults`, { ...same.body, webhooks: [HOOK] });
    expect([changed.status, changed.body.metadata.generation]).to.deep.equal([200, 2]);
    const validating = await make("ValidatingWebhookConfiguration", "defaults", [HOOK]);
    expect(validating.body.webhooks[0]).to.not.have.property("reinvocationPolicy");
  });

  for (const [fields, message] of REFUSED)
    it(`are rejected with ${message.slice(0, 80)}`, async () => {
      const { status, body } = await make("ValidatingWebhookConfiguration", "refused", [{ ...HOOK, ...fields }]);
      expect([status, body.reason], body.message).to.deep.equal([422, "Invalid"]);
      expect(body.message).to.contain("webhooks[0].").and.to.contain(message);
    });

  it("may not name two webhooks alike", async () => {
    const { status, body } = await make("MutatingWebhookConfiguration", "twice", [HOOK, HOOK]);
    expect(status).to.equal(422);
    expect(body.message).to.contain('webhooks[1].name: Duplicate value: "quotes.example.dev"');
  });

  it("may not use the variable authorizer, which has no value in a workspace", async () => {
    const matchConditions = [{ name: "a", expression: "authorizer.path('/a').check('get').allowed()" }];
    const { status, body } = await make("ValidatingWebhookConfiguration", "authorizer", [{ ...HOOK, matchConditions }]);
    expect(status).to.equal(422);
    expect(body.message).to.contain("undeclared reference to");
  });

  it("are listed with the number of their webhooks", async () => {
    await make("ValidatingWebhookConfiguration", "listed", [HOOK, { ...HOOK, name: "other.example.dev" }]);
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { body } = await server.get(`${url(VALIDATING)}/listed`, { headers });
    expect(body.rows[0].cells.slice(0, 2)).to.deep.equal(["listed", 2]);
  });
});
