// create of a ConfigMap where webhooks and policies have no matching rule, where another workspace has some, and where a policy
// allows it, against none
import assert from "node:assert/strict";
import { fetchOnce } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { Admission } from "./_servers/admission.ts";

const ROUNDS = 20;
const NAMES = ["none", "elsewhere", "unmatched", "judged"] as const;
type Name = (typeof NAMES)[number];

const HEADERS = { Authorization: "Bearer bench-token", "Content-Type": "application/json" };
const MAPS = "/clusters/root/api/v1/namespaces/default/configmaps";
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "m-" }, data: { text: "x".repeat(1900) } };
const request = writeRequest(`POST ${MAPS}?dryRun=All`, JSON.stringify(map), HEADERS);

await using none = await Remote.start<Admission>("admission");
await using elsewhere = await Remote.start<Admission>("admission");
await using unmatched = await Remote.start<Admission>("admission");
await using judged = await Remote.start<Admission>("admission");
const servers: Readonly<Record<Name, Remote<Admission>>> = { none, elsewhere, unmatched, judged };
const ports: Readonly<Record<Name, number>> = {
  none: await none.ask("listen"),
  elsewhere: await elsewhere.ask("listen"),
  unmatched: await unmatched.ask("listen"),
  judged: await judged.ask("listen"),
};
await configure("elsewhere", "system:admin");
await configure("unmatched", "root");
await decide("judged", "root", { resource: "configmaps", expression: "size(object.data.text) < 5000" });
await check();
await interleave(NAMES, 1, (name) => measure(name, 2000));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const rival = "no configuration on the server";
report("admission", [
  figure({
    what: "CPU per create, ten webhooks and ten policies without a matching rule",
    value: rounds.ratio(["unmatched", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.03,
  }),
  figure({
    what: "CPU per create, ten webhooks and ten policies in another workspace",
    value: rounds.ratio(["elsewhere", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.03,
  }),
  figure({
    what: "CPU per create that a policy allows",
    value: rounds.ratio(["judged", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.5,
  }),
  figure({ what: "CPU per create without configurations", value: rounds.of("none", "cpu"), unit: "µs" }),
]);

/** Creates five mutating and five validating webhooks, and as many policies, for Secrets. */
async function configure(name: Name, cluster: string): Promise<void> {
  for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]) {
    const webhooks = Array.from({ length: 5 }, (_, at) => ({
      name: `w${at}.example.dev`,
      clientConfig: { url: "https://webhook.example/" },
      rules: [ruleFor("secrets")],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }));
    await create({ name, cluster, plural: `${kind.toLowerCase()}s` }, { kind, metadata: { name: "bench" }, webhooks });
  }
  for (let at = 0; at < 5; at++) {
    await decide(name, cluster, { resource: "secrets", expression: "true", policy: `p${at}` });
    const metadata = { name: `p${at}` };
    const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }];
    const matchConstraints = { resourceRules: [ruleFor("secrets", ["CREATE"])] };
    await create(
      { name, cluster, plural: "mutatingadmissionpolicies" },
      { kind: "MutatingAdmissionPolicy", metadata, spec: { matchConstraints, mutations, reinvocationPolicy: "Never" } },
    );
    await create(
      { name, cluster, plural: "mutatingadmissionpolicybindings" },
      { kind: "MutatingAdmissionPolicyBinding", metadata, spec: { policyName: `p${at}` } },
    );
  }
}

interface Decided {
  readonly resource: string;
  readonly expression: string;
  readonly policy?: string;
}

/** Creates a policy that validates, with its binding. */
async function decide(name: Name, cluster: string, { resource, expression, policy = "p" }: Decided): Promise<void> {
  const metadata = { name: policy };
  const matchConstraints = { resourceRules: [ruleFor(resource)] };
  await create(
    { name, cluster, plural: "validatingadmissionpolicies" },
    { kind: "ValidatingAdmissionPolicy", metadata, spec: { matchConstraints, validations: [{ expression }] } },
  );
  await create(
    { name, cluster, plural: "validatingadmissionpolicybindings" },
    {
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: policy, validationActions: ["Deny"] },
    },
  );
}

function ruleFor(resource: string, operations: readonly string[] = ["*"]): object {
  return { operations, apiGroups: [""], apiVersions: ["*"], resources: [resource] };
}

interface Place {
  readonly name: Name;
  readonly cluster: string;
  readonly plural: string;
}

async function create({ name, cluster, plural }: Place, object: object): Promise<void> {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const path = `/clusters/${cluster}/apis/${apiVersion}/${plural}`;
  const sent = JSON.stringify({ apiVersion, ...object });
  const { status, body } = await fetchOnce(ports[name], writeRequest(`POST ${path}`, sent, HEADERS));
  assert.equal(status, 201, body.toString());
}

/** The configurations work where they are: a Secret is not created, because no webhook can be called. */
async function check(): Promise<void> {
  const secret = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { generateName: "s-" } });
  const path = MAPS.replace("configmaps", "secrets");
  for (const name of NAMES) {
    const { status } = await fetchOnce(ports[name], writeRequest(`POST ${path}?dryRun=All`, secret, HEADERS));
    assert.equal(status, name === "unmatched" ? 500 : 201, name);
  }
  const large = JSON.stringify({ ...map, data: { text: "x".repeat(5000) } });
  for (const name of NAMES) {
    const { status } = await fetchOnce(ports[name], writeRequest(`POST ${MAPS}?dryRun=All`, large, HEADERS));
    assert.equal(status, name === "judged" ? 422 : 201, name);
  }
}

/** CPU that one create costs the server, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await servers[name].ask("cpu");
  const answers = await writeLoad({
    port: ports[name],
    connections: 16,
    milliseconds,
    next: (_connection, last) => {
      assert.equal(last?.status ?? 201, 201);
      return request;
    },
  });
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}
