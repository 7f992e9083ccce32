import { excerpt } from "../../conformance/expect.ts";
import { textAt } from "../../conformance/json.ts";
import { fail, skip } from "../../conformance/outcome.ts";
import type { Answer } from "../../http/answer.ts";
import type { ProviderCheck } from "../check.ts";
import { ABSENT, type Capability, type ProviderProbe } from "../probe.ts";

/** What would be another path, or another name, if it were read twice, or split elsewhere: of a name that nobody has. */
const HOSTILE = [
  ...[`..%2f${ABSENT}`, `${ABSENT}%2f..%2f..%2fstatus`, `${ABSENT}%5cb`, `${ABSENT}%00`, `${ABSENT}%0a`],
  ...[`${ABSENT}%20b`, `%252e%252e%252f${ABSENT}`, `${ABSENT}%ff`, `-${ABSENT}`, `.${ABSENT}`, ABSENT.padEnd(300, "a")],
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
