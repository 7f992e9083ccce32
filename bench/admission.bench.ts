// create of a ConfigMap where webhook configurations have no matching rule, and where another workspace has some, against none
import assert from "node:assert/strict";
import { fetchOnce } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { Admission } from "./_servers/admission.ts";

const ROUNDS = 20;
const NAMES = ["none", "elsewhere", "unmatched"] as const;
type Name = (typeof NAMES)[number];

const HEADERS = { Authorization: "Bearer bench-token", "Content-Type": "application/json" };
const MAPS = "/clusters/root/api/v1/namespaces/default/configmaps";
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "m-" }, data: { text: "x".repeat(1900) } };
const request = writeRequest(`POST ${MAPS}?dryRun=All`, JSON.stringify(map), HEADERS);

await using none = await Remote.start<Admission>("admission");
await using elsewhere = await Remote.start<Admission>("admission");
await using unmatched = await Remote.start<Admission>("admission");
const servers: Readonly<Record<Name, Remote<Admission>>> = { none, elsewhere, unmatched };
const ports: Readonly<Record<Name, number>> = {
  none: await none.ask("listen"),
  elsewhere: await elsewhere.ask("listen"),
  unmatched: await unmatched.ask("listen"),
};
await configure("elsewhere", "system:admin");
await configure("unmatched", "root");
await check();
await interleave(NAMES, 1, (name) => measure(name, 2000));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const rival = "no configuration on the server";
report("admission", [
  figure({
    what: "CPU per create, ten webhooks without a matching rule",
    value: rounds.ratio(["unmatched", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.03,
  }),
  figure({
    what: "CPU per create, ten webhooks in another workspace",
    value: rounds.ratio(["elsewhere", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.03,
  }),
  figure({ what: "CPU per create without configurations", value: rounds.of("none", "cpu"), unit: "µs" }),
]);

/** Creates five mutating and five validating webhooks, for Secrets. */
async function configure(name: Name, cluster: string): Promise<void> {
  for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]) {
    const webhooks = Array.from({ length: 5 }, (_, at) => ({
      name: `w${at}.example.dev`,
      clientConfig: { url: "https://webhook.example/" },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["*"], resources: ["secrets"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }));
    const object = { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: "bench" }, webhooks };
    const path = `/clusters/${cluster}/apis/${object.apiVersion}/${kind.toLowerCase()}s`;
    const { status, body } = await fetchOnce(
      ports[name],
      writeRequest(`POST ${path}`, JSON.stringify(object), HEADERS),
    );
    assert.equal(status, 201, body.toString());
  }
}

/** The configurations work where they are: a Secret is not created, because no webhook can be called. */
async function check(): Promise<void> {
  const secret = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { generateName: "s-" } });
  const path = MAPS.replace("configmaps", "secrets");
  for (const name of NAMES) {
    const { status } = await fetchOnce(ports[name], writeRequest(`POST ${path}?dryRun=All`, secret, HEADERS));
    assert.equal(status, name === "unmatched" ? 500 : 201, name);
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
