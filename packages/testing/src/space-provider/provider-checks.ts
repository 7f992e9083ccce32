import { excerpt, expectJson, fail, skip } from "../assertions/expect.ts";
import { fieldsAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions } from "../http/client.ts";
import { ABSENT, type Capability, type ProviderCheck, type ProviderProbe } from "./provider-probe.ts";

const WRONG = "conformance-no-such-token";

/** What would be another path, or another name, if it were read twice, or split elsewhere: of a name that nobody has. */
const HOSTILE = [
  ...[`..%2f${ABSENT}`, `${ABSENT}%2f..%2f..%2fstatus`, `${ABSENT}%5cb`, `${ABSENT}%00`, `${ABSENT}%0a`],
  ...[`${ABSENT}%20b`, `%252e%252e%252f${ABSENT}`, `${ABSENT}%ff`, `-${ABSENT}`, `.${ABSENT}`, ABSENT.padEnd(300, "a")],
];

/** P1: the provider itself. */
export const itselfChecks: readonly ProviderCheck[] = [
  {
    id: "P1.1",
    title: "its status says that it is ready, its version, and what it is able to do",
    protects: "a manager cannot open it, or asks for what it cannot do",
    run: async (probe) => {
      const answer = await probe.call("/v1/status");
      const status = probe.bodies.ok("ProviderStatus", answer);
      if (status["ready"] !== true) fail(answer.request, "it to be ready", textAt(status, "message") || "no message");
    },
  },
  {
    id: "P1.2",
    title: "its document, where it serves one, has the paths of the protocol",
    protects: "clients that are made from it ask for something else",
    run: async (probe) => {
      const answer = await probe.call("/openapi.json");
      if (answer.status === 404) skip("it serves none");
      const document = expectJson(answer);
      if (answer.status !== 200 || !textAt(document, "openapi").startsWith("3."))
        fail(answer.request, "a document of OpenAPI 3", excerpt(answer));
      const paths = fieldsAt(document, "paths").map(([path]) => path);
      const missing = probe.paths.find((path) => path !== "/openapi.json" && !paths.includes(path));
      if (missing !== undefined) fail(answer.request, `the path ${missing}`, paths.join(", "));
    },
  },
];

/** P3: what is not there, and what is wrong. */
export const refusalChecks: readonly ProviderCheck[] = [
  {
    id: "P3.1",
    title: "a space that is not there is a 404 about it",
    protects: "one that has been deleted stays for ever",
    run: async (probe) => probe.bodies.absent(await probe.space(ABSENT), ABSENT),
  },
  {
    id: "P3.2",
    title: "a path that is none is a 404, and not about a space",
    protects: "a wrong URL has all spaces taken for deleted",
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
    title: "a method that a path does not have is a 405",
    protects: "what is asked for is taken for something else",
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
    title: "a name that is none is refused, and leads to no other path",
    protects: "who may name a space reads, or deletes, something else",
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
    title: "what the provider says that it is not able to do is a 501",
    protects: "something is taken for done that never will be",
    run: notAble,
  },
];

async function notAble(probe: ProviderProbe): Promise<void> {
  const { makes } = probe;
  const asks: Partial<Record<Capability, () => Promise<Answer>>> = {
    watch: () => probe.watchHead(),
    delete: () => probe.space(ABSENT, { method: "DELETE" }),
    hierarchy: () => probe.call("/v1/spaces", { query: { parent: "root" } }),
    // Who says so may make one all the same.
    ...(makes !== undefined && { create: () => probe.put(makes, "{}") }),
  };
  let asked = 0;
  for (const [capability, ask] of Object.entries(asks)) {
    if (await probe.can(capability as Capability)) continue;
    probe.bodies.refusal(await ask(), [501]);
    asked += 1;
  }
  if (asked === 0) skip("it is able to do all that can be asked for");
}

/** P4: who does not say who they are, or says it wrongly. */
export const strangerChecks: readonly ProviderCheck[] = [
  {
    id: "P4.1",
    title: "nobody is answered who does not say who they are",
    protects: "anybody reads kubeconfigs, and deletes spaces",
    run: (probe) => expectRejected(probe, { anonymous: true }),
  },
  {
    id: "P4.2",
    title: "nobody is answered by a token that is not known",
    protects: "anybody reads kubeconfigs, and deletes spaces",
    run: (probe) => expectRejected(probe, { token: WRONG }),
  },
];

/** Nothing that would make a space: what is deleted is not there. */
async function expectRejected(probe: ProviderProbe, as: CallOptions): Promise<void> {
  if (!probe.identified) skip("the run says to nobody who it is: give it a token, or a certificate");
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
