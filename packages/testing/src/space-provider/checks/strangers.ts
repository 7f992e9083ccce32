import { skip } from "../../conformance/outcome.ts";
import type { CallOptions } from "../../http/client.ts";
import type { ProviderCheck } from "../check.ts";
import { ABSENT, type ProviderProbe } from "../probe.ts";

const WRONG = "conformance-no-such-token";

/** P4: who does not say who they are, or says it wrongly. */
export const strangerChecks: readonly ProviderCheck[] = [
  {
    id: "P4.1",
    title: "nobody is answered who does not say who they are",
    protects: "anybody reads kubeconfigs, and deletes spaces",
    run: (probe) => refused(probe, { anonymous: true }),
  },
  {
    id: "P4.2",
    title: "nobody is answered by a token that is not known",
    protects: "anybody reads kubeconfigs, and deletes spaces",
    run: (probe) => refused(probe, { token: WRONG }),
  },
];

/** Nothing that would make a space: what is deleted is not there. */
async function refused(probe: ProviderProbe, as: CallOptions): Promise<void> {
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
