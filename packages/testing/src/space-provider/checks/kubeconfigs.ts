import { expectCode } from "../../conformance/expect.ts";
import { fail, skip } from "../../conformance/outcome.ts";
import { mediaType } from "../../http/answer.ts";
import type { ProviderCheck } from "../check.ts";
import { ABSENT, type KubeconfigAnswer, type ProviderProbe } from "../probe.ts";

const LONGEST = 256 * 1024;

/** P5: how spaces are reached. */
export const kubeconfigChecks: readonly ProviderCheck[] = [
  {
    id: "P5.1",
    title: "a space that is ready has a kubeconfig that runs nothing, and names no files",
    protects: "whoever uses the space would run what a stranger says, or cannot use it",
    run: async (probe) => {
      for (const answer of await kubeconfigs(probe)) await expectKubeconfig(answer);
    },
  },
  {
    id: "P5.2",
    title: "no cache keeps a kubeconfig",
    protects: "credentials are where nobody looks for them",
    run: async (probe) => {
      for (const { headers, request } of await kubeconfigs(probe))
        if (!(headers["cache-control"] ?? "").includes("no-store"))
          fail(request, "Cache-Control: no-store", headers["cache-control"] ?? "nothing");
    },
  },
  {
    id: "P5.3",
    title: "from where a space is to be reached has to be said",
    protects: "a space is reached by an address that leads nowhere from there",
    run: async (probe) => {
      const { name } = await probe.ready();
      for (const query of [{}, { scope: "conformance" }])
        probe.bodies.refusal(await probe.kubeconfig(name, { query }), [400]);
    },
  },
  {
    id: "P5.4",
    title: "of a space that is not there it is a 404 about the space",
    protects: "what a proxy says is taken for what the provider says",
    run: async (probe) => {
      const answer = await probe.kubeconfig(ABSENT, { query: { scope: "external" } });
      probe.bodies.absent(answer, ABSENT);
    },
  },
];

async function kubeconfigs(probe: ProviderProbe): Promise<readonly KubeconfigAnswer[]> {
  const { name } = await probe.ready();
  const answers: KubeconfigAnswer[] = [];
  for (const scope of ["incluster", "external"]) answers.push(await probe.kubeconfig(name, { query: { scope } }));
  if (answers.some(({ status }) => status === 409)) skip(`the space ${name} is not ready any more`);
  for (const answer of answers) expectCode(answer, [200]);
  return answers;
}

/** What is told holds nothing of it. */
async function expectKubeconfig({ request, text, ...answer }: KubeconfigAnswer): Promise<void> {
  if (mediaType(answer) !== "application/yaml")
    fail(request, "application/yaml", mediaType(answer) || "no content type");
  if (Buffer.byteLength(text) > LONGEST) fail(request, `${LONGEST} bytes at most`, `${Buffer.byteLength(text)}`);
  const { SecretFault, secretKubeconfig } = await import("@virtual-workspaces/kcp");
  try {
    const { credential } = secretKubeconfig(text);
    if (credential === undefined) fail(request, "a kubeconfig with a user", "one that names nobody");
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error;
    fail(request, "a kubeconfig that stands alone", error.message);
  }
}
