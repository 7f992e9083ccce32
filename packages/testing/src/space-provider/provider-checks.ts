import { excerpt, expectJson, fail, skip } from "../assertions/expect.ts";
import { fieldsAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions } from "../http/client.ts";
import { ABSENT, type Capability, type ProviderCheck, type ProviderProbe } from "./provider-probe.ts";

const WRONG = "conformance-no-such-token";

/** Names that become another path or name when a server decodes them twice or splits them at other characters. */
const HOSTILE = [
  ...[`..%2f${ABSENT}`, `${ABSENT}%2f..%2f..%2fstatus`, `${ABSENT}%5cb`, `${ABSENT}%00`, `${ABSENT}%0a`],
  ...[`${ABSENT}%20b`, `%252e%252e%252f${ABSENT}`, `${ABSENT}%ff`, `-${ABSENT}`, `.${ABSENT}`, ABSENT.padEnd(300, "a")],
];

/** P1: the provider itself. */
export const itselfChecks: readonly ProviderCheck[] = [
  {
    id: "P1.1",
    title: "the status has readiness, version and capabilities",
    protects: "a manager cannot open the provider, or uses capabilities that it lacks",
    run: async (probe) => {
      const answer = await probe.call("/v1/status");
      const status = probe.bodies.ok("ProviderStatus", answer);
      if (status["ready"] !== true)
        fail(answer.request, "a provider that is ready", textAt(status, "message") || "no message");
    },
  },
  {
    id: "P1.2",
    title: "its OpenAPI document, if it serves one, has the paths of the protocol",
    protects: "clients that are generated from the document send wrong requests",
    run: async (probe) => {
      const answer = await probe.call("/openapi.json");
      if (answer.status === 404) skip("it serves no document");
      const document = expectJson(answer);
      if (answer.status !== 200 || !textAt(document, "openapi").startsWith("3."))
        fail(answer.request, "an OpenAPI 3 document", excerpt(answer));
      const paths = fieldsAt(document, "paths").map(([path]) => path);
      const missing = probe.paths.find((path) => path !== "/openapi.json" && !paths.includes(path));
      if (missing !== undefined) fail(answer.request, `the path ${missing}`, paths.join(", "));
    },
  },
];

/** P3: missing spaces and invalid requests. */
export const refusalChecks: readonly ProviderCheck[] = [
  {
    id: "P3.1",
    title: "a missing space gets a 404 that names it",
    protects: "a manager keeps a deleted space forever",
    run: async (probe) => probe.bodies.absent(await probe.space(ABSENT), ABSENT),
  },
  {
    id: "P3.2",
    title: "an unknown path gets a 404 that names no space",
    protects: "with a wrong URL, a manager treats all spaces as deleted",
    run: async (probe) => {
      for (const path of ["/v1/nothing", `/v2/spaces/${ABSENT}`]) {
        const answer = await probe.call(path);
        const status = probe.bodies.refusal(answer, [404]);
        if (textAt(status, "details", "kind") === "spaces")
          fail(answer.request, "no details of a space", excerpt(answer));
      }
    },
  },
  {
    id: "P3.3",
    title: "an unsupported method of a path gets 405",
    protects: "the provider executes a different operation than requested",
    run: async (probe) => {
      for (const [path, method] of [
        ["/v1/spaces", "PATCH"],
        [`/v1/spaces/${ABSENT}`, "PATCH"],
        ["/v1/status", "PATCH"],
      ] as const)
        probe.bodies.refusal(await probe.call(path, { method }), [405]);
    },
  },
  {
    id: "P3.4",
    title: "an invalid name is rejected, and leads to no other path",
    protects: "users who may choose the name of a space read or delete something else",
    run: async (probe) => {
      for (const name of HOSTILE) {
        probe.bodies.refusal(await probe.space(name), [400, 404]);
        probe.bodies.refusal(await probe.kubeconfig(name, { query: { scope: "external" } }), [400, 404]);
        probe.bodies.refusal(await probe.space(name, { method: "DELETE" }), [400, 404, 501]);
      }
    },
  },
  {
    id: "P3.5",
    title: "an operation that the provider does not support gets 501",
    protects: "a manager waits for an operation that never takes place",
    run: notAble,
  },
];

async function notAble(probe: ProviderProbe): Promise<void> {
  const { makes } = probe;
  const asks: Partial<Record<Capability, () => Promise<Answer>>> = {
    watch: () => probe.watchHead(),
    delete: () => probe.space(ABSENT, { method: "DELETE" }),
    hierarchy: () => probe.call("/v1/spaces", { query: { parent: "root" } }),
    // A provider without this capability might still create one.
    ...(makes !== undefined && { create: () => probe.put(makes, "{}") }),
  };
  let asked = 0;
  for (const [capability, ask] of Object.entries(asks)) {
    if (await probe.can(capability as Capability)) continue;
    probe.bodies.refusal(await ask(), [501]);
    asked += 1;
  }
  if (asked === 0) skip("it supports every operation");
}

/** P4: clients without valid credentials. */
export const strangerChecks: readonly ProviderCheck[] = [
  {
    id: "P4.1",
    title: "requests without credentials are rejected",
    protects: "unauthenticated clients read kubeconfigs, and delete spaces",
    run: (probe) => expectRejected(probe, { anonymous: true }),
  },
  {
    id: "P4.2",
    title: "requests with an unknown token are rejected",
    protects: "unauthenticated clients read kubeconfigs, and delete spaces",
    run: (probe) => expectRejected(probe, { token: WRONG }),
  },
];

/** Sends only requests that cannot create a space, and deletes only a missing one. */
async function expectRejected(probe: ProviderProbe, as: CallOptions): Promise<void> {
  if (!probe.identified) skip("the run has no credentials: give it a token or a certificate");
  const name = (await probe.spaces())[0]?.name ?? ABSENT;
  const answers = [
    await probe.call("/v1/status", as),
    await probe.call("/v1/spaces", as),
    await probe.watchHead(as),
    await probe.space(name, as),
    await probe.kubeconfig(name, { ...as, query: { scope: "external" } }),
    await probe.space(ABSENT, { ...as, method: "DELETE" }),
  ];
  for (const answer of answers) probe.bodies.refusal(answer, [401]);
}
